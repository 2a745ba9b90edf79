//! The commands for directories of runs.

pub mod build;
pub mod compare;
pub mod export;
pub mod runs;
