//! pSLC cache: host data first goes to blocks with one bit per cell, and is folded into the others later.
//!
//! Phenomenon: writes are fast until the cache is full, then fall to the rate of the native cells; given rest,
//! the drive empties the cache and is fast again. Source: Samsung's `TurboWrite` (3 to 12 GB made from three times
//! as much TLC, drained in 15 to 30 s of idle time, overflow goes straight to TLC: `AnandTech` 7152 and 7173),
//! `SanDisk`'s nCache (just under 1 GB: indiatechonline; only gathers small writes: `TechReport` 24896).
//!
//! - Superblocks of the cache: some serve for nothing else, and erased ones may be borrowed while there are
//!   plenty. Only the first share of their units is written.
//! - Folding is collection of a cached superblock, oldest first: its valid pages go where garbage collection
//!   writes, and it is erased once they are programmed. It takes native space as the host does, so it
//!   begins when pacing would let the host open a superblock, and the moves owed for that space are owed by it.
//! - A borrowed superblock gives room as any victim does, so garbage collection takes it before all others.
//!
//! Simplifications: a cache that sends writes past itself when it is full is folded at rest only, so that a load
//! without a pause keeps it full of data that the host has mostly overwritten; folded data shares superblocks
//! with collected data; a page is folded over the bus (no on-chip copy-back); after a fold the open unit is padded so that the cache can be erased.
//! Tests: `tests/pslc.rs`, `tests/swarm.rs`, `tests/reference.rs`.

use serde::Deserialize;

use super::Device;
use super::timers::Timer;
use crate::ftl::StreamId;
use crate::probe::Probe;

/// What a host write does when the cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// It goes to the native cells.
    Direct,
    /// It waits until a part of the cache has been folded.
    Fold,
}

/// How the cache works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pslc {
    /// Commands of this size and larger go to the native cells.
    pub only_below_bytes: u64,
    /// Erased superblocks are borrowed while more than so many are left; none: never.
    pub borrow_above: Option<u32>,
    /// Time without a host command after which folding begins.
    pub idle_after_ns: u64,
    /// What a write does when there is no room.
    pub when_full: WhenFull,
}

impl<P: Probe, const OPTIONS: bool> Device<P, OPTIONS> {
    /// Where a write of the host goes now; none where it has to wait for the cache.
    #[inline]
    pub(super) fn admission_stream(&self, len_bytes: u32) -> Option<StreamId> {
        let Some(pslc) = self.config.options.pslc else { return Some(StreamId::Host) };
        if u64::from(len_bytes) >= pslc.only_below_bytes {
            return Some(StreamId::Host);
        }
        if self.ftl.stream_has_room(StreamId::Pslc) || self.has_erased_cache(pslc) {
            return Some(StreamId::Pslc);
        }
        let waits = pslc.when_full == WhenFull::Fold && self.geometry().cache_superblocks > 0;
        (!waits).then_some(StreamId::Host)
    }

    fn has_erased_cache(&self, pslc: Pslc) -> bool {
        !self.ftl.cache_free.is_empty() || self.may_borrow(pslc)
    }

    fn may_borrow(&self, pslc: Pslc) -> bool {
        pslc.borrow_above.is_some_and(|min| self.ftl.free.len() as u64 > u64::from(min))
    }

    /// Opens the next superblock of the cache; false where there is none.
    pub(super) fn open_cache(&mut self) -> bool {
        let Some(pslc) = self.config.options.pslc else { return false };
        let may_borrow = self.may_borrow(pslc);
        let opened = self.ftl.open_cache(may_borrow);
        if opened {
            self.nand.set_slc(self.ftl.stream(StreamId::Pslc).superblock, true);
        }
        opened
    }

    /// True where a part of the cache should be folded now, and may be.
    #[inline]
    pub(super) fn wants_fold(&mut self) -> bool {
        self.config.options.pslc.is_some_and(|pslc| self.may_fold(pslc))
    }

