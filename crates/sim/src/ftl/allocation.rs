//! The choice of an erased superblock for a stream.
//!
//! Source of `least-worn`: dynamic wear leveling as in every textbook of flash (Gal and Toledo 2005). It cannot reach
//! superblocks whose data nobody overwrites; see [`crate::mechanism::wear_leveling`]. Test:
//! `tests/mechanisms/wear_leveling.rs`.

use std::collections::VecDeque;

use serde::Deserialize;

/// Rule for the next erased superblock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// The one erased first.
    #[default]
    OldestFirst,
    /// The one with the fewest erases, the one erased first among equals; for cold data the one with the most.
    LeastWorn,
}

impl Allocation {
    /// Its place in the list of erased superblocks, for data that is cold or not; `None` if none there is wanted.
    /// `erase_counts` are those of all superblocks.
    #[inline]
    pub(crate) fn choose(
        self,
        free: &VecDeque<u32>,
        erase_counts: &[u32],
        is_cold: bool,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<usize> {
        match self {
            Self::OldestFirst => free.iter().position(|&superblock| is_wanted(superblock)),
            Self::LeastWorn => {
                let erases = |&(_, superblock): &(usize, u32)| erase_counts[superblock as usize];
                let all = free.iter().copied().enumerate();
                let wanted = all.filter(|&(_, superblock)| is_wanted(superblock));
                let chosen =
                    if is_cold { wanted.max_by_key(erases) } else { wanted.min_by_key(erases) };
                chosen.map(|(index, _)| index)
            }
        }
    }
}
