//! pSLC cache: host data first goes to blocks with one bit per cell, and is folded into the others
//! later.
//!
//! Phenomenon: writes are fast until the cache is full, then fall to the rate of the native cells;
//! at rest, the drive empties the cache and is fast again. Source: Samsung's `TurboWrite` (3 to 12
//! GB made from three times as much TLC, drained in 15 to 30 s of idle time, overflow goes straight
//! to TLC: `AnandTech` 7152 and 7173), `SanDisk`'s nCache (just under 1 GB: indiatechonline; only
//! gathers small writes: `TechReport` 24896). What goes past the cache may have a limit of the controller: the 840 EVO
//! of 500 GB has the dies for 520 MB/s and writes 420 (a reader of `AnandTech` 7727).
//!
//! - Superblocks of the cache: some serve for nothing else, and erased ones may be borrowed while there are
//!   plenty, up to a limit. Only the first share of their units is written.
//! - Folding is collection of a cached superblock, oldest first: its valid pages go where garbage collection
//!   writes, and it is erased once they are programmed. It takes native space as the host does, so it
//!   begins when pacing would let the host open a superblock, and the moves owed for that space are owed by it.
//!   At rest the next one begins when these have been paid, so that a host that comes back waits for those of one.
//! - A borrowed superblock gives room as any victim does, so garbage collection takes it before all others.
//! - Under a load without a pause a share of the pages that the host writes is folded in return. It goes before the
//!   host's writes, which wait where it is late, as they do for collection. Drives differ: some write past a full
//!   cache to the end of a fill, others are as slow then as folding makes them (980 PRO, Atom 50: `TechPowerUp`).
//!   Without a share a full cache keeps what it holds until a rest, although the host has overwritten most of it.
//!
//! Simplifications: the share is the same however full the cache is; folded data shares superblocks
//! with collected data; a page is folded over the bus (no on-chip copy-back); after a fold the open unit is padded so that the cache can be erased.
//! Tests: `tests/mechanisms/pslc.rs`, `tests/swarm.rs`, `tests/reference/`.

use base::Ratio;
use base::facts::Sourced;
use serde::Deserialize;

use crate::firmware::backlog::Backlog;
use crate::ftl::collector::Collector;
use crate::ftl::durability::StreamPrograms;
use crate::ftl::{Ftl, StreamId};
use crate::geometry::{Geometry, PAGE_BYTES};
use crate::mechanism::basis::{Basis, Blocks, Section};
use crate::mechanism::throttle::{Bucket, Throttle};
use crate::model::schema::{Check, HOUR_NS, ModelError, TB_PER_S, section};
use crate::nand::slc::SlcTiming;

section! {
    /// A cache of blocks with one bit per cell.
    pub struct PslcSection {
        /// Bytes of the dedicated blocks.
        pub bytes: Sourced<u64> [0, 1 << 43],
        /// Whether the cache borrows erased blocks while there are plenty.
        pub borrows: Sourced<bool>,
        /// Most data in borrowed blocks; absent: only the erased blocks limit it.
        pub borrowed_bytes_max: Option<Sourced<u64>> [1, 1 << 43],
        /// Bits of a native cell: a block holds this fraction of its pages while it serves as cache.
        pub bits_per_cell: Sourced<u32> [2, 4],
        /// tR with one bit per cell.
        pub read_ns: Sourced<u64> [1, HOUR_NS],
        /// tPROG with one bit per cell.
        pub program_ns: Sourced<u64> [1, HOUR_NS],
        /// tBERS with one bit per cell.
        pub erase_ns: Sourced<u64> [1, HOUR_NS],
        /// Time without a host command before the cache is folded.
        pub idle_after_ns: Sourced<u64> [1_000_000, HOUR_NS],
        /// The behaviour of a write when the cache is full.
        pub when_full: Sourced<WhenFull>,
        /// Size from which commands go past the cache; absent: none does.
        pub only_below_bytes: Option<Sourced<u64>> [1, u64::MAX],
        /// Pages folded in return for a hundred that the host writes; absent: a busy host keeps the cache as it is.
        pub busy_fold_percent: Option<Sourced<u32>> [0, 1_000],
        /// Most that the controller writes past the cache, in bytes/s; absent: only cells and link limit it.
        pub direct_bytes_per_s: Option<Sourced<u64>> [1_000_000, TB_PER_S],
    }
}

