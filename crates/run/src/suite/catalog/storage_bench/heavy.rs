//! Storage Bench 2011, Heavy: a demanding user. Method and interpretation:
//! [`crate::suite::storage_bench`].

use crate::params::Param;
use crate::suite::storage_bench::{self, Settings};
use crate::suite::{Chapter, Definition, ReviewEntry};

const PARAMS: [Param; 11] = storage_bench::params("synth:heavy-2011", "32", storage_bench::FRESH);

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "heavy",
    heading: "Storage bench 2011, heavy",
    question: "how long does it keep a demanding user waiting (2011)?",
    params: &PARAMS,
    closed_loop: Some(storage_bench::OWN_TIMES),
    reviews: &[ReviewEntry::FULL],
    ..Definition::of::<Settings>(Chapter::StorageBench, 1)
};
