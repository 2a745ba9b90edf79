//! The choice of moved data for the cold stream: one policy, one file.
//!
//! If data that changes often and data that stays share a superblock, collection moves the data
//! again and again: the hot half dies, the cold half survives. A drive that separates them moves
//! less. Contract: [`ColdPolicy::stream_of_move`] is asked once for each unit read from a victim. A
//! new policy is a file beside this one, a variant and an arm.

mod survivor;

use serde::Deserialize;

use super::{Ftl, StreamId};

/// Criterion of cold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColdPolicy {
    /// It was moved before and is still valid.
    Survivor,
}

impl ColdPolicy {
    /// The stream for pages moved out of a superblock.
    #[inline]
    #[must_use]
    pub fn stream_of_move(self, ftl: &Ftl, superblock: u32) -> StreamId {
        match self {
            Self::Survivor => survivor::stream_of_move(ftl, superblock),
        }
    }
}
