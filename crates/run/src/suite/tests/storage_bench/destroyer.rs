//! Storage Bench 2013, the Destroyer: 2.4 TB of work of six kinds. Method and how to read it: [`crate::suite::storage_bench`].

use crate::params::Param;
use crate::suite::storage_bench::{self, Settings};
use crate::suite::{Definition, Procedure};

const PARAMS: [Param; 11] = storage_bench::params("synth:destroyer-2013");

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "destroyer",
    question: "does it stay quick through 2.4 TB of work of six kinds, some of them at once (2013)?",
    writes: true,
    params: &PARAMS,
    procedure: Procedure::of::<Settings>,
};
