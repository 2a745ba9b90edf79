//! `[streams]`: the separation of data.

use serde::Deserialize;

use crate::ftl::cold::ColdPolicy;
use crate::model::Sourced;

/// Write streams beyond those of the host and of garbage collection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamsModel {
    /// Criterion of cold data for the cold stream.
    pub cold: Sourced<ColdPolicy>,
}
