//! Storage Bench 2011, Light: an ordinary user. Method and how to read it: [`crate::suite::storage_bench`].

use crate::params::Param;
use crate::suite::storage_bench::{self, Settings};
use crate::suite::{Definition, Procedure};

const PARAMS: [Param; 11] = storage_bench::params("synth:light-2011");

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "light",
    question: "how long does it keep an ordinary user waiting (2011)?",
    writes: true,
    params: &PARAMS,
    procedure: Procedure::of::<Settings>,
};