/// The behaviour of a host write when the cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// It goes to the native cells.
    Direct,
    /// It waits until a part of the cache has been folded.
    Fold,
}

/// Parameters of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Pslc {
    /// Commands of this size and larger go to the native cells.
    pub only_below_bytes: u64,
    /// Number of erased superblocks above which more are borrowed; `None`: never.
    pub borrow_above: Option<u32>,
    /// Most superblocks borrowed at a time, or `None` if there is no limit.
    pub borrowed_superblocks_max: Option<u32>,
    /// Time without a host command after which folding begins.
    pub idle_after_ns: u64,
    /// The behaviour of a write when there is no room.
    pub when_full: WhenFull,
    /// Pages folded in return for a hundred that the host writes.
    pub busy_fold_percent: u32,
    /// The rate of the controller for host pages that go past the cache, or `None` if it has no limit.
    pub direct_rate: Option<Throttle>,
}

impl PslcSection {
    /// Gives a geometry of `blocks` superblocks of `block_pages` rows the cache: its own
    /// superblocks at the end, and the number of units to write in one. `kept` is the share of the
    /// drive that the scale leaves.
    ///
    /// A scaled block may be too short to divide like the whole one, so that its cache needs more
    /// superblocks, or fewer, for its bytes. The number of native superblocks stays that of full
    /// size, and with it the spare space.
    pub(crate) fn shape(
        &self,
        check: &Check<'_>,
        geometry: &mut Geometry,
        blocks: Blocks,
        kept: Ratio,
    ) -> Result<(), ModelError> {
        let block_pages = blocks.scaled_pages;
        let row_units = geometry.superblock_units / block_pages;
        let superblock_bytes = |pages| {
            let row_bytes =
                u64::from(row_units * geometry.unit_pages) * geometry.physical_page_bytes();
            let stripe = u64::from(geometry.stripe_units.max(1));
            let data_units = stripe - u64::from(geometry.stripe_units > 0);
            u64::from(self.rows(pages)) * row_bytes / stripe * data_units
        };
        let at_full_size = self.bytes.value.div_ceil(superblock_bytes(blocks.pages));
        let of_cache =
            u64::from(blocks.scaled_per_plane) * at_full_size / u64::from(blocks.per_plane);
        let native = u64::from(geometry.superblocks).saturating_sub(of_cache);
        if native == 0 {
            let rule = format!(
                "it would take {at_full_size} superblocks of {} bytes with one bit per cell, and there are {}",
                superblock_bytes(blocks.pages),
                blocks.per_plane - blocks.reserved
            );
            return check.fail("pslc.bytes", self.bytes.value, &rule);
        }
        let superblocks = kept.of(self.bytes.value).div_ceil(superblock_bytes(block_pages));
        if (native + superblocks) * u64::from(geometry.superblock_units) > u64::from(u32::MAX) {
            let rule = format!(
                "its {superblocks} superblocks make all NAND together 2^32 program units, or more"
            );
            return check.fail("pslc.bytes", self.bytes.value, &rule);
        }
        geometry.cache_units = row_units * self.rows(block_pages);
        geometry.cache_superblocks = superblocks as u32;
        geometry.superblocks = native as u32 + superblocks as u32;
        Ok(())
    }

    /// Number of rows to write in a block of this length; one if the block is too short to divide.
    fn rows(&self, block_pages: u32) -> u32 {
        (block_pages / self.bits_per_cell.value).max(1)
    }

    /// Times of a superblock in this mode; a shorter block has a shorter erase, like the others.
    pub(crate) fn timing(&self, blocks: Blocks) -> SlcTiming {
        let erase_ns = u64::from(blocks.plane_groups)
            * (self.erase_ns.value * u64::from(blocks.scaled_pages))
                .div_ceil(u64::from(blocks.pages));
        SlcTiming { read_ns: self.read_ns.value, program_ns: self.program_ns.value, erase_ns }
    }

