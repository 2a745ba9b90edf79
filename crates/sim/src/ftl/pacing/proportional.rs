//! Proportional: every host write pays its share of collection.
//!
//! Phenomenon: a drive that collects all the time has a lower peak and an even steady state. Source: the idea of
//! rate limiters in open FTLs (pblk gives garbage collection a growing share as free blocks
//! shrink). Between `free_high` and `free_low` superblocks of writable space the pages owed per host
//! page grow linearly from none to [`OWED_PAGES_MAX`]; they settle where they balance, at WAF - 1. At
//! `free_low` the host waits. Assumed: the line and its end. Test:
//! `tests/formulas/shape.rs::every_pacing_moves_the_same_pages_and_they_differ_in_evenness`.

use super::{Level, Limits};

/// Pages owed per host page at `free_low`; above the worst need after a sequential fill at 3% spare.
const OWED_PAGES_MAX: u64 = 32;

/// Pages owed for an unknown WAF: with common spare areas it is between 2 and 8.
const OWED_PAGES_USUAL: u64 = 3;

/// The level at which the line gives [`OWED_PAGES_USUAL`], in superblocks as a fraction.
pub(super) const fn steady_superblocks(free_low: u64, free_high: u64) -> (u64, u64) {
    let below_high = (free_high - free_low) * OWED_PAGES_USUAL;
    (free_high * OWED_PAGES_MAX - below_high, OWED_PAGES_MAX)
}

/// Pages owed in return for those that the host has written.
#[inline]
pub(super) fn owed_pages(limits: Limits, level: Level, host_pages: u32) -> u64 {
    let superblock_pages = u64::from(level.superblock_pages);
    let high = u64::from(limits.free_high) * superblock_pages;
    let width = u64::from(limits.free_high - limits.free_low) * superblock_pages;
    let missing = high.saturating_sub(level.writable_pages).min(width);
    // The rounding up makes an owed fraction count once a unit.
    (missing * OWED_PAGES_MAX * u64::from(host_pages)).div_ceil(width)
}
