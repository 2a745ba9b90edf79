//! All that is to be known about a format, declared by its own file.

use super::csv::CsvSpec;
use super::options::FormatOptions;
use super::parts::time::TimeUnit;
use super::raw::{LineFormat, RawSource};
use crate::trace::input::Input;
use crate::trace::{Addresses, Source, TraceError};

/// A format of trace files.
pub(crate) struct About {
    /// The word on the command line.
    pub(crate) name: &'static str,
    /// The unit in which it counts times by its definition, or `None` if a file says itself or leaves no other.
    pub(crate) time_unit: Option<TimeUnit>,
    /// The addresses of its streams: those of disks, volumes and files are their own.
    pub(crate) addresses: Addresses,
    /// Whether it holds events of the Linux block layer, one of which is the I/O by choice.
    pub(crate) has_events: bool,
    /// Whether it holds waits, whose unit is a choice.
    pub(crate) has_waits: bool,
    /// The signs by which its files are found out.
    pub(crate) signs: Signs,
    /// The way from a file to its I/Os.
    pub(crate) reader: Reader,
}

/// The signs of a format in the first bytes of a file, from the surest to none.
pub(crate) enum Signs {
    /// A magic number.
    Magic(fn(&[u8]) -> bool),
    /// Binary records that agree with each other; packed bytes may look like them.
    Records(fn(&[u8]) -> bool),
    /// More lines that its parser reads than those of any other format, if this holds as well.
    Lines(fn(&[u8]) -> bool),
    /// Nothing: the user names the format.
    Nothing,
}

/// A source of I/Os, and the name of what it reads.
pub(crate) type NamedSource = (Box<dyn RawSource>, String);

/// The way from a file to its I/Os.
pub(crate) enum Reader {
    /// A parser of lines, with the unit of their times.
    Lines(fn(&FormatOptions, TimeUnit) -> Box<dyn LineFormat>),
    /// A parser of lines whose columns the user tells.
    Columns(fn(CsvSpec) -> Box<dyn LineFormat>),
    /// A reader of binary I/Os.
    Raw(fn(Input, &FormatOptions) -> Result<NamedSource, TraceError>),
    /// A reader of records that are in order.
    Ordered(fn(Input) -> Result<Box<dyn Source>, TraceError>),
}

impl About {
    /// A format that leaves no choice, whose streams share their addresses.
    pub(crate) const fn new(name: &'static str, signs: Signs, reader: Reader) -> Self {
        Self {
            name,
            time_unit: None,
            addresses: Addresses::Shared,
            has_events: false,
            has_waits: false,
            signs,
            reader,
        }
    }

    /// The same of lines.
    pub(crate) const fn of_lines(
        name: &'static str,
        parser: fn(&FormatOptions, TimeUnit) -> Box<dyn LineFormat>,
    ) -> Self {
        Self::new(name, Signs::Lines(|_| true), Reader::Lines(parser))
    }
}
