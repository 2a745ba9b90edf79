//! Background: collection beside the host up to a share of the work, and a stop where that is not enough.
//!
//! Phenomenon: the same drive stands still again and again at its default spare area and is among the most even ones with
//! 25% of spare, as readers of `AnandTech` 7006 say of the Samsung 840 Pro. Source: the two thresholds of production
//! firmware, for collection in the background and, with hardly anything left, in the foreground (WARP, FAST 2026, matched
//! two drives with 90% and 99% of units in use). Below `free_high` superblocks of writable space each host page costs
//! [`BACKGROUND_PAGES`] moves. A drive with more spare gains room by that, a drive with less falls to `free_low` and
//! stops the host until one superblock more is erased. Assumed: the share, and that it is the same all the way. Test:
//! `tests/formulas/shape.rs::collection_in_the_background_stops_the_host_only_where_spare_is_small`.

use super::{Level, Limits};

/// Pages moved in return for each of the host; enough up to a WAF of 5.
const BACKGROUND_PAGES: u64 = 4;

/// Pages owed in return for those that the host has written.
#[inline]
pub(super) fn owed_pages(limits: Limits, level: Level, host_pages: u32) -> u64 {
    let high = u64::from(limits.free_high) * u64::from(level.superblock_pages);
    if level.writable_pages < high { BACKGROUND_PAGES * u64::from(host_pages) } else { 0 }
}
