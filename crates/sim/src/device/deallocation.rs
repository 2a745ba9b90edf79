//! Deallocation (TRIM): pages that the host no longer needs are not moved any more.
//!
//! Phenomenon: the map forgets the pages of a command, and the valid counts of their superblocks
//! fall at once. Source: ATA DATA SET MANAGEMENT, NVMe Dataset Management. Simplification: it costs
//! one command, whatever its length; partly covered pages stay. Drives may ignore it or have no
//! such command, see [`DeallocateSupport`], and a drive that compresses may keep some pages. Tests:
//! `tests/formulas/theory_workloads.rs`, `tests/device/timing.rs`, `tests/formulas/shape.rs`.

use super::Device;
use crate::host::DeallocateSupport;
use crate::mechanism::mapping::MapLog;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Forgets the logical pages from `first` to before `end` at once, at no cost in time.
    pub fn deallocate(&mut self, first: u64, end: u64) {
        if self.config.interface.deallocate != DeallocateSupport::Works {
            return;
        }
        let end = end.min(self.geometry().logical_pages);
        for logical in first..end {
            self.unmap(logical);
        }
        self.journal_deallocation();
    }

    /// Whether a deallocation leaves a page as it is although the drive has the command.
    pub fn keeps(&self, logical: u64) -> bool {
        let compressor = self.mechanisms.compression.as_ref();
        compressor.is_some_and(|pages| pages.keeps(logical, self.ftl.size(logical)))
    }

    pub(super) fn unmap(&mut self, logical: u64) {
        if !self.keeps(logical) && self.ftl.unmap(logical) {
            self.forget(&(logical..logical + 1));
            self.probe.unmapped(logical);
        }
    }

    /// The controller accepts a deallocation; it waits while the journal is too full for it.
    pub(super) fn on_deallocation(&mut self, tag: u32) {
        match &mut self.mechanisms.mapping {
            Some(log) if log.is_stuck() => log.hold(tag),
            _ => self.execute_deallocation(tag),
        }
    }

    fn execute_deallocation(&mut self, tag: u32) {
        let covered = self.commands[tag].covered();
        if self.config.interface.deallocate == DeallocateSupport::Works {
            covered.for_each(|page| self.unmap(page));
            self.journal_deallocation();
        }
        self.complete(tag);
        self.pump();
    }

    /// The journal has room again.
    pub(super) fn resume_deallocations(&mut self) {
        while let Some(tag) = self.mechanisms.mapping.as_mut().and_then(MapLog::take_held) {
            self.execute_deallocation(tag);
        }
    }
}
