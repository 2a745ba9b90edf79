//! Results of other programs as run directories of the test `imported`.
//!
//! Each format has its file here and makes [`Sheet`]s: what the files tell about one drive. A sheet
//! becomes a run directory in one place ([`write`]), so that every format is labelled alike.

pub mod cdm;
mod date;
mod error;
pub mod fio;
mod input;
pub mod phoronix;
mod sheet;
mod write;

pub use error::ImportError;
pub use sheet::{ImportStep, Sheet, name_drives};
pub use write::{Call, write, write_all};

/// Name of the test of imported runs.
pub const IMPORTED: &str = "imported";
