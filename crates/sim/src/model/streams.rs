//! `[streams]`: which data is kept apart from which.

use serde::Deserialize;

use super::Sourced;
use crate::ftl::cold::ColdPolicy;

/// Write streams beyond those of the host and of garbage collection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamsModel {
    /// How data for the cold stream is recognised.
    pub cold: Sourced<ColdPolicy>,
}
