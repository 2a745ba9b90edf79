//! The drive with its pSLC cache: opening and folding; see [`PslcCache`].
//!
//! [`PslcCache`]: crate::mechanism::pslc::PslcCache

use super::Device;
use super::timers::Timer;
use crate::ftl::StreamId;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Opens the next superblock of the cache; false if there is none.
    pub(super) fn open_cache(&mut self) -> bool {
        let Some(cache) = &self.mechanisms.pslc else { return false };
        let may_borrow = cache.may_borrow(&self.ftl);
        let opened = self.ftl.open_cache(may_borrow);
        if opened {
            self.nand.set_slc(self.ftl.stream(StreamId::Pslc).superblock, true);
        }
        opened
    }

    /// Limits the superblocks that the cache borrows from now on; false if the drive has no cache that borrows. Borrowed
    /// ones beyond the limit stay until they are folded.
    pub fn limit_cache(&mut self, borrowed_superblocks_max: u32) -> bool {
        self.mechanisms
            .pslc
            .as_mut()
            .is_some_and(|cache| cache.limit_borrowed(borrowed_superblocks_max))
    }

    /// Whether the drive should and may fold a part of the cache now.
    #[inline]
    pub(super) fn wants_fold(&mut self) -> bool {
        let Some(cache) = &self.mechanisms.pslc else { return false };
        cache.wants_fold(&self.ftl, &self.collector)
            && self.pacing.host_may_open(self.ftl.free.len() as u32)
    }

    /// The cached superblock for the next victim, or `None` if there should be none.
    pub(super) fn fold_victim(&mut self) -> Option<u32> {
        let cache = self.mechanisms.pslc.as_ref().filter(|_| self.ftl.cached_superblocks > 0)?;
        // A fold owes collection for the space that it takes, and pays for none: the host would wait for it all.
        let may_begin = !self.collector.owes_much() || cache.must_fold(&self.ftl);
        if may_begin
            && self.wants_fold()
            && let Some(oldest) = self.ftl.oldest_cached(false)
            && self.has_room_to_fold(oldest)
        {
            return Some(oldest);
        }
        self.ftl.oldest_cached(true)
    }

    /// Whether the pages of a superblock fit beside those in flight, without the room that garbage
    /// collection needs: once begun, a fold continues to its end.
    fn has_room_to_fold(&self, superblock: u32) -> bool {
        let geometry = self.geometry();
        let slack_pages = geometry.cache_units * geometry.relocation_slack_pages();
        let beyond_low = (self.ftl.free.len() as u64).saturating_sub(self.config.free_low.into());
        let room_pages =
            self.moved_room_pages() + beyond_low * u64::from(geometry.superblock_data_pages());
        let pages = self.ftl.valid_pages[superblock as usize] + slack_pages;
        room_pages >= u64::from(self.collector.in_flight_pages() + pages)
    }

    /// Records that pages of a cached victim were folded; they pay for the native space that they
    /// take.
    pub(super) fn folded(&mut self, pages: u64) {
        self.totals.gc_moved_pages -= pages;
        self.totals.folded_pages += pages;
        let level = self.level();
        self.collector.owe(self.pacing.owed_pages(level, pages as u32));
    }

    /// Pads the open unit that folded superblocks wait for, if no pages in flight will fill it.
    #[cold]
    #[inline(never)]
    pub(super) fn end_fold(&mut self) {
        let Some(cache) = &self.mechanisms.pslc else { return };
        let stream = cache.stream_to_pad(&self.ftl, &self.collector, &self.programs);
        if let Some(stream) = stream {
            self.complete_open_units(&[stream]);
        }
    }

    /// The host is back, or the drive new: folding waits for the next idle time.
    pub(super) fn wait_for_fold(&mut self) {
        if let Some(cache) = &mut self.mechanisms.pslc {
            cache.set_folding(false);
            self.timers.set(Timer::Fold, self.now_ns.saturating_add(cache.idle_after_ns()));
        }
    }

    /// Handles the timer of folding: the host may have been away for long enough.
    pub(super) fn on_fold_timer(&mut self) {
        let Some(cache) = self.mechanisms.pslc else { return };
        let away_ns = self.commands.away_ns(cache.idle_after_ns());
        let Some(away_ns) = away_ns else { return self.wait_for_fold() };
        if !self.is_host_away(Timer::Fold, away_ns) {
            return;
        }
        if let Some(cache) = &mut self.mechanisms.pslc {
            cache.set_folding(true);
        }
        self.complete_open_units(&[StreamId::Pslc]);
        if let Some(superblock) = self.ftl.close_cache() {
            self.probe.cache_closed(superblock);
        }
        self.collect();
    }

    /// The number of erased superblocks may have changed: a drive that runs short of them folds its cache.
    #[inline]
    pub(super) fn note_free(&mut self) {
        let free = self.ftl.free.len() as u32;
        let Some(states) = &mut self.mechanisms.cleaning_states else { return };
        states.note(free);
        if let Some(cache) = &mut self.mechanisms.pslc {
            cache.set_hurried(states.hurries_folds());
        }
    }
}
