//! Traces: the commands of a system to its drive, one record for each I/O.
//!
//! ```text
//! trace files of others -> format (one file a format) -> clock -> order -> depth --+
//! own columnar file     -> store --------------------------------------------------+-> placed -> Source
//! scenario description  -> synth --------------------------------------------------+
//!
//! Source -> stats, store, export, replay
//! ```
//!
//! Everything streams: memory does not grow with the length of a trace. Nothing in a file is
//! trusted: unreadable content is counted and reported with its line (see [`Problems`]), never
//! skipped in silence.
//!
//! Reading order: [`record`], [`source`], [`streams`], [`format`], [`store`], [`stats`], [`synth`].

mod archive;
mod clock;
pub mod error;
pub mod excerpt;
pub mod export;
pub mod format;
pub mod import;
mod input;
pub mod open;
mod packing;
mod placed;
mod plausible;
pub mod problems;
pub mod record;
pub mod source;
pub mod stats;
pub mod store;
pub mod streams;
pub mod synth;

pub use error::TraceError;
pub use excerpt::Excerpt;
pub use import::{ImportOptions, import};
pub use open::open;
pub use problems::Problems;
pub use record::{Flags, Record};
pub use source::{Origin, Source, TraceInfo};
pub use streams::{Addresses, Layout, StreamSet};
