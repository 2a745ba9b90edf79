//! I/Os as a format gives them, and what gives them.

use super::parts::fields::Fault;
use crate::trace::{Problems, Record, TraceError};

/// An I/O as a format gives it: its time on the clock of the file, its place not yet in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    /// The I/O; `issue_ns` is on the file's own clock.
    pub record: Record,
    /// Time to its completion in ns where the file tells.
    pub service_ns: Option<u64>,
}

impl From<Record> for Raw {
    fn from(record: Record) -> Self {
        Self { record, service_ns: None }
    }
}

/// A line that was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// An I/O.
    Io(Raw),
    /// Something that is no I/O by the format: a header, a comment, another event.
    Other,
    /// An I/O of another device than the one that is read.
    OtherDevice,
}

/// A format of one line an I/O.
pub trait LineFormat {
    /// Understands one line (without its end).
    ///
    /// # Errors
    /// [`Fault`] names the field and what was expected there.
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, Fault>;

    /// Names of the streams met so far, where the file has names.
    fn stream_names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// I/Os as a file gives them.
pub trait RawSource {
    /// The next I/O; `None` at the end.
    ///
    /// # Errors
    /// Where the file cannot be read any further.
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError>;

    /// What could not be taken as it was, so far.
    fn problems(&self) -> Problems;

    /// Names of the streams met so far, where the file has names.
    fn stream_names(&self) -> Vec<String> {
        Vec::new()
    }
}
