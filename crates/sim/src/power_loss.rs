//! Sudden loss of power, and the recovery of the drive.
//!
//! Phenomenon: the content of NAND stays, a program or an erase in progress leaves its unit or
//! blocks unreadable, and DRAM is lost. Capacitors keep a drive alive until its buffer and the
//! deallocations in its journal are programmed. At power on, the drive rebuilds its map from NAND
//! alone (see [`recovery`]), which takes the time of the necessary reads. Sources: LBA and sequence
//! number in the spare area of every page, and the search of the space that the journal does not
//! cover, as in pblk and SPDK FTL. Simplifications: a torn unit is always recognised; the lower
//! page that shares cells with a torn upper page survives; the processor's part of a recovery costs
//! nothing; wear counts survive. Tests: `tests/power_loss.rs`. Promises: `docs/reference/power-loss.md`.
//!
//! Only a drive built as [`Device<Contents>`] can lose its power; others pay nothing for it. The
//! crate `sim-trial` contains the host that cuts the power again and again, and the oracle that
//! checks the promises.

mod contents;
mod nand;
mod recovery;

pub use contents::Contents;
pub use nand::{Anchor, JournalRecord, MapUnit, NandContents, Spare, UnitState};
pub use recovery::Recovery;

use crate::device::Device;
use crate::ftl::Ftl;
use crate::mechanism::mapping::MapLog;
use crate::model::Config;
use crate::nand::DieOp;

/// A drive without power.
#[derive(Clone, Debug)]
pub struct PoweredOff {
    config: Config,
    nand: NandContents,
    off_ns: u64,
    held_up_ns: u64,
    torn_programs: u64,
    torn_erases: u64,
}

impl Device<Contents> {
    /// A fresh drive that can lose its power; `None` if its model has no `[mapping]`.
    pub fn with_contents(config: Config) -> Option<Self> {
        let contents = Contents::new(config.geometry, config.options.mapping?);
        Some(Self::with_probe(config, contents))
    }

    /// Cuts the power at this moment. Outstanding commands are never answered.
    pub fn power_cut(mut self) -> PoweredOff {
        let cut_ns = self.now().0;
        if self.config().power_loss_protected {
            self.hold_up();
        }
        let under_way: Vec<_> = self.nand_under_way().collect();
        let (config, off_ns, contents) = self.into_parts();
        let nand = contents.into_nand();
        let held_up_ns = off_ns - cut_ns;
        let mut off =
            PoweredOff { config, nand, off_ns, held_up_ns, torn_programs: 0, torn_erases: 0 };
        under_way.into_iter().for_each(|(die, op)| off.tear(die, op));
        off
    }
}

impl PoweredOff {
    /// Leaves the remains of an operation at the cut.
    fn tear(&mut self, die: u32, op: DieOp) {
        match op {
            DieOp::Program { unit, .. } | DieOp::Parity { unit } | DieOp::Map { unit, .. } => {
                self.nand.tear_unit(unit);
                self.torn_programs += 1;
            }
            DieOp::Erase { superblock } => {
                self.nand.set_block(superblock, die, UnitState::Torn);
                self.torn_erases += 1;
            }
            DieOp::GcRead { .. }
            | DieOp::MapLoad { .. }
            | DieOp::HostRead { .. }
            | DieOp::MapRead { .. }
            | DieOp::ReadAhead { .. }
            | DieOp::Patrol { .. }
            | DieOp::SortRead { .. } => {}
        }
    }

    /// Number of programs in progress.
    pub fn torn_programs(&self) -> u64 {
        self.torn_programs
    }

    /// Number of erases of one die's blocks in progress.
    pub fn torn_erases(&self) -> u64 {
        self.torn_erases
    }

    /// Time that the capacitors kept the drive alive.
    pub fn held_up_ns(&self) -> u64 {
        self.held_up_ns
    }

    /// The resolved model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The content of NAND.
    pub fn nand(&self) -> &NandContents {
        &self.nand
    }

    /// The content of NAND, mutable, to damage it.
    pub fn nand_mut(&mut self) -> &mut NandContents {
        &mut self.nand
    }

    /// Restores the power: the drive rebuilds its map and is then ready. Its clock continues from
    /// the loss; the time without power does not count. Telemetry begins again.
    pub fn power_on(self) -> (Device<Contents>, Recovery) {
        let Self { config, nand, off_ns, .. } = self;
        let found = recovery::recover(&config, &nand);
        let report = found.report;
        // An entry of the map says how many parts a page has; so does the spare area of its first part.
        let size = |physical| nand.read(physical).map_or(1, |spare| u32::from(spare.parts));
        let ftl = Ftl::rebuilt(config.geometry, found.superblocks, &found.map, size);
        let log = MapLog::recovered(
            &config.geometry,
            nand.shape,
            found.ring,
            found.next_area,
            found.dram.appended(),
        );
        let contents = Contents::recovered(nand, found.dram);
        let now_ns = off_ns + report.duration_ns;
        let mut device = Device::recovered(config, ftl, contents, log, now_ns);
        device.erase_leftovers(&found.leftover_journal);
        (device, report)
    }
}
