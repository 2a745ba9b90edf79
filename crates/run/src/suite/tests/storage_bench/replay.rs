//! Any trace. Method and how to read it: [`crate::suite::storage_bench`].

use crate::params::Param;
use crate::suite::storage_bench::{self, Settings};
use crate::suite::{Definition, Procedure};

const PARAMS: [Param; 11] = storage_bench::params("");

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "replay",
    question: "how does it do the work of this trace?",
    writes: true,
    params: &PARAMS,
    procedure: Procedure::of::<Settings>,
};
