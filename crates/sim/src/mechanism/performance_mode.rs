//! "Performance mode": fast writes into a drive that is less than half full, and the reorganisation
//! of the data afterwards.
//!
//! Phenomenon: a drive writes fast until half of its LBAs hold data, then is slow for minutes while
//! it reorganises, then is nearly as fast as before. Source: OCZ Vertex 4 with firmware 1.4 (Tom's
//! Hardware 3235, 3245). The source interprets this as writing only the fast lower pages of each
//! cell; OCZ itself spoke only of collection tuned for half-empty drives. Data in lower pages alone
//! takes twice the room. The drive may therefore hold fast data up to a share (one half) of the LBA
//! space that normal data leaves. Then it moves all fast data to normal superblocks, as real reads,
//! programs and erases, at a given rate beside the host. It may write fast again into the remaining
//! space, until that is less than [`ROOM_SHARE_MIN`] of the drive.
//!
//! A share of that rate, all of it unless the model says less, goes before the host's writes: they wait where it is
//! behind, so that the host is as slow as the rate makes it. The rest takes its turn behind them: two units a die are
//! under way at most, and each waits for the programs of a full write buffer.
//!
//! With a pSLC cache, that takes the host's writes first, as far as it has room, and the mode those that go past it. What
//! is in the cache counts as normal data, because it will be folded into normal superblocks.
//!
//! Simplification: a fast superblock holds as many pages as any other; the limit on fast data stands for the
//! room it would take. While it reorganises, the host's writes are normal. Collection that the drive cannot do
//! without goes first. A loss of power forgets which
//! superblocks are fast: their data then counts as normal. Test: `tests/mechanisms/performance_mode.rs`.

use base::facts::Sourced;

use crate::firmware::backlog::Backlog;
use crate::ftl::{Ftl, StreamId, SuperblockState};
use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{ModelError, section};
use crate::nand::fast::FastSuperblocks;

section! {
    /// Fast writes into a drive that is less than half full.
    pub struct PerformanceModeSection {
        /// tPROG in the mode.
        pub program_ns: Sourced<u64>,
        /// Share of the LBA space without normal data that fast data may hold, in percent.
        pub fill_percent: Sourced<u32> [1, 90],
        /// Rate of the reorganisation after that, in pages of 4 KiB per second.
        pub reorganise_pages_per_s: Sourced<u64> [1, 1_000_000_000],
        /// Share of that rate that goes before the host's writes, in percent; absent: all of it does.
        pub reorganise_priority_percent: Option<Sourced<u32>> [0, 100],
    }
}

/// The mode needs at least one in this number of LBAs (assumed: a fill slows down once, so that what a reorganisation
/// leaves is too little for another).
const ROOM_SHARE_MIN: u64 = 8;

/// The mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PerformanceMode {
    /// Program time in the mode.
    pub program_ns: u64,
    /// Share of the LBA space not held by normal data that fast data may hold, in percent.
    pub fill_percent: u32,
    /// Time for each unit's worth of pages reorganised.
    pub unit_interval_ns: u64,
    /// Share of that rate that goes before the host's writes.
    pub priority_percent: u32,
}

impl Section for PerformanceModeSection {
    type Plan = PerformanceMode;
    type State = FastWrites;

    fn resolve(&self, basis: &Basis<'_>) -> Result<PerformanceMode, ModelError> {
        let pages_per_s = self.reorganise_pages_per_s.value;
        let fill_percent = self.fill_percent.value;
        let normal_ns = basis.number("nand.program_ns").unwrap_or(0);
        basis.check.within("performance_mode.program_ns", self.program_ns.value, 1, normal_ns)?;
        let priority_percent =
            self.reorganise_priority_percent.as_ref().map_or(100, |share| share.value);
        Ok(PerformanceMode {
            program_ns: self.program_ns.value,
            fill_percent,
            unit_interval_ns: basis.geometry.unit_interval_ns(pages_per_s),
            priority_percent,
        })
    }

    fn begin(plan: PerformanceMode, geometry: &Geometry, _: usize) -> FastWrites {
        FastWrites::new(plan, geometry.unit_pages)
    }
}

/// Kind of writing for the superblock that the host stream has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Fast.
    Fast,
    /// Normal.
    Normal,
    /// Normal, during the reorganisation of fast data.
    Reorganise,
}

/// The mode with its state: fast writes as long as there is room for them, then their
/// reorganisation.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct FastWrites {
    mode: PerformanceMode,
    is_reorganising: bool,
    /// Late moves that precede the host's writes.
    backlog: Backlog,
    /// Moves that may follow them; negative after a unit that held more.
    allowed_pages: i64,
    /// Up to here what is due has been counted.
    counted_ns: u64,
}

impl FastWrites {
    /// The mode of a new drive whose units have so many pages.
    pub fn new(mode: PerformanceMode, unit_pages: u32) -> Self {
        let backlog = Backlog::new(unit_pages);
        Self { mode, is_reorganising: false, backlog, allowed_pages: 0, counted_ns: 0 }
    }

    /// Time for each unit's worth of pages reorganised.
    pub fn unit_interval_ns(&self) -> u64 {
        self.mode.unit_interval_ns
    }