    /// Most superblocks to borrow; a part of one counts as a whole one.
    fn borrowed_superblocks_max(&self, basis: &Basis<'_>) -> Result<Option<u32>, ModelError> {
        let Basis { check, scale, geometry, .. } = basis;
        let Some(bytes) = self.borrowed_bytes_max.as_ref().map(|bytes| bytes.value) else {
            return Ok(None);
        };
        if !self.borrows.value {
            let rule = "it goes with a cache that borrows, pslc.borrows";
            return check.fail("pslc.borrowed_bytes_max", bytes, rule);
        }
        let superblock_bytes =
            u64::from(geometry.cache_data_pages()) * geometry.physical_page_bytes();
        let superblocks = scale.of(bytes).div_ceil(superblock_bytes).max(1);
        Ok(Some(superblocks.min(geometry.superblocks.into()) as u32))
    }

    /// The limit for writes past the cache, behind the write buffer: it takes a page at a time, and the buffer meanwhile
    /// what the link brings.
    fn direct_rate(&self, basis: &Basis<'_>) -> Option<Throttle> {
        let rate = self.direct_bytes_per_s.as_ref()?.value;
        let page_ns = (PAGE_BYTES * 1_000_000_000).div_ceil(rate);
        let buffer_pages = basis.number("buffer.write_bytes").unwrap_or(0) / PAGE_BYTES;
        Some(Throttle { page_ns, burst_ns: page_ns * buffer_pages.max(1) })
    }
}

impl Section for PslcSection {
    type Plan = Pslc;
    type State = PslcCache;

    fn resolve(&self, basis: &Basis<'_>) -> Result<Pslc, ModelError> {
        let only_below_bytes = self.only_below_bytes.as_ref().map_or(u64::MAX, |limit| limit.value);
        let busy_fold_percent = self.busy_fold_percent.as_ref().map_or(0, |share| share.value);
        if self.bytes.value == 0 && !self.borrows.value {
            let rule = "a cache that does not borrow (pslc.borrows) must have bytes of its own";
            return basis.check.fail("pslc.bytes", self.bytes.value, rule);
        }
        // Those that collection and `[cleaning_states]` work towards are not lent.
        let kept_free =
            basis.number("gc.free_high").max(basis.number("cleaning_states.reserve_free"));
        let kept_free = kept_free.unwrap_or(0) as u32;
        Ok(Pslc {
            only_below_bytes,
            borrow_above: self.borrows.value.then_some(kept_free.saturating_add(1)),
            borrowed_superblocks_max: self.borrowed_superblocks_max(basis)?,
            idle_after_ns: self.idle_after_ns.value,
            when_full: self.when_full.value,
            busy_fold_percent,
            direct_rate: self.direct_rate(basis),
        })
    }

    fn begin(plan: Pslc, geometry: &Geometry, _: usize) -> PslcCache {
        PslcCache::new(plan, geometry.cache_units * geometry.unit_pages)
    }
}

/// The cache with its state.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct PslcCache {
    pslc: Pslc,
    /// Whether the host has been away for long enough to fold it.
    is_folding: bool,
    /// Whether the drive runs short of erased superblocks.
    is_hurried: bool,
    /// Folds that are due in return for the host's writes.
    backlog: Backlog,
    /// Host pages that may go past it now, if there is a limit.
    direct: Option<Bucket>,
}

impl PslcCache {
    /// A cache of superblocks of so many pages that waits for the host to go away.
    pub fn new(pslc: Pslc, cache_pages: u32) -> Self {
        Self {
            pslc,
            is_folding: false,
            is_hurried: false,
            backlog: Backlog::new(cache_pages),
            direct: pslc.direct_rate.map(Bucket::new),
        }
    }

    /// Limits the superblocks that it borrows from now on; false if it borrows none.
    pub fn limit_borrowed(&mut self, superblocks: u32) -> bool {
        self.pslc.borrowed_superblocks_max = Some(superblocks);
        self.pslc.borrow_above.is_some()
    }

    /// Time without a host command after which folding begins.
    pub fn idle_after_ns(&self) -> u64 {
        self.pslc.idle_after_ns
    }

    /// The host is away, or is back.
    pub fn set_folding(&mut self, is_folding: bool) {
        self.is_folding = is_folding;
    }

    /// The drive runs short of erased superblocks, or does no longer.
    #[inline]
    pub fn set_hurried(&mut self, is_hurried: bool) {
        self.is_hurried = is_hurried;
    }

