//! The drive at work on its pSLC cache: opening it, folding it; see [`PslcCache`].
//!
//! [`PslcCache`]: crate::firmware::pslc::PslcCache

use super::Device;
use crate::ftl::StreamId;
use crate::probe::Probe;

impl<P: Probe, const OPTIONS: bool> Device<P, OPTIONS> {
    /// Opens the next superblock of the cache; false where there is none.
    pub(super) fn open_cache(&mut self) -> bool {
        let Some(cache) = &self.cache else { return false };
        let may_borrow = cache.may_borrow(&self.ftl);
        let opened = self.ftl.open_cache(may_borrow);
        if opened {
            self.nand.set_slc(self.ftl.stream(StreamId::Pslc).superblock, true);
        }
        opened
    }

    /// Whether a part of the cache should be folded now, and may be.
    #[inline]
    pub(super) fn wants_fold(&mut self) -> bool {
        let Some(cache) = &self.cache else { return false };
        cache.wants_fold(&self.ftl, &self.collector)
            && self.pacing.host_may_open(self.ftl.free.len() as u32)
    }

    /// The cached superblock to take as the next victim, or `None` if none should be one.
    pub(super) fn fold_victim(&mut self) -> Option<u32> {
        if self.cache.is_none() || self.ftl.cached_superblocks == 0 {
            return None;
        }
        if self.wants_fold()
            && let Some(oldest) = self.ftl.oldest_cached(false)
            && self.has_room_to_fold(oldest)
        {
            return Some(oldest);
        }
        self.ftl.oldest_cached(true)
    }

    /// Whether a superblock's pages fit beside those on their way without touching what garbage collection
    /// needs to give room: once begun, a fold goes on to its end.
    fn has_room_to_fold(&self, superblock: u32) -> bool {
        let geometry = self.geometry();
        let slack_pages = geometry.cache_units * geometry.relocation_slack_pages();
        let beyond_low = (self.ftl.free.len() as u64).saturating_sub(self.config.free_low.into());
        let room_pages =
            self.moved_room_pages() + beyond_low * u64::from(geometry.superblock_data_pages());
        let pages = self.ftl.valid_pages[superblock as usize] + slack_pages;
        room_pages >= u64::from(self.collector.in_flight_pages() + pages)
    }

    /// Pages of a victim of the cache have moved: they were folded, and the native space they take has its price.
    pub(super) fn folded(&mut self, pages: u64) {
        self.totals.gc_moved_pages -= pages;
        self.totals.folded_pages += pages;
        let level = self.level();
        self.collector.owe(self.pacing.owed_pages(level, pages as u32));
    }

    /// Pads the open unit that folded superblocks wait for where nothing else is on its way to fill it.
    #[cold]
    #[inline(never)]
    pub(super) fn end_fold(&mut self) {
        let Some(cache) = &self.cache else { return };
        let stream = cache.stream_to_pad(&self.ftl, &self.collector, &self.programs);
        if let Some(stream) = stream {
            self.complete_open_units(&[stream]);
        }
    }
}
