//! Traces: what a system asked of its drive, one record for each I/O.
//!
//! ```text
//! trace files of others -> format (one file a format) -> order -> depth --+
//! own columnar file     -> store -----------------------------------------+-> Source -> stats, store, export, replay
//! scenario description  -> synth -----------------------------------------+
//! ```
//!
//! Everything streams: memory does not grow with the length of a trace. Nothing in a file is trusted: what cannot
//! be read is counted and reported with its line (see [`Problems`]), never skipped in silence.
//!
//! Reading order: [`record`], [`source`], [`format`], [`store`], [`stats`], [`synth`].

pub mod error;
pub mod export;
pub mod format;
pub mod import;
pub mod open;
pub mod problems;
pub mod record;
pub mod source;
pub mod stats;
pub mod store;
pub mod synth;

pub use error::TraceError;
pub use import::{ImportOptions, import};
pub use open::open;
pub use problems::Problems;
pub use record::{Flags, Record};
pub use source::{Origin, Source, TraceInfo};