    fn may_fold(&mut self, pslc: Pslc) -> bool {
        if !self.is_fold_needed(pslc) || !self.has_fold_work() {
            return false;
        }
        let free_superblocks = self.free_superblocks();
        self.pacing.host_may_open(free_superblocks)
    }

    fn is_fold_needed(&self, pslc: Pslc) -> bool {
        self.is_folding || self.is_cache_awaited(pslc)
    }

    /// True where the host waits for room in the cache, or will with its next write.
    fn is_cache_awaited(&self, pslc: Pslc) -> bool {
        pslc.when_full == WhenFull::Fold && !self.has_erased_cache(pslc)
    }

    /// A superblock waits, or one is begun: its units may wait for nobody else to want them.
    fn has_fold_work(&self) -> bool {
        let units = self.geometry().superblock_units;
        let in_hand = self.collector.victim_in_hand(units);
        self.ftl.cached_superblocks > 0 || in_hand.is_some_and(|victim| self.ftl.is_cache(victim))
    }

    /// The cached superblock to take as the next victim, if it should be one.
    pub(super) fn fold_victim(&mut self) -> Option<u32> {
        self.config.options.pslc?;
        if self.ftl.cached_superblocks == 0 {
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

    /// True where a superblock's pages fit beside those on their way without touching what garbage collection
    /// needs to give room: once begun, a fold goes on to its end.
    fn has_room_to_fold(&self, superblock: u32) -> bool {
        let geometry = self.geometry();
        let slack_pages = geometry.cache_units * geometry.relocation_slack_pages();
        let beyond_low = (self.ftl.free.len() as u64).saturating_sub(self.config.free_low.into());
        let room_pages =
            self.moved_room_pages() + beyond_low * u64::from(geometry.superblock_data_pages());
        let pages = self.ftl.valid_pages[superblock as usize] + slack_pages;
        room_pages >= u64::from(self.collector.in_flight_pages + pages)
    }

    /// Pages of a victim of the cache have moved: they were folded, and the native space they take has its price.
    pub(super) fn folded(&mut self, pages: u64) {
        self.totals.gc_moved_pages -= pages;
        self.totals.folded_pages += pages;
        let level = self.level();
        self.collector.owed_pages += self.pacing.owed_pages(level, pages as u32);
    }

    /// Pads the open unit that folded superblocks wait for where nothing else is on its way to fill it. A victim
    /// in hand would, if the host could go on without the cache.
    #[cold]
    #[inline(never)]
    pub(super) fn end_fold(&mut self) {
        let Some(pslc) = self.config.options.pslc else { return };
        let units = self.geometry().superblock_units;
        let is_over = self.ftl.cached_superblocks == 0
            && self.collector.in_flight_pages == 0
            && (self.collector.victim_in_hand(units).is_none() || self.is_cache_awaited(pslc));
        if !is_over {
            return;
        }
        let is_cache = |victim| self.ftl.is_cache(victim);
        let awaited = self.collector.stuck_stream_of(units, &self.programs, is_cache);
        if let Some(stream) = awaited {
            self.complete_open_units(&[stream]);
        }
    }

    /// The host is back, or the drive new: folding waits for the next idle time.
    pub(super) fn wait_for_fold(&mut self) {
        if let Some(pslc) = self.config.options.pslc {
            self.is_folding = false;
            self.timers.set(Timer::Fold, self.now_ns.saturating_add(pslc.idle_after_ns));
        }
    }

    /// The clock says that the host may have been away for long enough.
    pub(super) fn on_fold_timer(&mut self) {
        let Some(pslc) = self.config.options.pslc else { return };
        if self.host.outstanding > 0 {
            return self.wait_for_fold();
        }
        let begins_ns = self.host.last_end_ns.saturating_add(pslc.idle_after_ns);
        if begins_ns > self.now_ns {
            return self.timers.set(Timer::Fold, begins_ns);
        }
        self.host.is_missed = true;
        self.is_folding = true;
        self.complete_open_units(&[StreamId::Pslc]);
        if let Some(superblock) = self.ftl.close_cache() {
            self.probe.cache_closed(superblock);
        }
        self.collect();
    }
}
