//! Where records come from, whatever it is: a file, an import, a synthesis.

use serde::{Deserialize, Serialize};

use super::streams::{Addresses, Volume};
use super::synth::Published;
use super::{Problems, Record, TraceError};

/// How a trace came to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Recorded from a running system by ssdlab.
    Recorded,
    /// Read from a trace file of another tool.
    #[default]
    Imported,
    /// Made from a description: never happened on any system.
    Synthesised,
}

impl Origin {
    /// The word used wherever a trace is shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Imported => "imported",
            Self::Synthesised => "synthesised",
        }
    }
}

/// What is known of a trace as a whole. Stored in the trace file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceInfo {
    /// How it came to be.
    pub origin: Origin,
    /// From what: a file and its format, a device, a scenario and its seed.
    pub source: String,
    /// Names of the streams, by number; may be empty.
    #[serde(default)]
    pub streams: Vec<String>,
    /// Time of the first record in its own clock, in ns; 0 where that clock starts with the trace.
    #[serde(default)]
    pub epoch_ns: u64,
    /// Which addresses the streams have.
    #[serde(default)]
    pub addresses: Addresses,
    /// Streams that have, or had, addresses of their own; empty where they share them, or are not known yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<Volume>,
    /// Bytes of the address space that the trace lies in, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<u64>,
    /// What the reader could not take as it was, in sentences.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The totals that a synthesised trace was made to equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
}

/// A stream of records in the order of issue.
pub trait Source {
    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// Where the trace cannot be read any further.
    fn next_record(&mut self) -> Result<Option<Record>, TraceError>;

    /// What the trace is. Names of streams and times may be known only at the end.
    fn info(&self) -> TraceInfo;

    /// What could not be taken as it was, so far.
    fn problems(&self) -> Problems {
        Problems::default()
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        (**self).next_record()
    }

    fn info(&self) -> TraceInfo {
        (**self).info()
    }

    fn problems(&self) -> Problems {
        (**self).problems()
    }
}
