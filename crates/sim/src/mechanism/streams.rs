//! A stream for cold data: the choice of moved data that goes there.
//!
//! Phenomenon: if data that changes often and data that stays share a superblock, collection moves the data again and
//! again: the hot half dies, the cold half survives. A drive that separates them moves less. Source: dynamic data
//! clustering (Chiang, Lee and Chang 1999): a moved page goes one region colder, a written page goes back to the
//! hottest. Simplification: three regions: host, GC, cold; a superblock knows the stream that wrote it, so no page needs
//! memory for that. Test: `tests/mechanisms/streams.rs`.
//!
//! [`ColdPolicy::stream_of_move`] is asked once for each unit read from a victim.

use base::facts::Sourced;
use serde::Deserialize;

use crate::ftl::{Ftl, StreamId};
use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{ModelError, section};

section! {
    /// Write streams beyond those of the host and of garbage collection.
    pub struct StreamsSection {
        /// Criterion of cold data for the cold stream.
        pub cold: Sourced<ColdPolicy>,
    }
}

/// Criterion of cold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColdPolicy {
    /// It was moved before and is still valid at the next collection of its superblock.
    Survivor,
}

impl Section for StreamsSection {
    type Plan = ColdPolicy;
    type State = ColdPolicy;

    fn resolve(&self, _: &Basis<'_>) -> Result<ColdPolicy, ModelError> {
        Ok(self.cold.value)
    }

    fn begin(plan: ColdPolicy, _: &Geometry, _: usize) -> ColdPolicy {
        plan
    }
}

impl ColdPolicy {
    /// The stream for pages moved out of a superblock.
    #[inline]
    pub fn stream_of_move(self, ftl: &Ftl, superblock: u32) -> StreamId {
        match self {
            Self::Survivor if ftl.written_by[superblock as usize].is_moved() => StreamId::Cold,
            Self::Survivor => StreamId::Gc,
        }
    }
}
