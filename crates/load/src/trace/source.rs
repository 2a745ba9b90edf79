//! Sources of records: a file, an import, a synthesis.

use serde::{Deserialize, Serialize};

use super::streams::{Addresses, Volume};
use super::synth::TraceTotals;
use super::{Problems, Record, TraceError};

/// Origin of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Recorded from a running system by ssdlab.
    Recorded,
    /// Read from a trace file of another tool.
    #[default]
    Imported,
    /// Made from a description; no system ever ran it.
    Synthesised,
}

impl Origin {
    /// The word in every display of a trace.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Imported => "imported",
            Self::Synthesised => "synthesised",
        }
    }
}

/// Description of a trace as a whole, stored in the trace file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceInfo {
    pub origin: Origin,
    /// Its source: a file and its format, a device, a scenario and its seed.
    pub source: String,
    /// Names of the streams, by number; may be empty.
    #[serde(default)]
    pub streams: Vec<String>,
    /// Time of the first record on its own clock, in ns; 0 if that clock starts with the trace.
    #[serde(default)]
    pub epoch_ns: u64,
    /// Relation of the streams to addresses.
    #[serde(default)]
    pub addresses: Addresses,
    /// Streams that have, or had, their own addresses; empty if they share them, or are not known
    /// yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<Volume>,
    /// Bytes of the address space of the trace, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<u64>,
    /// Deviations from the source, in sentences.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The target totals of a synthesised trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<TraceTotals>,
}

/// A stream of records in the order of issue.
pub trait Source {
    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// If the rest of the trace cannot be read.
    fn next_record(&mut self) -> Result<Option<Record>, TraceError>;

    /// Description of the trace. Names of streams and times may be known only at the end.
    fn info(&self) -> TraceInfo;

    /// The problems so far.
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
