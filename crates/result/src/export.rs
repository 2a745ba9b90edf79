//! Runs in the formats of other programs, and graphs.

mod csv;
mod error;
mod fio;
mod graph;
mod markdown;

pub use self::csv::csv;
pub use self::error::ExportError;
pub use self::fio::{Document, Job, fio};
pub use self::graph::{png, svg};
pub use self::markdown::markdown;
