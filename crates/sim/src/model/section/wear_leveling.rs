//! `[wear_leveling]`: the distribution of erases over superblocks.

use crate::ftl::wear::Allocation;
use crate::model::Sourced;
use crate::model::schema::section;

section! {
    /// Distribution of erases over superblocks.
    pub struct WearLevelingModel {
        /// Rule for the next erased superblock of a stream.
        pub allocation: Sourced<Allocation>,
        /// Largest lead in erases of the most worn superblock over one whose data stays; 0: no limit.
        pub spread_max: Sourced<u32>,
    }
}