    /// The host has written pages.
    pub fn note_written(&mut self, pages: u32, ftl: &Ftl, collector: &Collector) {
        if self.has_fold(ftl, collector) {
            self.backlog.add(pages.into(), self.pslc.busy_fold_percent);
        } else {
            self.backlog.forgive();
        }
    }

    /// Pages of the cache are being folded.
    pub fn note_folding(&mut self, pages: u32) {
        if !self.is_folding {
            self.backlog.moved(pages);
        }
    }

    /// Folded pages that go before the host's writes and are late.
    #[inline]
    pub fn late_pages(&self) -> u64 {
        self.backlog.pages()
    }

    /// Nothing can be folded now, so that nothing is late.
    pub fn forgive(&mut self) {
        self.backlog.forgive();
    }

    /// The stream for a write of the host now, or `None` if it has to wait for the cache.
    #[inline]
    pub fn stream_for(&self, len_bytes: u32, ftl: &Ftl) -> Option<StreamId> {
        if u64::from(len_bytes) >= self.pslc.only_below_bytes {
            return Some(StreamId::Host);
        }
        if self.has_room(ftl) {
            return Some(StreamId::Pslc);
        }
        let waits = self.pslc.when_full == WhenFull::Fold && ftl.geometry.cache_superblocks > 0;
        (!waits).then_some(StreamId::Host)
    }

    /// Time from which the controller takes a host page for a stream; it may be in the past.
    #[inline]
    pub fn opens_ns(&self, stream: StreamId, now_ns: u64) -> u64 {
        self.direct
            .as_ref()
            .filter(|_| stream != StreamId::Pslc)
            .map_or(0, |direct| direct.opens_ns(now_ns))
    }

    /// Host pages go to a stream.
    #[inline]
    pub fn note_placed(&mut self, stream: StreamId, now_ns: u64, host_pages: u32) {
        if let Some(direct) = self.direct.as_mut().filter(|_| stream != StreamId::Pslc) {
            direct.take(now_ns, host_pages);
        }
    }

    /// Whether host pages that go past it have a limit.
    #[inline]
    pub fn limits_direct_writes(&self) -> bool {
        self.direct.is_some()
    }

    /// Whether the cache takes a page more.
    pub fn has_room(&self, ftl: &Ftl) -> bool {
        ftl.stream_has_room(StreamId::Pslc) || self.has_erased(ftl)
    }

    fn has_erased(&self, ftl: &Ftl) -> bool {
        !ftl.cache_free.is_empty() || self.may_borrow(ftl)
    }

    /// Whether an erased superblock of the native cells may serve as cache.
    pub fn may_borrow(&self, ftl: &Ftl) -> bool {
        let max = self.pslc.borrowed_superblocks_max;
        self.pslc.borrow_above.is_some_and(|min| ftl.free.len() as u64 > u64::from(min))
            && max.is_none_or(|max| ftl.borrowed_superblocks < max)
    }

    /// Whether the host waits for room in the cache, or will with its next write.
    fn is_awaited(&self, ftl: &Ftl) -> bool {
        self.pslc.when_full == WhenFull::Fold && !self.has_erased(ftl)
    }

    /// Whether a part of the cache should be folded now: a superblock waits, or a fold is in
    /// progress whose units may have no other reason to be filled.
    #[inline]
    pub fn wants_fold(&self, ftl: &Ftl, collector: &Collector) -> bool {
        (self.is_folding || self.must_fold(ftl)) && self.has_fold(ftl, collector)
    }

    /// Whether there is another reason to fold than a rest of the host.
    pub fn must_fold(&self, ftl: &Ftl) -> bool {
        self.is_hurried || self.late_pages() > 0 || self.is_awaited(ftl)
    }

    /// Whether a superblock waits to be folded, or one is begun.
    fn has_fold(&self, ftl: &Ftl, collector: &Collector) -> bool {
        let is_begun = || collector.victim_in_hand().is_some_and(|victim| ftl.is_cache(victim));
        ftl.cached_superblocks > 0 || is_begun()
    }

