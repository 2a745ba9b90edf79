//! Trace files of other tools: one file per format, recognised by content.
//!
//! The file of a format declares its description (`about.rs`): name, unit of time, addresses,
//! choices, signs and reader. A new format is a file in `tools/` or `sets/` and an entry in the
//! list there. Most formats are a [`LineFormat`]: one line in, one I/O (or nothing, or a fault)
//! out.

mod about;
mod csv;
mod detect;
mod options;
pub(in crate::trace) mod parts;
mod raw;
mod sets;
mod tools;

use std::fmt;
use std::io::Cursor;
use std::str::FromStr;

use super::{Addresses, TraceError};
use about::About;

pub use super::input::{BoxedInput, HEAD_BYTES};
pub(in crate::trace) use about::Reader;
pub use csv::spec::CsvSpec;
pub use detect::detect;
pub use options::{Event, FormatOptions, WaitUnit};
pub use parts::fields::FieldFault;
pub use parts::lines::LineSource;
pub use parts::time::TimeUnit;
pub use raw::{LineContent, LineFormat, Raw, RawSource};
pub use sets::VscsiSource;
pub use tools::BlktraceSource;

/// A format of trace files.
#[derive(Clone, Copy)]
pub struct Format(&'static About);

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Format {
    /// Every format.
    pub fn all() -> impl Iterator<Item = Self> {
        tools::FORMATS.into_iter().chain(sets::FORMATS).chain([&csv::FORMAT]).map(Self)
    }

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Whether the user must name its columns ([`CsvSpec`]).
    pub fn needs_columns(self) -> bool {
        matches!(self.0.reader, Reader::Columns(_))
    }

    /// The unit for the times of a file, or `None` if there is no choice.
    pub(super) fn time_unit(self, options: &FormatOptions) -> Option<TimeUnit> {
        let told = options.csv.as_ref().map(CsvSpec::time_unit);
        options.time_unit.or(told).or(self.0.time_unit)
    }

    /// Length of a step of its clock in ns if that may be a counter of 32 bits, or `None` if it is
    /// none: seconds, dates and ticks since 1601 need more bits.
    pub(super) fn counter_ns(self, options: &FormatOptions) -> Option<u64> {
        let unit = self.time_unit(options).or(self.0.counter)?;
        let is_counter =
            matches!(unit, TimeUnit::Nanoseconds | TimeUnit::Microseconds | TimeUnit::Milliseconds);
        unit.unit_ns().filter(|_| is_counter)
    }

    /// Whether a block trace that begins with `head` has events of issue and none of queueing.
    pub(super) fn has_only_issues(self, head: &[u8]) -> bool {
        let has = |event| {
            let options = FormatOptions { event: Some(event), ..FormatOptions::default() };
            let head = Box::new(Cursor::new(head.to_vec()));
            let raw: Option<Box<dyn RawSource>> = match (self.lines(&options), &self.0.reader) {
                (Some(parser), _) => Some(Box::new(LineSource::new(head, "", parser))),
                (None, Reader::Raw(_)) => {
                    let source = BlktraceSource::new(vec![(String::new(), head)], event);
                    source.ok().map(|source| Box::new(source) as Box<dyn RawSource>)
                }
                _ => None,
            };
            raw.is_some_and(|mut raw| matches!(raw.next_raw(), Ok(Some(_))))
        };
        self.0.has_events && has(Event::Issue) && !has(Event::Queue)
    }

    /// Relation of its streams to addresses.
    pub(super) fn addresses(self, options: &FormatOptions) -> Addresses {
        options.csv.as_ref().map_or(self.0.addresses, CsvSpec::addresses)
    }

    /// The conversion of a file to I/Os.
    pub(super) fn reader(self) -> &'static Reader {
        &self.0.reader
    }

    /// Refuses an option that this format does not have; `what` names the trace.
    ///
    /// # Errors
    /// [`TraceError::Usage`] with the formats that have it.
    pub fn check(self, options: &FormatOptions, what: &str) -> Result<(), TraceError> {
        let FormatOptions { event, wait_unit, time_unit, .. } = options;
        let leaves_event = |about: &About| about.has_events;
        let leaves_wait_unit = |about: &About| about.has_waits;
        let leaves_time_unit = |about: &About| about.time_unit.is_some();
        self.check_choice("--event", event.is_some(), leaves_event, what)?;
        self.check_choice("--wait-unit", wait_unit.is_some(), leaves_wait_unit, what)?;
        if time_unit.is_some() && self.needs_columns() {
            return Err(TraceError::Usage(
                "--time-unit does not go with --from csv:..., which tells the unit itself (time=UNIT)".to_owned(),
            ));
        }
        self.check_choice("--time-unit", time_unit.is_some(), leaves_time_unit, what)
    }

    fn check_choice(
        self,
        flag: &str,
        is_made: bool,
        is_left: fn(&About) -> bool,
        what: &str,
    ) -> Result<(), TraceError> {
        if !is_made || is_left(self.0) {
            return Ok(());
        }
        let formats: Vec<_> =
            Self::all().filter(|format| is_left(format.0)).map(Self::name).collect();
        let formats = formats.join(if formats.len() == 2 { " and " } else { ", " });
        Err(TraceError::Usage(format!(
            "{flag} is for traces of the format {formats}, and {what} is one of the format {}; leave {flag} away",
            self.name()
        )))
    }

    /// The parser of a text format, or `None` if the format is binary, or the user named no
    /// columns.
    pub fn lines(self, options: &FormatOptions) -> Option<Box<dyn LineFormat>> {
        let unit = self.time_unit(options).unwrap_or(TimeUnit::Nanoseconds);
        match self.0.reader {
            Reader::Lines(parser) => Some(parser(options, unit)),
            Reader::Parser(parser) => Some(Box::new(move |line: &[u8]| parser(line, unit))),
            Reader::Columns(parser) => Some(parser(options.csv.clone()?)),
            Reader::Raw(_) | Reader::Ordered(_) => None,
        }
    }
}

impl FromStr for Format {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        Self::all().find(|format| format.name() == text).ok_or_else(|| {
            TraceError::Usage(format!("there is no trace format `{text}`; known are {}", names()))
        })
    }
}

/// The names of all formats.
fn names() -> String {
    Format::all().map(Format::name).collect::<Vec<_>>().join(", ")
}

/// A format in the form of the command line: its name, or `csv:...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFormat {
    pub format: Format,
    /// The columns of a CSV file, or `None` if it is another format.
    pub csv: Option<CsvSpec>,
}

impl FromStr for NamedFormat {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        if text.starts_with(csv::spec::PREFIX) {
            return Ok(Self { format: Format(&csv::FORMAT), csv: Some(text.parse()?) });
        }
        let format: Format = text.parse()?;
        if format.needs_columns() {
            return Err(TraceError::Usage(
                "csv needs its columns, in their order, such as csv:time=us,op,offset=sectors,length=bytes (`-` for a \
                 column that is not wanted; docs/reference/formats/trace.md)"
                    .to_owned(),
            ));
        }
        Ok(Self { format, csv: None })
    }
}
