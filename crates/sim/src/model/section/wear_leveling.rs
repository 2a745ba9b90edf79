//! `[wear_leveling]`: the distribution of erases over superblocks.

use serde::Deserialize;

use crate::ftl::wear::Allocation;
use crate::model::Sourced;

/// Distribution of erases over superblocks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WearLevelingModel {
    /// Rule for the next erased superblock of a stream.
    pub allocation: Sourced<Allocation>,
    /// Largest lead in erases of the most worn superblock over one whose data stays; 0: no limit.
    pub spread_max: Sourced<u32>,
}
