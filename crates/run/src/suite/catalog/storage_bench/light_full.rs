//! Storage Bench 2011, Light: an ordinary user, on a full drive. Method and interpretation:
//! [`crate::suite::storage_bench`].

use crate::params::Param;
use crate::suite::storage_bench::{self, Settings};
use crate::suite::{Chapter, Definition, Headline, ReviewEntry};

const PARAMS: [Param; 15] = storage_bench::params("synth:light-2011", "32", storage_bench::FULL);

const HEADLINES: [Headline; 4] = storage_bench::headlines(
    "Light, full",
    "Light work of 2011 on a full drive",
    Headline::of_card(storage_bench::WAITS),
);

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "light-full",
    heading: "Storage bench 2011, light, full drive",
    question: "how long does it keep an ordinary user waiting when it is full (2011)?",
    params: &PARAMS,
    closed_loop: Some(storage_bench::OWN_TIMES),
    reviews: &[ReviewEntry::FULL],
    headlines: &HEADLINES,
    ..Definition::of::<Settings>(Chapter::StorageBench, 4)
};
