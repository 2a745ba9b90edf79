//! Mechanisms of a drive's firmware, each with its state and its rules: one phenomenon, one file.
//!
//! They use the maps and the geometry, but neither the drive nor its model: they get the time and
//! other facts as arguments, and return decisions. [`device`](crate::device) asks them and carries
//! the decisions out.

pub mod backlog;
pub mod flush;
pub mod sequences;
pub mod write_buffer;
