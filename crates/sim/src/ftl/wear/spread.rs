//! Spread: when the lead of the most worn superblock is too large, data that no host overwrites
//! leaves the least worn one.
//!
//! Source: static wear leveling (Chang, Hsieh and Kuo 2007). The cold data goes to the cold stream,
//! into a superblock worn by hot data, and stays there; the young superblock takes hot data. (In
//! the GC stream it would mix with hot data and double the work of the test below.) Cost: up to a
//! superblock of moved pages that give no room, counted as GC pages, at most once in five victims.
//! Test: `tests/mechanisms/wear.rs`.

use super::SuperblockState;
use crate::ftl::Ftl;

pub(super) fn victim(ftl: &Ftl, spread_max: u32) -> Option<u32> {
    let erases = |superblock: &u32| ftl.erase_counts[*superblock as usize];
    // Superblocks that only serve as cache wear apart.
    let others = ftl.geometry.superblocks - ftl.geometry.cache_superblocks;
    let most = ftl.erase_counts[..others as usize].iter().max()?;
    let closed = (0..ftl.geometry.superblocks)
        .filter(|&superblock| ftl.states[superblock as usize] == SuperblockState::Closed);
    closed.min_by_key(erases).filter(|superblock| most - erases(superblock) > spread_max)
}