    /// Fast data is to be moved at its rate from `now_ns` on.
    pub fn begin(&mut self, now_ns: u64) {
        self.counted_ns = now_ns;
    }

    /// Counts what has become due until `now_ns`, and lets a unit's worth of pages move; what was not used of that
    /// does not add up.
    pub fn count_due(&mut self, now_ns: u64, unit_pages: u32) {
        let units = (now_ns - self.counted_ns) / self.mode.unit_interval_ns;
        self.counted_ns += units * self.mode.unit_interval_ns;
        self.backlog.add(units * u64::from(unit_pages), self.mode.priority_percent);
        self.allowed_pages = (self.allowed_pages + i64::from(unit_pages)).min(unit_pages.into());
    }

    /// Pages of fast data are being moved.
    pub fn moved(&mut self, pages: u32) {
        self.backlog.moved(pages);
        if self.allowed_pages > 0 {
            self.allowed_pages -= i64::from(pages);
        }
    }

    /// Whether the clock asks for fast data to move.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.allowed_pages > 0 || self.late_pages() > 0
    }

    /// Pages that go before the host's writes and are late.
    #[inline]
    pub fn late_pages(&self) -> u64 {
        self.backlog.pages()
    }

    /// No fast data can be moved now, so that nothing is asked.
    pub fn forgive(&mut self) {
        self.backlog.forgive();
        self.allowed_pages = 0;
    }

    /// The host stream has opened a superblock.
    pub fn opened(&mut self, ftl: &Ftl, fast: &FastSuperblocks) -> WriteMode {
        let geometry = &ftl.geometry;
        let total = geometry.logical_pages * u64::from(geometry.page_granules);
        let (fast_pages, normal_pages) = fast_and_normal_pages(ftl, fast);
        let room = total.saturating_sub(normal_pages);
        let is_full = fast_pages * 100 >= room * u64::from(self.mode.fill_percent);
        self.is_reorganising |= fast_pages > 0 && is_full;
        if self.is_reorganising {
            WriteMode::Reorganise
        } else if room * ROOM_SHARE_MIN >= total {
            WriteMode::Fast
        } else {
            WriteMode::Normal
        }
    }

    /// All fast data has moved, except the superblock that the host still fills; that follows when
    /// the host opens the next one.
    pub fn settle(&mut self, ftl: &Ftl, fast: &FastSuperblocks) {
        debug_assert!(oldest_fast(ftl, fast).is_none(), "fast data waits to be put in order");
        self.forgive();
        if !fast.contains(ftl.stream(StreamId::Host).superblock) {
            self.is_reorganising = false;
        }
    }
}

/// Valid pages in fast superblocks, and in all others.
fn fast_and_normal_pages(ftl: &Ftl, fast: &FastSuperblocks) -> (u64, u64) {
    let (mut fast_pages, mut normal_pages) = (0, 0);
    for (superblock, &pages) in (0..).zip(&ftl.valid_pages) {
        let sum = if fast.contains(superblock) { &mut fast_pages } else { &mut normal_pages };
        *sum += u64::from(pages);
    }
    (fast_pages, normal_pages)
}

/// The superblock to reorganise next, or `None` if no closed one is fast.
pub fn oldest_fast(ftl: &Ftl, fast: &FastSuperblocks) -> Option<u32> {
    let is_closed = |superblock: &u32| ftl.states[*superblock as usize] == SuperblockState::Closed;
    (0..ftl.geometry.superblocks)
        .filter(|&superblock| fast.contains(superblock))
        .filter(is_closed)
        .min_by_key(|&superblock| ftl.closed_at[superblock as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ftl() -> Ftl {
        Ftl::new(Geometry::small())
    }

    #[test]
    fn writes_are_fast_until_the_room_is_taken_and_again_when_all_is_in_order() {
        let mode = PerformanceMode {
            program_ns: 1,
            fill_percent: 50,
            unit_interval_ns: 1,
            priority_percent: 100,
        };
        let (mut writes, mut ftl) = (FastWrites::new(mode, 4), ftl());
        let mut fast = FastSuperblocks::new(1, 6);
        assert_eq!(writes.opened(&ftl, &fast), WriteMode::Fast);
        // 16 of 64 pages are fast and 16 normal: a third of the room.
        fast.insert(2);
        (ftl.valid_pages[2], ftl.valid_pages[3]) = (16, 16);
        assert_eq!(writes.opened(&ftl, &fast), WriteMode::Fast);
        ftl.valid_pages[3] = 32;
        assert_eq!(writes.opened(&ftl, &fast), WriteMode::Reorganise);
        ftl.states[2] = SuperblockState::Closed;
        assert!(writes.is_reorganising && oldest_fast(&ftl, &fast) == Some(2));
        fast.erased(2);
        writes.settle(&ftl, &fast);
        assert!(!writes.is_reorganising && oldest_fast(&ftl, &fast).is_none());
        // All LBAs hold normal data: nothing is left to write fast into.
        (ftl.valid_pages[2], ftl.valid_pages[3]) = (32, 32);
        assert_eq!(writes.opened(&ftl, &fast), WriteMode::Normal);
    }
}
