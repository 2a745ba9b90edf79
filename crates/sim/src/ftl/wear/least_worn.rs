//! Least worn: a stream gets the erased superblock with the fewest erases, the one erased first among equals.
//!
//! Source: dynamic wear leveling as in every textbook of flash (Gal and Toledo 2005). It cannot reach
//! superblocks whose data nobody overwrites; see `spread`. Test: `tests/mechanisms/wear.rs`.

use std::collections::VecDeque;

pub(super) fn choose(
    free: &VecDeque<u32>,
    erase_counts: &[u32],
    is_wanted: impl Fn(u32) -> bool,
) -> Option<usize> {
    let erases = |(_, superblock): &(usize, &u32)| erase_counts[**superblock as usize];
    free.iter()
        .enumerate()
        .filter(|(_, superblock)| is_wanted(**superblock))
        .min_by_key(erases)
        .map(|(index, _)| index)
}