    /// The stream whose open unit folded superblocks wait for and that no pages in flight will
    /// fill, or `None`. The current victim would fill it, if the host could continue without the
    /// cache.
    pub fn stream_to_pad(
        &self,
        ftl: &Ftl,
        collector: &Collector,
        programs: &StreamPrograms,
    ) -> Option<StreamId> {
        let is_over = ftl.cached_superblocks == 0
            && collector.in_flight_pages() == 0
            && (collector.victim_in_hand().is_none() || self.is_awaited(ftl));
        if !is_over {
            return None;
        }
        collector.stuck_stream_of(programs, |victim| ftl.is_cache(victim))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;

    /// A drive with one superblock of cache, of which 8 pages are written.
    fn ftl() -> Ftl {
        Ftl::new(Geometry { cache_superblocks: 1, cache_units: 2, ..Geometry::small() })
    }

    fn cache(when_full: WhenFull) -> PslcCache {
        PslcCache::new(
            Pslc {
                only_below_bytes: 8192,
                borrow_above: None,
                borrowed_superblocks_max: None,
                idle_after_ns: 1,
                when_full,
                busy_fold_percent: 25,
                direct_rate: None,
            },
            8,
        )
    }

    #[test]
    fn small_writes_go_to_the_cache_until_it_is_full() {
        let (direct, fold) = (cache(WhenFull::Direct), cache(WhenFull::Fold));
        let mut ftl = ftl();
        assert_eq!(direct.stream_for(8192, &ftl), Some(StreamId::Host));
        assert_eq!(direct.stream_for(4096, &ftl), Some(StreamId::Pslc));
        assert!(ftl.open_cache(false));
        for logical in 0..8 {
            assert_eq!(fold.stream_for(4096, &ftl), Some(StreamId::Pslc));
            ftl.place(StreamId::Pslc, logical);
        }
        assert_eq!(direct.stream_for(4096, &ftl), Some(StreamId::Host));
        assert_eq!(fold.stream_for(4096, &ftl), None);
    }

    #[test]
    fn pages_past_the_cache_wait_for_the_controller_and_others_do_not() {
        let mut cache = cache(WhenFull::Direct);
        cache.direct = Some(Bucket::new(Throttle { page_ns: 10, burst_ns: 10 }));
        cache.note_placed(StreamId::Host, 100, 2);
        assert_eq!(cache.opens_ns(StreamId::Host, 100), 120);
        assert_eq!(cache.opens_ns(StreamId::Pslc, 100), 0);
        cache.note_placed(StreamId::Pslc, 100, 8);
        assert_eq!(cache.opens_ns(StreamId::Host, 100), 120);
    }

    #[test]
    fn a_full_cache_is_folded_where_a_write_waits_for_it_or_the_host_is_away() {
        let mut ftl = ftl();
        let collector = Collector::new(&ftl.geometry);
        let mut direct = cache(WhenFull::Direct);
        direct.set_folding(true);
        assert!(!direct.wants_fold(&ftl, &collector), "there is nothing to fold");
        assert!(ftl.open_cache(false));
        (0..8).for_each(|logical| {
            ftl.place(StreamId::Pslc, logical);
        });
        assert!(direct.wants_fold(&ftl, &collector));
        direct.set_folding(false);
        assert!(!direct.wants_fold(&ftl, &collector));
        assert!(cache(WhenFull::Fold).wants_fold(&ftl, &collector));
    }

    #[test]
    fn a_share_of_the_pages_that_a_busy_host_writes_is_folded() {
        let mut ftl = ftl();
        let collector = Collector::new(&ftl.geometry);
        let mut direct = cache(WhenFull::Direct);
        direct.note_written(100, &ftl, &collector);
        assert_eq!(direct.late_pages(), 0, "there was nothing to fold");
        assert!(ftl.open_cache(false));
        (0..8).for_each(|logical| {
            ftl.place(StreamId::Pslc, logical);
        });
        direct.note_written(16, &ftl, &collector);
        assert_eq!(direct.late_pages(), 4);
        assert!(direct.wants_fold(&ftl, &collector));
        direct.note_folding(8);
        direct.note_written(16, &ftl, &collector);
        assert!(!direct.wants_fold(&ftl, &collector), "a begun superblock was folded to its end");
        direct.note_written(4, &ftl, &collector);
        assert!(direct.wants_fold(&ftl, &collector));
    }
}
