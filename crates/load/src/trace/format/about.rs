//! The description of a format, declared by its own file.

use super::csv::spec::CsvSpec;
use super::options::FormatOptions;
use super::parts::fields::FieldFault;
use super::parts::time::TimeUnit;
use super::raw::{LineContent, LineFormat, RawSource};
use crate::trace::input::Input;
use crate::trace::{Addresses, Source, TraceError};

/// A format of trace files.
pub(crate) struct About {
    /// The word on the command line.
    pub(crate) name: &'static str,
    /// The unit of its times by definition, or `None` if the file states it or there is no other.
    pub(crate) time_unit: Option<TimeUnit>,
    /// The unit of times without a choice that may be a counter of 32 bits, or `None` if they are
    /// none.
    pub(crate) counter: Option<TimeUnit>,
    /// Relation of its streams to addresses: disks, volumes and files have their own.
    pub(crate) addresses: Addresses,
    /// Whether it has events of the Linux block layer, one kind of which counts as the I/O.
    pub(crate) has_events: bool,
    /// Whether it has waits, whose unit is a choice.
    pub(crate) has_waits: bool,
    /// The signs of its files for detection.
    pub(crate) signs: Signs,
    /// The conversion of a file to I/Os.
    pub(crate) reader: Reader,
}

/// The signs of a format in the first bytes of a file, from the surest to none.
pub(crate) enum Signs {
    /// A magic number.
    Magic(fn(&[u8]) -> bool),
    /// Binary records that agree with each other; packed bytes may look like them.
    Records(fn(&[u8]) -> bool),
    /// More lines that its parser reads than any other parser, if this condition holds as well.
    Lines(fn(&[u8]) -> bool),
    /// Nothing: the user names the format.
    Nothing,
}

/// A source of I/Os, and the name of its input.
pub(crate) type NamedSource = (Box<dyn RawSource>, String);

/// A parser of single lines, with the unit of their times.
pub(crate) type LineParser = fn(&[u8], TimeUnit) -> Result<LineContent, FieldFault>;

/// The conversion of a file to I/Os.
pub(crate) enum Reader {
    /// A parser of lines, with the unit of their times.
    Lines(fn(&FormatOptions, TimeUnit) -> Box<dyn LineFormat>),
    /// A parser of lines that remembers nothing.
    Parser(LineParser),
    /// A parser of lines whose columns the user names.
    Columns(fn(CsvSpec) -> Box<dyn LineFormat>),
    /// A reader of binary I/Os.
    Raw(fn(Input, &FormatOptions) -> Result<NamedSource, TraceError>),
    /// A reader of records that are in order.
    Ordered(fn(Input) -> Result<Box<dyn Source>, TraceError>),
}

impl About {
    /// A format without choices, whose streams share their addresses.
    pub(crate) const fn new(name: &'static str, signs: Signs, reader: Reader) -> Self {
        Self {
            name,
            time_unit: None,
            counter: None,
            addresses: Addresses::Shared,
            has_events: false,
            has_waits: false,
            signs,
            reader,
        }
    }

    /// A text format whose lines do not depend on each other.
    pub(crate) const fn of_parser(name: &'static str, parser: LineParser) -> Self {
        Self::new(name, Signs::Lines(|_| true), Reader::Parser(parser))
    }

    /// A text format, read line by line.
    pub(crate) const fn of_lines(
        name: &'static str,
        parser: fn(&FormatOptions, TimeUnit) -> Box<dyn LineFormat>,
    ) -> Self {
        Self::new(name, Signs::Lines(|_| true), Reader::Lines(parser))
    }
}
