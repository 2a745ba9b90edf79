//! The drive with its map: the writes of journal and checkpoints, and the operations that wait for
//! them.
//!
//! Drives without `[mapping]` return at once, at most once per unit.

use super::Device;
use crate::ftl::StreamId;
use crate::ftl::durability::Mark;
use crate::mechanism::mapping::{JournalUnit, MapLog, MapWrite};
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Journal and checkpoints, if the drive has them.
    pub fn map_log(&self) -> Option<&MapLog> {
        self.mechanisms.mapping.as_ref()
    }

    /// A unit of data is in NAND: its entries join the journal, and operations that waited for it
    /// continue; `rose` tells whether all earlier programs of its stream have ended too.
    pub(super) fn journal_unit(&mut self, rose: bool) {
        let unit_pages = u64::from(self.geometry().unit_pages);
        if let Some(log) = &mut self.mechanisms.mapping {
            log.journal.append(unit_pages);
        }
        self.note_map_change();
        if rose {
            self.in_each_group(Self::erase_durable_victims);
        }
        self.advance_map_log();
    }

    /// A deallocation joins the journal, its only record.
    pub(super) fn journal_deallocation(&mut self) {
        if let Some(log) = &mut self.mechanisms.mapping {
            log.journal.append_deallocation();
            self.probe.deallocated();
        }
        self.note_map_change();
        self.advance_map_log();
    }

    /// Requests the write of all journal entries; returns the position behind them.
    pub(super) fn want_journal(&mut self) -> u64 {
        let Some(log) = &mut self.mechanisms.mapping else { return 0 };
        let end = log.journal.end();
        log.journal.want(end);
        self.advance_map_log();
        end
    }

    /// Requests the write of the deallocations in the journal; returns the position behind the last
    /// one.
    pub(super) fn want_deallocations(&mut self) -> u64 {
        let Some(log) = &mut self.mechanisms.mapping else { return 0 };
        let end = log.journal.deallocated();
        log.journal.want(end);
        self.advance_map_log();
        end
    }

    /// Entries of the journal before this position are in NAND.
    #[inline]
    pub(super) fn journal_durable(&self) -> u64 {
        self.mechanisms.mapping.as_ref().map_or(0, |log| log.journal.durable())
    }

    /// Writes the due units of journal and checkpoint.
    pub(super) fn advance_map_log(&mut self) {
        if self.mechanisms.mapping.is_none() {
            return;
        }
        while let Some(unit) =
            self.mechanisms.mapping.as_mut().and_then(|log| log.journal.take_unit())
        {
            self.write_journal_unit(unit);
        }
        self.advance_checkpoint();
    }

    pub(super) fn write_journal_unit(&mut self, journal: JournalUnit) {
        let Some(log) = &mut self.mechanisms.mapping else { return };
        log.checkpoints.journal_grew();
        let superblock = log.superblock(journal.superblock);
        let unit = superblock * self.geometry().superblock_units + journal.unit;
        self.probe.journal(unit, journal.covered);
        self.program_map(unit, MapWrite::Journal { sequence: journal.sequence });
    }

    fn advance_checkpoint(&mut self) {
        let Some(log) = &mut self.mechanisms.mapping else { return };
        if let Some(area) = log.begin_checkpoint() {
            for superblock in area {
                self.erase_on_its_dies(superblock);
            }
        }
        while let Some((unit, segment)) =
            self.mechanisms.mapping.as_mut().and_then(MapLog::take_segment)
        {
            self.write_segment(unit, segment);
        }
        self.commit_checkpoint();
    }

    fn write_segment(&mut self, unit: u32, segment: u32) {
        let Some(log) = &self.mechanisms.mapping else { return };
        let pages = log.shape.pages_of(segment, self.geometry());
        self.probe.segment(unit, pages, &self.ftl.l2p);
        self.program_map(unit, MapWrite::Segment);
    }

    /// Ends a checkpoint with all segments written, once the data that they point to is in NAND.
    fn commit_checkpoint(&mut self) {
        let Some(log) = &self.mechanisms.mapping else { return };
        if log.checkpoints.is_copied() {
            let programs = self.settle();
            if let Some(log) = &mut self.mechanisms.mapping {
                let covered = log.journal.covered();
                log.checkpoints.rest_on(programs, covered);
            }
        }
        let Some(log) = &mut self.mechanisms.mapping else { return };
        let durable = log.journal.durable();
        let is_there = |programs, covered| self.programs.reached(programs) && covered <= durable;
        if let Some(unit) = log.take_commit(is_there) {
            self.probe.commit(unit);
            self.program_map(unit, MapWrite::Commit);
        }
    }

    /// Makes sure that all pages placed so far will reach NAND, and returns their mark.
    fn settle(&mut self) -> Mark {
        let mut mark = self.settle_host();
        self.in_each_group(|device| {
            device.collector.await_open_units();
            device.complete_awaited_units();
        });
        for stream in StreamId::MOVED {
            let is_open = !self.ftl.is_unit_complete(stream);
            mark.reach(stream, self.programs.behind_last(stream, is_open));
        }
        mark
    }

    fn settle_host(&mut self) -> Mark {
        self.complete_open_units(&StreamId::BUFFERED);
        self.programs.mark(&StreamId::BUFFERED)
    }

    /// Completes the open units of moved pages that an erase waits for. Pages in flight to them
    /// need their room, so padding takes it only if there are none.
    pub(super) fn complete_awaited_units(&mut self) {
        if self.collector.in_flight_pages() == 0 {
            self.complete_open_units(self.moved_streams());
            self.collector.open_units_completed();
        }
    }

    /// On a drive with a journal: records its position for waiting victims. Two conditions precede
    /// the erase of a victim: without capacitors, the programs that overwrote its pages have ended;
    /// and no map on NAND points into it. The erase does not wait for the host or other victims to
    /// fill the units with its pages.
    pub(super) fn journal_of_victims(&mut self) -> Option<u64> {
        self.mechanisms.mapping.as_ref()?;
        if self.collector.is_any_unsettled() {
            let is_protected = self.config.power_loss_protected;
            let overwritten_at = if is_protected { Mark::default() } else { self.settle_host() };
            self.collector.settle(overwritten_at);
            self.collector.await_open_units();
            self.complete_awaited_units();
        }
        if self.collector.is_any_unjournalled(&self.programs) {
            let journal = self.want_journal();
            self.collector.journal(&self.programs, journal);
        }
        Some(self.journal_durable())
    }

    fn program_map(&mut self, unit: u32, write: MapWrite) {
        self.totals.metadata_pages += u64::from(self.geometry().unit_pages);
        let die = self.die_of_unit(unit);
        self.nand.enqueue(die, DieOp::Map { unit, write }, self.now_ns);
    }

    pub(super) fn erase_on_its_dies(&mut self, superblock: u32) {
        for die in self.geometry().dies_of(superblock) {
            self.nand.enqueue(die, DieOp::Erase { superblock }, self.now_ns);
        }
    }

    /// A unit of journal or checkpoint is in NAND.
    pub(super) fn map_programmed(&mut self, unit: u32, write: MapWrite) {
        self.totals.programmed_pages += u64::from(self.geometry().unit_pages);
        self.spend_program();
        self.probe.map_programmed(unit);
        let Some(log) = &mut self.mechanisms.mapping else { return };
        match write {
            MapWrite::Segment => log.checkpoints.segment_ended(),
            MapWrite::Commit => self.checkpoint_committed(),
            MapWrite::Journal { sequence } => {
                if log.journal.ended(sequence) {
                    self.finish_flushes();
                    self.in_each_group(Self::erase_durable_victims);
                }
            }
        }
        self.advance_map_log();
        self.pump();
    }

    fn checkpoint_committed(&mut self) {
        let dies = self.geometry().superblock_dies();
        let Some(log) = &mut self.mechanisms.mapping else { return };
        for superblock in log.supersede(dies) {
            self.erase_on_its_dies(superblock);
        }
    }

    /// A die has erased its blocks of a superblock of the map.
    pub(super) fn map_erased(&mut self, superblock: u32) {
        let Some(log) = &mut self.mechanisms.mapping else { return };
        if log.die_erased(superblock) {
            self.advance_map_log();
            self.resume_deallocations();
        }
    }
}
