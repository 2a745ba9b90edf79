//! Storage Bench 2011, Light: an ordinary user. Method and interpretation:
//! [`crate::suite::storage_bench`].

use crate::params::Param;
use crate::suite::storage_bench::{self, Settings};
use crate::suite::{Chapter, Definition, Headline, ReviewEntry};

const PARAMS: [Param; 15] = storage_bench::params("synth:light-2011", "32", storage_bench::FRESH);

const HEADLINES: [Headline; 4] = storage_bench::headlines(
    "Light",
    "Light work of 2011",
    Headline::column(
        storage_bench::WAITS,
        ("Light work", "Will I notice?"),
        "Waits of 0.1 s or longer in a day of light work",
    ),
);

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "light",
    heading: "Storage bench 2011, light",
    question: "how long does it keep an ordinary user waiting (2011)?",
    params: &PARAMS,
    closed_loop: Some(storage_bench::OWN_TIMES),
    reviews: &[ReviewEntry::FULL, ReviewEntry::quick("part=1/50")],
    headlines: &HEADLINES,
    ..Definition::of::<Settings>(Chapter::StorageBench, 3)
};
