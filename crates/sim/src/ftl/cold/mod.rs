//! Which moved data goes to the cold stream: one policy, one file.
//!
//! Data that changes often and data that stays, mixed in one superblock, is moved again and again: the
//! hot half dies, the cold half is carried along. A drive that keeps them apart moves less. Contract:
//! [`ColdPolicy::stream_of_move`] is asked once for each unit read from a victim. A new policy is a file beside
//! this one, a variant and an arm.

mod survivor;

use serde::Deserialize;

use super::{Ftl, StreamId};

/// How cold data is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColdPolicy {
    /// It has survived being moved before.
    Survivor,
}

impl ColdPolicy {
    /// The stream for what is moved out of a superblock.
    #[inline]
    #[must_use]
    pub fn stream_of_move(self, ftl: &Ftl, superblock: u32) -> StreamId {
        match self {
            Self::Survivor => survivor::stream_of_move(ftl, superblock),
        }
    }
}
