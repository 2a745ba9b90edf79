//! Mechanisms of a drive's firmware, each with its state and its rules: one phenomenon, one file.
//!
//! They know the maps and the geometry, but neither the drive nor its model: they are
//! told the time and what else they need, and say what should happen. [`device`](crate::device) asks them and
//! does it.

pub mod backlog;
pub mod compression;
pub mod flush;
pub mod map_cache;
pub mod patrol;
pub mod performance_mode;
pub mod pslc;
pub mod quiet_gc;
pub mod read_ahead;
pub mod read_cache;
pub mod refresh;
pub mod throttle;
pub mod write_buffer;
