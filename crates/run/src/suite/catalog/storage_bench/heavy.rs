//! Storage Bench 2011, Heavy: a demanding user. Method and interpretation:
//! [`crate::suite::storage_bench`].

use crate::params::Param;
use crate::suite::storage_bench::{self, Settings};
use crate::suite::{Chapter, Definition, Headline, ReviewEntry};

const PARAMS: [Param; 15] = storage_bench::params("synth:heavy-2011", "32", storage_bench::FRESH);

const HEADLINES: [Headline; 4] = storage_bench::headlines(
    "Heavy",
    "Heavy work of 2011",
    Headline::of_card(storage_bench::WAITS),
);

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "heavy",
    heading: "Storage bench 2011, heavy",
    question: "how long does it keep a demanding user waiting (2011)?",
    params: &PARAMS,
    closed_loop: Some(storage_bench::OWN_TIMES),
    reviews: &[ReviewEntry::FULL],
    headlines: &HEADLINES,
    ..Definition::of::<Settings>(Chapter::StorageBench, 1)
};
