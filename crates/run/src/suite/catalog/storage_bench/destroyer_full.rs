//! Storage Bench 2013, the Destroyer: 2.4 TB of work of six kinds, on a full drive. Method and interpretation:
//! [`crate::suite::storage_bench`].

use crate::params::Param;
use crate::suite::storage_bench::{self, Settings};
use crate::suite::{Chapter, Definition, Headline, ReviewEntry};

const PARAMS: [Param; 15] =
    storage_bench::params("synth:destroyer-2013", "32", storage_bench::FULL);

const HEADLINES: [Headline; 4] = storage_bench::headlines(
    "De\u{ad}stroyer, full",
    "The Destroyer of 2013 on a full drive",
    Headline::of_card(storage_bench::WAITS),
);

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "destroyer-full",
    heading: "Storage bench 2013, the Destroyer, full drive",
    question: "does it stay quick through 2.4 TB of work of six kinds when it is full (2013)?",
    params: &PARAMS,
    closed_loop: Some(storage_bench::OWN_TIMES),
    reviews: &[ReviewEntry::FULL],
    headlines: &HEADLINES,
    ..Definition::of::<Settings>(Chapter::StorageBench, 6)
};
