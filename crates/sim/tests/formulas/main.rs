//! Does the drive agree with the formulas for it?
#![allow(clippy::print_stdout, reason = "tests that show their figures")]

#[path = "../common/mod.rs"]
mod common;

mod evenness;
mod groups;
mod host_reads;
mod shape;
mod texture;
mod theory;
mod theory_skew;
mod theory_workloads;
mod throughput;
mod transient;
