//! Token: the current victim sets the pace.
//!
//! Phenomenon: a firmware that lets the host write exactly the space that collection gives back never
//! runs out of space and never stalls. Source: the idea of MQSim-E: a victim with v valid of S
//! pages gives S - v pages for v moves, so each host page pays v / (S - v). Simplification: below
//! the middle of the two levels the price rises by a quarter, above it falls by a quarter;
//! otherwise the level would drift. At `free_low` the host waits. Test:
//! `tests/formulas/shape.rs::every_pacing_moves_the_same_pages_and_they_differ_in_evenness`.

use super::{Level, Limits};

const UNITS: u64 = 1 << 16;

/// Pages owed in return for those that the host has written; `rest` is what is owed and not yet requested, in 1 /
/// `UNITS` pages.
#[inline]
pub(super) fn owed_pages(rest: &mut u64, limits: Limits, level: Level, host_pages: u32) -> u64 {
    let superblock_pages = u64::from(level.superblock_pages);
    if level.writable_pages >= u64::from(limits.free_high) * superblock_pages {
        return 0;
    }
    let middle = u64::from(limits.free_low + limits.free_high) * superblock_pages / 2;
    let quarters = if level.writable_pages < middle { 5 } else { 3 };
    let valid = u64::from(level.victim_valid_pages);
    let gained = superblock_pages.saturating_sub(valid).max(1);
    let price = u64::from(host_pages) * valid * UNITS / gained;
    *rest += price * quarters / 4 + 1;
    let whole = *rest / UNITS;
    *rest %= UNITS;
    whole
}
