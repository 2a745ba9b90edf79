//! Storage Bench 2011, Heavy: a demanding user. Method and how to read it: [`crate::suite::storage_bench`].

use crate::params::Param;
use crate::suite::storage_bench::{self, Settings};
use crate::suite::{Definition, Procedure};

const PARAMS: [Param; 11] = storage_bench::params("synth:heavy-2011");

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "heavy",
    question: "how long does it keep a demanding user waiting (2011)?",
    writes: true,
    params: &PARAMS,
    procedure: Procedure::of::<Settings>,
};
