//! `[wear_leveling]`: how erases are spread over superblocks.

use serde::Deserialize;

use crate::ftl::wear::Allocation;
use crate::model::Sourced;

/// How erases are spread over superblocks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WearLevelingModel {
    /// Which erased superblock a stream gets.
    pub allocation: Sourced<Allocation>,
    /// Erases that the most worn superblock may be ahead of one whose data stays; 0: as many as it likes.
    pub spread_max: Sourced<u32>,
}
