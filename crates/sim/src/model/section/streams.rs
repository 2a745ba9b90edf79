//! `[streams]`: the separation of data.

use crate::ftl::cold::ColdPolicy;
use crate::model::Sourced;
use crate::model::schema::section;

section! {
    /// Write streams beyond those of the host and of garbage collection.
    pub struct StreamsModel {
        /// Criterion of cold data for the cold stream.
        pub cold: Sourced<ColdPolicy>,
    }
}
