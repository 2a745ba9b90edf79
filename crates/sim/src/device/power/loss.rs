//! The drive around a loss of power.

use crate::device::Device;
use crate::events::NEVER;
use crate::ftl::{Ftl, StreamId, SuperblockState};
use crate::mechanism::mapping::MapLog;
use crate::model::Config;
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// A drive at the end of its recovery, with the findings of the recovery.
    pub(crate) fn recovered(config: Config, ftl: Ftl, probe: P, log: MapLog, now_ns: u64) -> Self {
        let mut device = Self::assemble(config, ftl, probe);
        device.mechanisms.mapping = Some(log);
        for superblock in 0..device.geometry().superblocks {
            let is_erased = device.ftl.states[superblock as usize] == SuperblockState::Free;
            device.nand.set_slc(superblock, !is_erased && device.ftl.is_cache(superblock));
        }
        device.now_ns = now_ns;
        device.start_clock();
        device
    }

    /// Erases empty superblocks, once the journal no longer points there, and unused superblocks of
    /// the journal.
    pub(crate) fn erase_leftovers(&mut self, journal: &[u32]) {
        let dies = self.geometry().superblock_dies();
        for &index in journal {
            let Some(log) = &mut self.mechanisms.mapping else { return };
            let superblock = log.erase_journal(index, dies);
            self.erase_on_its_dies(superblock);
        }
        let is_empty =
            |superblock: &u32| self.ftl.states[*superblock as usize] == SuperblockState::Victim;
        let empty: Vec<u32> = (0..self.geometry().superblocks).filter(is_empty).collect();
        let end = if empty.is_empty() { 0 } else { self.want_journal() };
        let pages = u64::from(self.geometry().superblock_data_pages());
        for superblock in empty {
            self.probe.victim(superblock);
            self.in_group_of(superblock, |device| {
                device.collector.adopt_empty(superblock, end);
                if !device.geometry().is_cache_only(superblock) {
                    device.collector.reclaim(pages);
                }
            });
        }
        self.in_each_group(Self::erase_durable_victims);
        // The journal may have been full when power went.
        self.advance_map_log();
    }

    /// Configuration, clock and probe, without the rest.
    pub(crate) fn into_parts(self) -> (Config, u64, P) {
        (self.config, self.now_ns, self.probe)
    }

    /// The operations in progress, each with its die.
    pub(crate) fn nand_under_way(&self) -> impl Iterator<Item = (u32, DieOp)> + '_ {
        self.nand.under_way()
    }

    /// Runs on capacitors: programs the content of the buffer, then the changes that only the
    /// journal contains.
    pub(crate) fn hold_up(&mut self) {
        self.nand.keep_promises_only();
        self.complete_open_units(&StreamId::ALL);
        self.drain();
        while let Some(unit) =
            self.mechanisms.mapping.as_mut().and_then(|log| log.journal.take_last_unit())
        {
            self.write_journal_unit(unit);
        }
        self.drain();
    }

    /// Lets the dies finish; no new operation begins.
    fn drain(&mut self) {
        while let Some((die, op)) = self.next_end() {
            match op {
                DieOp::Program { unit, .. } => {
                    self.in_nand(unit);
                    let unit_pages = u64::from(self.geometry().unit_pages);
                    if let Some(log) = &mut self.mechanisms.mapping {
                        log.journal.append(unit_pages);
                    }
                }
                DieOp::Parity { unit } => self.in_nand(unit),
                DieOp::Map { unit, .. } => {
                    self.probe.map_programmed(unit);
                }
                DieOp::Erase { superblock } => self.probe.die_erased(superblock, die),
                DieOp::GcRead { .. }
                | DieOp::MapLoad { .. }
                | DieOp::HostRead { .. }
                | DieOp::MapRead { .. }
                | DieOp::ReadAhead { .. }
                | DieOp::Patrol { .. }
                | DieOp::SortRead { .. } => {}
            }
        }
    }

    /// The next ending operation of any die, with the die, or `None` if all are idle.
    pub(super) fn next_end(&mut self) -> Option<(u32, DieOp)> {
        loop {
            let next_ns = self.nand.next_event_ns();
            if next_ns == NEVER {
                return None;
            }
            self.now_ns = next_ns;
            let ended = self.nand.on_event(next_ns);
            if ended.is_some() {
                return ended;
            }
        }
    }
}
