//! Dynamic wear leveling: the choice of an erased superblock for a stream.

use std::collections::VecDeque;

use serde::Deserialize;

use super::least_worn;

/// Rule for the next erased superblock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// The one erased first.
    #[default]
    OldestFirst,
    /// The one with the fewest erases.
    LeastWorn,
}

impl Allocation {
    /// Its place in the list of erased superblocks, or `None` if none there is wanted. `erase_counts`
    /// are those of all superblocks.
    #[inline]
    pub(crate) fn choose(
        self,
        free: &VecDeque<u32>,
        erase_counts: &[u32],
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<usize> {
        match self {
            Self::OldestFirst => free.iter().position(|&superblock| is_wanted(superblock)),
            Self::LeastWorn => least_worn::choose(free, erase_counts, is_wanted),
        }
    }
}
