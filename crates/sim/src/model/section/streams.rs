//! `[streams]`: which data is kept apart from which.

use serde::Deserialize;

use crate::ftl::cold::ColdPolicy;
use crate::model::Sourced;

/// Write streams beyond those of the host and of garbage collection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamsModel {
    /// How data for the cold stream is recognised.
    pub cold: Sourced<ColdPolicy>,
}
