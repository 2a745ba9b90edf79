//! Shared types of all crates: units, operations, random numbers, permutations, histograms.
//!
//! This crate reads no clock and knows no file format, and does no I/O but to open a file safely
//! ([`file`]). Reading order: [`units`], [`op`], [`rng`], [`permute`], [`histogram`].
#![warn(missing_docs)]

pub mod bytes;
pub mod facts;
pub mod file;
pub mod fnv;
pub mod health;
pub mod histogram;
pub mod identity;
pub mod mix;
pub mod op;
pub mod panics;
pub mod permute;
pub mod rng;
pub mod telemetry;
pub mod text;
pub mod units;
pub mod verifiable;

pub use facts::Facts;
pub use fnv::Fnv;
pub use health::HealthSnapshot;
pub use histogram::Histogram;
pub use identity::{Identity, TargetKind};
pub use op::{Completion, Data, Op, OpKind, Status};
pub use permute::Permutation;
pub use rng::Rng;
pub use telemetry::TelemetryRow;
pub use units::{Bytes, Nanos, Ratio, UnitError};
