//! The options of formats for the reader of a file.

use std::str::FromStr;

use super::csv::spec::CsvSpec;
use super::parts::time::TimeUnit;
use crate::trace::TraceError;

/// Options of some formats; `None` is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormatOptions {
    /// The meaning of a `wait` of fio's version 2.
    pub wait_unit: Option<WaitUnit>,
    /// The event of a block trace that counts as an I/O.
    pub event: Option<Event>,
    /// The unit of times, for a file that deviates from its format.
    pub time_unit: Option<TimeUnit>,
    /// The columns of a CSV file.
    pub csv: Option<CsvSpec>,
}

/// The meaning of a `wait` of fio's version 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitUnit {
    /// By the code of fio: not before this number of ms after the start.
    #[default]
    Fio,
    /// By the manual of fio: this number of us after the preceding wait.
    Doc,
}

impl FromStr for WaitUnit {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        match text {
            "fio" => Ok(Self::Fio),
            "doc" => Ok(Self::Doc),
            _ => {
                Err(TraceError::Usage(format!("the unit of waits is `{text}`; known are fio, doc")))
            }
        }
    }
}

/// The event of a block trace that counts as an I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Event {
    /// `Q`: a program or file system requested it; before merging.
    #[default]
    Queue,
    /// `D`: the device received it; after merging.
    Issue,
}

impl FromStr for Event {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        match text {
            "queue" => Ok(Self::Queue),
            "issue" => Ok(Self::Issue),
            _ => Err(TraceError::Usage(format!("the event is `{text}`; known are queue, issue"))),
        }
    }
}
