//! Rate: the host's writes keep a constant rate, and collection runs ahead of them.
//!
//! Phenomenon: a drive that settles at one rate with almost no variation, near its rated random write, whatever its
//! collection costs at the moment. Source: the Samsung PM9A3 holds 292.6 MB/s for several kinds of skew (published
//! measurements; that firmware paces it is a reading of them). Superblocks are collected as soon as fewer than
//! `free_high` are erased. While the newest victim held valid data, the write buffer admits pages of 4 KiB at the rate
//! at most ([`crate::mechanism::throttle::Bucket`]); a new, a trimmed and a linearly overwritten drive know no limit.
//! At `free_low` the host waits: there the drive is too slow for the rate. With `rate_valid_percent` the rate grows
//! with the room that victims give, where they hold a smaller share of valid pages: the host gets the rest of what the
//! NAND programs. Source: the same drive exceeds its rate where victims hold little (zones, much read-only data,
//! Zipf's law with theta 1), as far as a drive without the limit would. Simplification: one rate for all sizes of writes,
//! and a mean over some victims. Tests: `tests/formulas/evenness.rs`, `tests/mechanisms/pacing.rs`.

use crate::mechanism::throttle::{Bucket, Throttle};

/// Weight of older victims in the mean, in those of the newest.
const OLDER_VICTIMS: u64 = 15;
/// A whole superblock, in the unit of shares.
const WHOLE: u64 = 1_000_000;

/// The limit of the host's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HostLimit {
    /// The rate.
    pub throttle: Throttle,
    /// Share of valid pages in victims below which the rate grows, or `None` if it never does.
    pub valid_percent: Option<u32>,
}

/// The limit of the host's writes with its state.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct HostRate {
    limit: HostLimit,
    bucket: Bucket,
    /// Mean share of valid pages in victims, or `None` before the first.
    valid: Option<u64>,
}

impl HostRate {
    /// The limit before the first victim.
    pub fn new(limit: HostLimit) -> Self {
        Self { limit, bucket: Bucket::new(limit.throttle), valid: None }
    }

    /// The pages that may enter now.
    pub fn bucket(&mut self) -> &mut Bucket {
        &mut self.bucket
    }

    /// Adapts the rate to a victim.
    pub fn note_victim(&mut self, valid_pages: u32, superblock_pages: u32) {
        let Some(percent) = self.limit.valid_percent else { return };
        let newest = u64::from(valid_pages) * WHOLE / u64::from(superblock_pages);
        let older = self.valid.unwrap_or(newest);
        let valid = (OLDER_VICTIMS * older + newest) / (OLDER_VICTIMS + 1);
        self.valid = Some(valid);
        let room_of_limit = WHOLE - u64::from(percent) * (WHOLE / 100);
        let room = room_of_limit.max(WHOLE - valid);
        let Throttle { page_ns, burst_ns } = self.limit.throttle;
        let burst_pages = burst_ns / page_ns;
        let page_ns = (page_ns * room_of_limit / room).max(1);
        self.bucket.set(Throttle { page_ns, burst_ns: burst_pages * page_ns });
    }
}

/// The level that the policy keeps, in half superblocks: `free_high` erased or nearly so, less a half that is open, and
/// half of both open superblocks.
pub(super) const fn steady_half_superblocks(free_high: u64) -> u64 {
    2 * free_high + 1
}
