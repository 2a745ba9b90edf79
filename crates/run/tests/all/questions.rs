//! Do the tests for the questions of today measure the states that they name, and agree with theory?
#![allow(clippy::print_stdout, reason = "tests that show their figures")]

mod amplification;
mod levels;
mod load_latency;
mod neighbours;
