//! Flush and forced unit access: what was acknowledged is in NAND before the command ends.
//!
//! Phenomenon: what lies in the write buffer is lost with the power; a flush, and a write with FUA, end when it no
//! longer does. Source: ATA FLUSH CACHE and WRITE FPDMA QUEUED with FUA, NVMe Flush and FUA. Simplification: the open
//! unit is completed with padding, and all that its streams have issued is waited for. Tests: `tests/timing.rs`,
//! `tests/power_loss.rs`.

use super::Device;
use crate::ftl::StreamId;
use crate::probe::Probe;

impl<P: Probe, const OPTIONS: bool> Device<P, OPTIONS> {
    /// Ends a flush or a forced write: completes the host stream's open unit with padding and waits for all
    /// its programs; a drive with capacitors has nothing to do.
    pub(super) fn flush(&mut self, tag: u32) {
        if self.config.power_loss_protected {
            return self.complete(tag);
        }
        self.complete_open_units(&StreamId::BUFFERED);
        let journal = self.want_deallocations();
        self.flushes.push_back((tag, self.programs.mark(&StreamId::BUFFERED), journal));
        self.finish_flushes();
    }

    /// Fills the open units of these streams with nothing, so that they are programmed.
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
    pub(super) fn placed_in(&mut self, stream: StreamId, physical: u32) {
        if StreamId::BUFFERED.contains(&stream) {
            self.buffered(stream, physical, 1);
        } else if self.ftl.is_unit_complete(stream) {
            self.collector.top_up = None;
            self.program(self.ftl.unit_of(physical), stream);
        }
    }

    /// Ends the flushes whose programs and journal are in NAND.
    pub(super) fn finish_flushes(&mut self) {
        while let Some(&(tag, mark, journal)) = self.flushes.front() {
            if !self.programs.reached(mark) || self.journal_durable() < journal {
                return;
            }
            self.flushes.pop_front();
            self.complete(tag);
        }
    }
}
