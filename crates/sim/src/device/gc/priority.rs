//! Work of the firmware that goes before the host's writes: the host waits where that is late.

use crate::device::Device;
use crate::ftl::collector::Collector;
use crate::ftl::pacing::Bursts;
use crate::mechanism::performance_mode::FastWrites;
use crate::mechanism::pslc::PslcCache;
use crate::probe::Probe;

/// Whether the host has to wait for the debts of a collector, which saves them up where it works in bursts.
#[inline]
pub(super) fn is_held_back_by(
    collector: &Collector,
    bursts: Option<&Bursts>,
    waiting_writes: usize,
) -> bool {
    match bursts {
        Some(bursts) => collector.owed_pages() > 0 && !bursts.admits(waiting_writes),
        None => collector.owes_much(),
    }
}

impl<P: Probe> Device<P> {
    /// Pages of such work that are late.
    #[inline]
    pub(in crate::device) fn late_pages(&self) -> u64 {
        let reorganisation_pages =
            self.mechanisms.performance_mode.as_ref().map_or(0, FastWrites::late_pages);
        reorganisation_pages + self.mechanisms.pslc.as_ref().map_or(0, PslcCache::late_pages)
    }

    /// Whether the host has to wait, for collection or because more other work is late than can be under way. Nobody
    /// waits for work that cannot go on now.
    #[inline]
    pub(in crate::device) fn is_host_held_back(&mut self) -> bool {
        if is_held_back_by(&self.collector, self.bursts.as_ref(), self.buffer.waiting()) {
            return true;
        }
        if self.collector.early_pages() > u64::from(self.collector.in_flight_pages_max())
            && self.may_collect_early()
        {
            return true;
        }
        let late_pages = self.late_pages();
        late_pages > u64::from(self.collector.in_flight_pages_max())
            && (self.wants_reorganisation() || self.wants_fold())
    }

    /// Whether owed pages are being moved.
    #[inline]
    fn is_burst(&self) -> bool {
        self.collector.owed_pages() > 0
    }

    /// The owed pages to move now: on a drive that collects in bursts they are saved up for the next one.
    #[inline]
    pub(in crate::device) fn due_pages(&mut self, owed_pages: u64) -> u64 {
        let is_burst = self.is_burst();
        self.bursts.as_mut().map_or(owed_pages, |bursts| bursts.owe(owed_pages, is_burst))
    }

    /// A unit of the host's data is full: it counts in a burst, and some of the cache is folded in return.
    #[inline]
    pub(in crate::device) fn note_host_unit(&mut self) {
        let unit_pages = self.geometry().unit_pages;
        let is_burst = self.is_burst();
        if let Some(bursts) = self.bursts.as_mut().filter(|_| is_burst) {
            bursts.written(unit_pages);
        }
        if let Some(cache) = &mut self.mechanisms.pslc {
            cache.note_written(unit_pages, &self.ftl, &self.collector);
        }
    }

    /// Pages of a unit are being read, of which such work may be part.
    #[inline]
    pub(in crate::device) fn note_moving(&mut self, superblock: u32, pages: u32) {
        if let Some(bursts) = &mut self.bursts {
            bursts.moving(pages);
        }
        let is_fast = || self.nand.fast().is_some_and(|fast| fast.contains(superblock));
        if let Some(mode) = &mut self.mechanisms.performance_mode
            && is_fast()
        {
            mode.moved(pages);
        }
        if let Some(cache) = &mut self.mechanisms.pslc
            && self.ftl.is_cache(superblock)
        {
            cache.note_folding(pages);
        }
    }

    /// Nothing can be moved, so that nothing is owed or late.
    pub(in crate::device) fn forgive(&mut self) {
        self.collector.forgive();
        if let Some(mode) = &mut self.mechanisms.performance_mode {
            mode.forgive();
        }
        if let Some(cache) = &mut self.mechanisms.pslc {
            cache.forgive();
        }
    }
}
