//! Units on their way into NAND: what is programmed, and what goes on when it has been.

use super::Device;
use crate::ftl::StreamId;
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe, const OPTIONS: bool> Device<P, OPTIONS> {
    /// Programs a full unit, and the parity of its stripe where it was the last one of that.
    #[inline]
    pub(super) fn program(&mut self, unit: u32, stream: StreamId) {
        let sequence = self.programs.issue(stream);
        let die = self.die_of_unit(unit);
        self.nand.enqueue(die, DieOp::Program { unit, stream, sequence }, self.now_ns);
        if OPTIONS && let Some(parity) = self.geometry().parity_after(unit) {
            self.totals.parity_pages += u64::from(self.geometry().unit_pages);
            let die = self.die_of_unit(parity);
            self.nand.enqueue(die, DieOp::Parity { unit: parity }, self.now_ns);
        }
    }

    /// A unit holds what was programmed into it.
    #[inline]
    pub(super) fn in_nand(&mut self, unit: u32) {
        self.programmed[unit as usize / 64] |= 1 << (unit % 64);
        self.probe.programmed(unit);
        self.totals.programmed_pages += u64::from(self.geometry().unit_pages);
    }

    /// A program of data has ended; true where all earlier ones of its stream have.
    #[inline(always)]
    fn programmed(&mut self, unit: u32, stream: StreamId, sequence: u64) -> bool {
        self.in_nand(unit);
        let rose = self.programs.end(stream, sequence);
        if OPTIONS && self.map_log.is_some() {
            self.journal_unit(rose);
        }
        rose
    }

    /// A unit of the write buffer is in NAND.
    pub(super) fn buffer_programmed(&mut self, unit: u32, stream: StreamId, sequence: u64) {
        let rose = self.programmed(unit, stream, sequence);
        self.buffer_pages -= self.geometry().unit_pages;
        if rose {
            self.finish_flushes();
        }
        self.pump();
    }

    /// A unit of moved pages is in NAND. It gives no room to anyone; the erase that may follow does.
    pub(super) fn moved_programmed(&mut self, unit: u32, stream: StreamId, sequence: u64) {
        if self.programmed(unit, stream, sequence) {
            self.erase_durable_victims();
        }
    }
}
