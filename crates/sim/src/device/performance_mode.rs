//! "Performance mode": fast writes into a drive that is not half full, and what has to be put in order afterwards.
//!
//! Phenomenon: a drive writes fast until half of its LBAs hold data, then is slow for minutes while it
//! reorganises, then is nearly as fast as before. Source: OCZ Vertex 4 with firmware 1.4 (Tom's Hardware 3235,
//! 3245), read there as writing only the fast lower pages of each cell; OCZ itself spoke only of collection
//! tuned for half-empty drives. Data in lower pages alone takes twice the room. So the drive may hold up to
//! a share (one half) of the LBA space that normal data leaves; then it moves all fast data to normal
//! superblocks, as real reads, programs and erases, at a given rate beside the host, and may write fast
//! again into what is left, until that is less than [`ROOM_SHARE_MIN`] of the drive.
//!
//! Simplification: a fast superblock holds as many pages as any other; the limit on fast data stands for the
//! room it would take. While it reorganises, the host's writes are normal. The host goes first: two units a die are
//! under way at most, and each waits for the programs of a full write buffer, so that beside a busy host the rate is
//! the lower of the asked one and the one that this allows. A loss of power forgets which
//! superblocks are fast: their data then counts as normal. Test: `tests/performance_mode.rs`.

use super::Device;
use super::timers::Timer;
use crate::ftl::{StreamId, SuperblockState};
use crate::probe::Probe;

/// Less than one in so many LBAs is not worth a performance mode (assumed).
const ROOM_SHARE_MIN: u64 = 16;

/// The mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerformanceMode {
    /// Program time while it lasts.
    pub program_ns: u64,
    /// Share of the LBA space not held by normal data that fast data may hold, in percent.
    pub fill_percent: u32,
    /// Time for each unit's worth of pages reorganised.
    pub unit_interval_ns: u64,
}

/// What the host finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// Writes are fast as long as there is room for that, or normal.
    #[default]
    Settled,
    /// Fast data is being moved.
    Reorganising,
}

impl<P: Probe, const OPTIONS: bool> Device<P, OPTIONS> {
    /// The host stream has opened a superblock: is it written fast?
    pub(super) fn host_opened(&mut self) {
        let Some(mode) = self.config.options.performance_mode else { return };
        let geometry = *self.geometry();
        let total = u64::from(geometry.logical_pages) * u64::from(geometry.page_granules);
        let (fast, normal) = self.fast_and_normal_pages();
        let room = total.saturating_sub(normal);
        if self.mode == Mode::Reorganising {
            if !self.timers.is_set(Timer::Reorganise) {
                self.timers.set(Timer::Reorganise, self.now_ns);
            }
        } else if fast > 0 && fast * 100 >= room * u64::from(mode.fill_percent) {
            self.mode = Mode::Reorganising;
            self.timers.set(Timer::Reorganise, self.now_ns);
        } else if room * ROOM_SHARE_MIN >= total
            && let Some(superblocks) = self.nand.fast_mut()
        {
            superblocks.insert(self.ftl.stream(StreamId::Host).superblock);
        }
    }

    /// Valid pages in superblocks written fast, and in all others.
    fn fast_and_normal_pages(&self) -> (u64, u64) {
        let (mut fast, mut normal) = (0, 0);
        for (superblock, &pages) in self.ftl.valid_pages.iter().enumerate() {
            let sum = if self.is_fast(superblock as u32) { &mut fast } else { &mut normal };
            *sum += u64::from(pages);
        }
        (fast, normal)
    }

    fn is_fast(&self, superblock: u32) -> bool {
        self.nand.fast().is_some_and(|superblocks| superblocks.contains(superblock))
    }

    /// The clock says that the next unit may be reorganised.
    pub(super) fn on_reorganise_timer(&mut self) {
        let Some(mode) = self.config.options.performance_mode else { return };
        if self.is_something_to_reorganise() {
            self.move_unit_by_the_clock(Timer::Reorganise, mode.unit_interval_ns);
        } else if !self.is_fast(self.ftl.stream(StreamId::Host).superblock) {
            self.mode = Mode::Settled;
        }
        // What the host still fills comes to its turn with the next superblock that it opens.
    }

    fn is_something_to_reorganise(&self) -> bool {
        self.collector.has_unit(self.geometry().superblock_units)
            || self.oldest_fast_superblock().is_some()
    }

    /// The superblock to reorganise next, unless room is what the drive needs first.
    pub(super) fn victim_to_reorganise(&mut self) -> Option<u32> {
        if self.mode != Mode::Reorganising || self.ftl.free.len() < 2 {
            return None;
        }
        let free_superblocks = self.free_superblocks();
        if self.pacing.must_collect(free_superblocks) {
            return None;
        }
        self.oldest_fast_superblock()
    }

    fn oldest_fast_superblock(&self) -> Option<u32> {
        let is_closed =
            |superblock: &u32| self.ftl.states[*superblock as usize] == SuperblockState::Closed;
        (0..self.geometry().superblocks)
            .filter(|&superblock| self.is_fast(superblock))
            .filter(is_closed)
            .min_by_key(|&superblock| self.ftl.closed_at[superblock as usize])
    }
}
