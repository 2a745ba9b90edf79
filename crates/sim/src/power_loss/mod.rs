//! Sudden loss of power, and what the drive makes of it when power returns.
//!
//! Phenomenon: what is in NAND stays, a program or an erase under way leaves its unit or blocks unreadable,
//! and DRAM is lost. Capacitors keep a drive alive until its buffer and the deallocations in its journal are
//! programmed. At power on the map is rebuilt from NAND alone (see [`recovery`]), which takes as long as the
//! reads that it needs. Sources: LBA and sequence number in every page's spare area and the search of what
//! the journal does not cover, as in pblk and SPDK FTL. Simplifications: a torn unit is recognised without
//! fail; the lower page that shares cells with a torn upper page survives; the processor's part of
//! a recovery costs nothing; wear counts survive. Tests: `tests/power_loss.rs`. What is promised: `docs/power-loss.md`.
//!
//! Only a drive built as [`Device<Contents>`] can lose its power; others pay nothing for it. The host that does it
//! to a drive again and again, and the oracle that holds the drive to its promises, are the crate `sim-trial`.

mod contents;
mod nand;
mod recovery;

pub use contents::Contents;
pub use nand::{Anchor, JournalRecord, MapUnit, NandContents, Spare, UnitState};
pub use recovery::Recovery;

use crate::device::Device;
use crate::ftl::Ftl;
use crate::mapping::MapLog;
use crate::model::Config;
use crate::nand::DieOp;

/// A drive without power.
#[derive(Debug)]
pub struct PoweredOff {
    config: Config,
    nand: NandContents,
    off_ns: u64,
    held_up_ns: u64,
    torn_programs: u64,
    torn_erases: u64,
}

impl Device<Contents> {
    /// A fresh drive that can lose its power; none where its model has no `[mapping]`.
    #[must_use]
    pub fn with_contents(config: Config) -> Option<Self> {
        let contents = Contents::new(config.geometry, config.options.mapping?);
        Some(Self::with_probe(config, contents))
    }

    /// Takes the power away at this moment. Commands outstanding are never answered.
    #[must_use]
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
    /// Leaves the remains of an operation when power goes.
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
            | DieOp::Patrol { .. } => {}
        }
    }

    /// Programs that were under way.
    #[must_use]
    pub fn torn_programs(&self) -> u64 {
        self.torn_programs
    }

    /// Erases of one die's blocks that were under way.
    #[must_use]
    pub fn torn_erases(&self) -> u64 {
        self.torn_erases
    }

    /// How long capacitors kept the drive alive.
    #[must_use]
    pub fn held_up_ns(&self) -> u64 {
        self.held_up_ns
    }

    /// The resolved model.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The content of NAND.
    #[must_use]
    pub fn nand(&self) -> &NandContents {
        &self.nand
    }

    /// The content of NAND, to damage it.
    pub fn nand_mut(&mut self) -> &mut NandContents {
        &mut self.nand
    }

    /// Gives the drive its power back: it rebuilds its map and is ready when that is done. Its clock goes on
    /// from the loss; the time without power does not count. Telemetry begins anew.
    #[must_use]
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
