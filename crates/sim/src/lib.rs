//! The simulated SSD: pure, deterministic, in virtual time. No I/O, no clock, no threads.
//!
//! ```text
//! drive model (TOML) -> model -> Config -> Drive: a Device without a probe
//! Device: controller -> link -> buffer -> ftl (maps, streams, gc, pacing) -> nand (dies, channels)
//! ```
//!
//! Files depend on each other in one direction. Mechanisms ([`mechanism`], [`host`], [`firmware`],
//! [`ftl`], [`nand`] and others) own their parameters and state, and know neither model nor drive. A
//! file of [`mechanism`] also holds its section of a model. A model resolves to their parameters. The
//! drive passes them the time, asks them for decisions and carries the decisions out.
//!
//! Reading order: [`geometry`] (places of pages), [`ftl`] (maps and valid counts), [`nand`]
//! (times), [`mechanism`] (decisions), [`device`] (the main loop), [`ftl::pacing`] (evenness of a
//! drive), [`model`] (drives as data).
#![warn(missing_docs)]

// Counts and indices are u32 by design (a drive has fewer than 2^32 program units, checked when a model is
// resolved); they are widened to usize to index and to u64 to multiply. Page numbers of the whole drive are u64.
pub mod device;
pub mod drive;
pub mod events;
pub mod firmware;
pub mod ftl;
pub mod geometry;
pub mod host;
pub mod mechanism;
pub mod model;
pub mod nand;
pub mod power_loss;
pub mod prefetch;
pub mod probe;
pub mod ring;
pub mod telemetry;

pub use device::Device;
pub use drive::Drive;
pub use geometry::{Geometry, PAGE_BYTES};
pub use model::{Config, Model, ModelError};
pub use probe::Probe;

/// Version of the results: a change that gives a drive of the same model other results raises it, and then
/// `tests/golden.rs` fails.
pub const RESULTS_VERSION: u32 = 1;

/// The example of the page on crates.io.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
