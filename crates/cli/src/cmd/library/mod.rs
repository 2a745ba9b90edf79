//! The commands for directories of runs.

pub mod build;
pub mod compare;
pub mod export;
pub mod fit;
pub mod lab;
pub mod runs;
