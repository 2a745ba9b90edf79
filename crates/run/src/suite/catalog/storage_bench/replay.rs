//! Any trace. Method and interpretation: [`crate::suite::storage_bench`].

use crate::params::Param;
use crate::suite::storage_bench::{self, Settings};
use crate::suite::{Chapter, Definition};

const PARAMS: [Param; 15] = storage_bench::params("", "recorded", storage_bench::FULL);

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "replay",
    heading: "Replay of a trace",
    question: "how does it do the work of this trace?",
    params: &PARAMS,
    closed_loop: Some(storage_bench::OWN_TIMES),
    ..Definition::of::<Settings>(Chapter::StorageBench, 7)
};
