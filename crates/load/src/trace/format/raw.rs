//! I/Os in the order of a file, and their sources.

use super::parts::fields::FieldFault;
use crate::trace::{Problems, Record, TraceError};

/// An I/O from a format: its time on the clock of the file, not yet in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    /// The I/O; `issue_ns` is on the file's own clock.
    pub record: Record,
    /// Time to its completion in ns, or `None` if the file does not tell.
    pub service_ns: Option<u64>,
}

impl From<Record> for Raw {
    fn from(record: Record) -> Self {
        Self { record, service_ns: None }
    }
}

/// A valid line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineContent {
    /// An I/O.
    Io(Raw),
    /// A line without an I/O by the format: a header, a comment, another event.
    Other,
    /// An I/O of another device than the selected one.
    OtherDevice,
}

/// A format with one line per I/O.
pub trait LineFormat {
    /// Parses one line (without its end).
    ///
    /// # Errors
    /// [`FieldFault`] names the field and the expected content.
    fn parse(&mut self, line: &[u8]) -> Result<LineContent, FieldFault>;

    /// Names of the streams so far, if the file has names.
    fn stream_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether depths come from events of completion, and there was none.
    fn lacks_completions(&self) -> bool {
        false
    }
}

impl<F: FnMut(&[u8]) -> Result<LineContent, FieldFault>> LineFormat for F {
    fn parse(&mut self, line: &[u8]) -> Result<LineContent, FieldFault> {
        self(line)
    }
}

/// I/Os in the order of the file.
pub trait RawSource {
    /// The next I/O; `None` at the end.
    ///
    /// # Errors
    /// If the rest of the file cannot be read.
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError>;

    /// The problems so far.
    fn problems(&self) -> Problems;

    /// Names of the streams so far, if the file has names.
    fn stream_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether depths come from events of completion, and there was none so far.
    fn lacks_completions(&self) -> bool {
        false
    }
}
