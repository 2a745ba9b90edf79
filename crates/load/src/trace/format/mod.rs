//! Trace files of others: one file a format, found out by their content.
//!
//! A text format is a [`LineFormat`]: one line in, one I/O (or nothing, or a fault) out. A new one is a file, a
//! variant of [`Format`] and its arms here.

mod alibaba;
mod blkparse;
pub mod blktrace;
mod block_events;
mod detect;
mod disksim;
mod fields;
mod fiu;
mod iolog;
mod lines;
mod msprod;
mod msr;
mod spc;
mod tencent;

use std::str::FromStr;

use super::{Problems, Record, TraceError};

pub use block_events::Event;
pub use detect::{HEAD_BYTES, detect};
pub use fields::Fault;
pub use iolog::WaitUnit;
pub use lines::{BoxedInput, LineSource};

/// A format of trace files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ssdlab's own columnar file.
    Trace,
    /// fio's I/O log, version 2 or 3.
    Iolog,
    /// Binary output of blktrace, version 7 or 8.
    Blktrace,
    /// Text output of blkparse.
    Blkparse,
    /// MSR Cambridge CSV.
    Msr,
    /// Florida International University.
    Fiu,
    /// Storage Performance Council, used by UMass.
    Spc,
    /// Tencent cloud block storage CSV.
    Tencent,
    /// Alibaba cloud block storage CSV.
    Alibaba,
    /// Microsoft production servers, Event Tracing for Windows as CSV.
    MsProduction,
    /// `DiskSim`'s ASCII traces, time in ms.
    DiskSim,
    /// `MQSim`'s ASCII traces, time in ns.
    MqSim,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 12] = [
        Self::Trace,
        Self::Iolog,
        Self::Blktrace,
        Self::Blkparse,
        Self::Msr,
        Self::Fiu,
        Self::Spc,
        Self::Tencent,
        Self::Alibaba,
        Self::MsProduction,
        Self::DiskSim,
        Self::MqSim,
    ];

    /// The word on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Iolog => "iolog",
            Self::Blktrace => "blktrace",
            Self::Blkparse => "blkparse",
            Self::Msr => "msr",
            Self::Fiu => "fiu",
            Self::Spc => "spc",
            Self::Tencent => "tencent",
            Self::Alibaba => "alibaba",
            Self::MsProduction => "ms-production",
            Self::DiskSim => "disksim",
            Self::MqSim => "mqsim",
        }
    }

    /// Refuses a choice that this format does not leave; `what` names the trace.
    ///
    /// # Errors
    /// [`TraceError::Usage`] with the formats that leave it.
    pub fn check(self, options: &FormatOptions, what: &str) -> Result<(), TraceError> {
        let is_block_trace = matches!(self, Self::Blktrace | Self::Blkparse);
        let (flag, formats) = match options {
            FormatOptions { event: Some(_), .. } if !is_block_trace => {
                ("--event", "blktrace and blkparse")
            }
            FormatOptions { wait_unit: Some(_), .. } if self != Self::Iolog => {
                ("--wait-unit", "iolog")
            }
            _ => return Ok(()),
        };
        Err(TraceError::Usage(format!(
            "{flag} is for traces of the format {formats}, and {what} is one of the format {}; leave {flag} away",
            self.name()
        )))
    }

    /// The parser of a text format; `None` for the binary ones.
    #[must_use]
    pub fn lines(self, options: &FormatOptions) -> Option<Box<dyn LineFormat>> {
        Some(match self {
            Self::Trace | Self::Blktrace => return None,
            Self::Iolog => Box::new(iolog::Iolog::new(options.wait_unit.unwrap_or_default())),
            Self::Blkparse => Box::new(blkparse::Blkparse::new(options.event.unwrap_or_default())),
            Self::Msr => Box::new(msr::Msr),
            Self::Fiu => Box::new(fiu::Fiu),
            Self::Spc => Box::new(spc::Spc),
            Self::Tencent => Box::new(tencent::Tencent),
            Self::Alibaba => Box::new(alibaba::Alibaba),
            Self::MsProduction => Box::new(msprod::MsProduction::default()),
            Self::DiskSim => Box::new(disksim::DiskSim::MILLISECONDS),
            Self::MqSim => Box::new(disksim::DiskSim::NANOSECONDS),
        })
    }
}

impl FromStr for Format {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            TraceError::Usage(format!("there is no trace format `{text}`; known are {names}"))
        })
    }
}

/// What a format leaves to the reader's choice; `None` is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatOptions {
    /// What a `wait` of fio's version 2 means.
    pub wait_unit: Option<WaitUnit>,
    /// Which event of a block trace is an I/O.
    pub event: Option<Event>,
}

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
