//! `ios.parquet`: one row for each command of a run, or for some of them.
//!
//! ```text
//! measuring thread: Tap (select, batch) -- bounded queue --> writer thread: group, encode, write
//! ```
//!
//! A measuring thread never waits for the writer where its clock is a real one: rows that find the
//! queue full are lost, and counted. A simulated drive has its own clock, so that its thread waits
//! and no row is lost.
//!
//! The file grows beside its final name and gets that name with its last byte: it is complete, or
//! absent.

mod choice;
mod file;
mod merge;
mod message;
mod read;
mod row;
mod slowest;
mod tap;
mod writer;

pub use choice::{IosChoice, IosChoiceError};
pub use message::{IosPhase, WhenFull};
pub use read::IosPart;
pub use row::{IoRow, NO_JOB, UNANSWERED};
pub use tap::IosTap;
pub use writer::{IosEnd, IosWriter};

/// Name of the file with one row per command.
pub const IOS_FILE: &str = "ios.parquet";
/// Its name until it is complete.
pub const IOS_FILE_UNFINISHED: &str = ".ios.parquet.tmp";
