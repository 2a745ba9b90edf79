//! Units on their way into NAND: their completion, and the operations that continue after their
//! programs.

use super::Device;
use crate::ftl::StreamId;
use crate::geometry::Geometry;
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Pads the open units of these streams, so that they are programmed.
    pub(super) fn complete_open_units(&mut self, streams: &[StreamId]) {
        for &stream in streams {
            while !self.ftl.is_unit_complete(stream) {
                self.pad(stream);
            }
        }
    }

    /// Gives up one page of a stream.
    pub(super) fn pad(&mut self, stream: StreamId) {
        let physical = self.ftl.pad(stream);
        self.probe.padded(stream, physical);
        self.totals.padding_pages += 1;
        self.placed_in(stream, physical);
    }

    /// A page has its place in a stream; programs its unit when that is full.
    #[inline]
    pub(super) fn placed_in(&mut self, stream: StreamId, physical: u64) {
        if !stream.is_moved() {
            self.buffered(stream, physical, 1);
        } else if self.ftl.is_unit_complete(stream) {
            self.collector.end_top_up();
            self.program(self.ftl.unit_of(physical), stream);
        }
    }

    /// Programs a full unit, and the parity of its stripe if it was the last unit of that.
    #[inline]
    pub(super) fn program(&mut self, unit: u32, stream: StreamId) {
        let sequence = self.programs.issue(stream);
        let die = self.die_of_unit(unit);
        self.nand.enqueue(die, DieOp::Program { unit, stream, sequence }, self.now_ns);
        if let Some(parity) = self.geometry().parity_after(unit) {
            self.totals.parity_pages += u64::from(self.geometry().unit_pages);
            let die = self.die_of_unit(parity);
            self.nand.enqueue(die, DieOp::Parity { unit: parity }, self.now_ns);
        }
    }

    /// Counts every complete unit of the streams as programmed.
    pub(super) fn mark_written_units(&mut self) {
        let Geometry { superblocks, superblock_units, unit_pages, .. } = *self.geometry();
        for superblock in 0..superblocks {
            let pages = self.ftl.written_pages(superblock);
            let first = superblock * superblock_units;
            for unit in first..first + pages / unit_pages {
                self.programmed.insert(unit);
            }
        }
    }

    /// Records that a unit holds data.
    #[inline]
    pub(super) fn in_nand(&mut self, unit: u32) {
        self.programmed.insert(unit);
        if let Some(housekeeping) = &mut self.mechanisms.housekeeping
            && let Some(refresh) = &mut housekeeping.refresh
        {
            refresh.written(unit / self.config.geometry.superblock_units, self.now_ns);
        }
        self.spend_program();
        self.probe.programmed(unit);
        self.totals.programmed_pages += u64::from(self.geometry().unit_pages);
    }

    /// A program of data has ended; true if all earlier ones of its stream have.
    #[inline(always)]
    fn programmed(&mut self, unit: u32, stream: StreamId, sequence: u64) -> bool {
        self.in_nand(unit);
        let rose = self.programs.end(stream, sequence);
        if self.mechanisms.mapping.is_some() {
            self.journal_unit(rose);
        }
        rose
    }

    /// A unit of the write buffer is in NAND.
    pub(super) fn buffer_programmed(&mut self, unit: u32, stream: StreamId, sequence: u64) {
        let rose = self.programmed(unit, stream, sequence);
        self.buffer.remove(self.geometry().unit_pages);
        if rose {
            self.finish_flushes();
        }
        self.pump();
    }

    /// A unit of moved pages is in NAND. It makes no room by itself; the erase that may follow
    /// does.
    pub(super) fn moved_programmed(&mut self, unit: u32, stream: StreamId, sequence: u64) {
        if self.programmed(unit, stream, sequence) {
            if self.reclaim_groups.is_some() {
                return self.erase_durable_victims_of(self.ftl.group_of_moved(stream));
            }
            self.erase_durable_victims();
        }
    }

    /// Ends a flush or a forced write: completes the host stream's open unit with padding and waits for all
    /// its programs; a drive with capacitors has nothing to do.
    pub(super) fn flush(&mut self, tag: u32) {
        if self.config.power_loss_protected {
            return self.complete(tag);
        }
        self.complete_open_units(&StreamId::BUFFERED);
        let journal = self.want_deallocations();
        self.flushes.push(tag, self.programs.mark(&StreamId::BUFFERED), journal);
        self.finish_flushes();
    }

    /// Ends the flushes whose programs and journal entries are in NAND.
    pub(super) fn finish_flushes(&mut self) {
        let journal_durable = self.journal_durable();
        while let Some(tag) = self.flushes.pop_ended(&self.programs, journal_durable) {
            self.complete(tag);
        }
    }
}
