//! Times, accounts and refusals of the drive as a whole.
#![allow(clippy::print_stdout, reason = "tests that show their figures")]

#[path = "../common/mod.rs"]
mod common;

mod aging;
mod extends;
mod groups;
mod host;
mod host_reads;
mod latency;
mod models;
mod nand;
mod policies;
mod reset;
mod telemetry;
mod timing;
