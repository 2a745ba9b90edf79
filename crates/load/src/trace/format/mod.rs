//! Trace files of others: one file a format, found out by their content.
//!
//! A text format is a [`LineFormat`]: one line in, one I/O (or nothing, or a fault) out. A new one is a file, a
//! variant of [`Format`] and its arms here.

mod csv;
mod detect;
pub(in crate::trace) mod parts;
pub mod sets;
pub mod tools;

use std::str::FromStr;

use super::streams::Addresses;
use super::{Problems, Record, TraceError};

pub use csv::CsvSpec;
pub use detect::{HEAD_BYTES, detect};
pub use parts::fields::Fault;
pub use parts::lines::{BoxedInput, LineSource};
pub use parts::time::TimeUnit;
pub use tools::block_events::Event;
pub use tools::iolog::WaitUnit;

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
    /// Virtual desktops of SYSTOR '17, CSV.
    Systor,
    /// Binary command traces of VMware's vscsiStats, as the CloudPhysics set has them.
    Vscsi,
    /// The same as text.
    VscsiText,
    /// Any other CSV file, whose columns are told ([`CsvSpec`]).
    Csv,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 16] = [
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
        Self::Systor,
        Self::Vscsi,
        Self::VscsiText,
        Self::Csv,
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
            Self::Systor => "systor17",
            Self::Vscsi => "vscsi",
            Self::VscsiText => "vscsi-text",
            Self::Csv => "csv",
        }
    }

    /// The unit in which it counts times by its definition; `None` if a file says itself, or cannot be told another.
    #[must_use]
    pub const fn time_unit(self) -> Option<TimeUnit> {
        match self {
            Self::Msr => Some(TimeUnit::FileTime),
            Self::Spc | Self::Tencent | Self::Systor => Some(TimeUnit::Seconds),
            Self::Alibaba | Self::VscsiText => Some(TimeUnit::Microseconds),
            Self::DiskSim => Some(TimeUnit::Milliseconds),
            Self::Fiu | Self::MqSim => Some(TimeUnit::Nanoseconds),
            Self::Trace
            | Self::Iolog
            | Self::Blktrace
            | Self::Blkparse
            | Self::MsProduction
            | Self::Vscsi
            | Self::Csv => None,
        }
    }

    /// The unit in which the times of a file are read; `None` if it leaves no choice.
    pub(super) fn unit(self, options: &FormatOptions) -> Option<TimeUnit> {
        let told = options.csv.as_ref().map(CsvSpec::time_unit);
        options.time_unit.or(told).or(self.time_unit())
    }

    /// Which addresses its streams have: those of disks, volumes and files are their own.
    pub(super) fn addresses(self, options: &FormatOptions) -> Addresses {
        match self {
            Self::Iolog
            | Self::Msr
            | Self::Spc
            | Self::Tencent
            | Self::Alibaba
            | Self::MsProduction
            | Self::DiskSim
            | Self::MqSim
            | Self::Systor => Addresses::OfEach,
            Self::Csv => options.csv.as_ref().map_or(Addresses::Shared, CsvSpec::addresses),
            Self::Trace
            | Self::Blktrace
            | Self::Blkparse
            | Self::Fiu
            | Self::Vscsi
            | Self::VscsiText => Addresses::Shared,
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
                ("--event", "blktrace and blkparse".to_owned())
            }
            FormatOptions { wait_unit: Some(_), .. } if self != Self::Iolog => {
                ("--wait-unit", "iolog".to_owned())
            }
            FormatOptions { time_unit: Some(_), .. } if self == Self::Csv => {
                return Err(TraceError::Usage(
                    "--time-unit does not go with --from csv:..., which tells the unit itself (time=UNIT)".to_owned(),
                ));
            }
            FormatOptions { time_unit: Some(_), .. } if self.time_unit().is_none() => {
                let with_unit = Self::ALL.into_iter().filter(|format| format.time_unit().is_some());
                ("--time-unit", with_unit.map(Self::name).collect::<Vec<_>>().join(", "))
            }
            _ => return Ok(()),
        };
        Err(TraceError::Usage(format!(
            "{flag} is for traces of the format {formats}, and {what} is one of the format {}; leave {flag} away",
            self.name()
        )))
    }

    /// The parser of a text format; `None` for the binary ones, and for CSV whose columns are not told.
    #[must_use]
    pub fn lines(self, options: &FormatOptions) -> Option<Box<dyn LineFormat>> {
        let unit = self.unit(options).unwrap_or(TimeUnit::Nanoseconds);
        Some(match self {
            Self::Trace | Self::Blktrace | Self::Vscsi => return None,
            Self::Iolog => {
                Box::new(tools::iolog::Iolog::new(options.wait_unit.unwrap_or_default()))
            }
            Self::Blkparse => {
                Box::new(tools::blkparse::Blkparse::new(options.event.unwrap_or_default()))
            }
            Self::Msr => Box::new(sets::msr::Msr { unit }),
            Self::Fiu => Box::new(sets::fiu::Fiu { unit }),
            Self::Spc => Box::new(sets::spc::Spc { unit }),
            Self::Tencent => Box::new(sets::tencent::Tencent { unit }),
            Self::Alibaba => Box::new(sets::alibaba::Alibaba { unit }),
            Self::MsProduction => Box::new(sets::ms_production::MsProduction::default()),
            Self::DiskSim | Self::MqSim => Box::new(sets::disksim::DiskSim { unit }),
            Self::Systor => Box::new(sets::systor::Systor { unit }),
            Self::VscsiText => Box::new(sets::vscsi_text::VscsiText { unit }),
            Self::Csv => Box::new(csv::Csv::new(options.csv.clone()?)),
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormatOptions {
    /// What a `wait` of fio's version 2 means.
    pub wait_unit: Option<WaitUnit>,
    /// Which event of a block trace is an I/O.
    pub event: Option<Event>,
    /// The unit of times, where a file does not keep to its format.
    pub time_unit: Option<TimeUnit>,
    /// The columns of a CSV file.
    pub csv: Option<CsvSpec>,
}

/// A format as the command line names it: its name, or `csv:...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFormat {
    /// The format.
    pub format: Format,
    /// The columns of a CSV file; `None` if it is another format.
    pub csv: Option<CsvSpec>,
}

impl FromStr for NamedFormat {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        if text.starts_with("csv:") {
            return Ok(Self { format: Format::Csv, csv: Some(text.parse()?) });
        }
        let format: Format = text.parse()?;
        if format == Format::Csv {
            return Err(TraceError::Usage(
                "csv needs its columns, in their order, such as csv:time=us,op,offset=sectors,length=bytes (`-` for a \
                 column that is not wanted; docs/formats/trace.md)"
                    .to_owned(),
            ));
        }
        Ok(Self { format, csv: None })
    }
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
