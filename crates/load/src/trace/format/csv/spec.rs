//! The meaning of the columns of a CSV file, from the command line.
//!
//! ```text
//! csv:ENTRY,ENTRY,...
//! ENTRY  = COLUMN[@PLACE] | - | delimiter=NAME | header=yes|no
//! COLUMN = time=UNIT | time-end=UNIT | op[=WORD:KIND|...] | offset=UNIT | length=UNIT
//!        | response=UNIT | volume[=names] | process[=names]
//! ```
//!
//! The entries have the order of the columns, `-` skips one; `@3` (counted from 1) or `@lba` (by
//! the name in the first line) selects another column.

use std::str::FromStr;

use base::{Bytes, OpKind};

use crate::trace::TraceError;
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::streams::Addresses;

/// Start of the argument that describes a CSV file.
pub(crate) const PREFIX: &str = "csv:";

/// The place of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ColumnPlace {
    /// Its number from 0.
    Number(usize),
    /// Its name in the first line.
    Name(String),
}

/// A column with numbers, and the size of one in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SizeColumn {
    pub(super) place: ColumnPlace,
    pub(super) unit_bytes: u64,
}

/// A column with times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimeColumn {
    pub(super) place: ColumnPlace,
    pub(super) unit: TimeUnit,
}

/// The column that distinguishes streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StreamColumn {
    pub(super) place: ColumnPlace,
    /// Whether it contains words instead of numbers.
    pub(super) names: bool,
    /// Whether each stream has its own addresses.
    pub(super) addresses: Addresses,
}

/// The columns that tell when an I/O was issued and when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times<C> {
    /// The issue, and the time to the end if the file tells.
    Issue(C, Option<C>),
    /// The issue and the end.
    Both(C, C),
    /// The end, and the time to it.
    End(C, C),
}

impl<C> Times<C> {
    /// The first column.
    pub(super) const fn first(&self) -> &C {
        match self {
            Self::Issue(first, _) | Self::Both(first, _) | Self::End(first, _) => first,
        }
    }

    /// The second one, or `None` if there is none.
    const fn second(&self) -> Option<&C> {
        match self {
            Self::Issue(_, second) => second.as_ref(),
            Self::Both(_, second) | Self::End(_, second) => Some(second),
        }
    }

    /// The same with other columns.
    ///
    /// # Errors
    /// The first of `other`.
    pub(super) fn map<D, E>(&self, other: impl Fn(&C) -> Result<D, E>) -> Result<Times<D>, E> {
        Ok(match self {
            Self::Issue(issue, response) => {
                Times::Issue(other(issue)?, response.as_ref().map(other).transpose()?)
            }
            Self::Both(issue, end) => Times::Both(other(issue)?, other(end)?),
            Self::End(end, response) => Times::End(other(end)?, other(response)?),
        })
    }
}

/// The columns of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvSpec {
    pub(super) times: Times<TimeColumn>,
    pub(super) op: ColumnPlace,
    /// The words of the column `op` and their meanings; lower case.
    pub(super) words: Vec<(String, OpKind)>,
    pub(super) offset: SizeColumn,
    pub(super) length: SizeColumn,
    pub(super) stream: Option<StreamColumn>,
    pub(super) delimiter: u8,
    pub(super) header: bool,
}

/// Words with a default meaning.
const WORDS: [(&str, OpKind); 16] = [
    ("r", OpKind::Read),
    ("rd", OpKind::Read),
    ("rs", OpKind::Read),
    ("read", OpKind::Read),
    ("w", OpKind::Write),
    ("wr", OpKind::Write),
    ("ws", OpKind::Write),
    ("write", OpKind::Write),
    ("f", OpKind::Flush),
    ("flush", OpKind::Flush),
    ("sync", OpKind::Flush),
    ("d", OpKind::Deallocate),
    ("discard", OpKind::Deallocate),
    ("trim", OpKind::Deallocate),
    ("unmap", OpKind::Deallocate),
    ("deallocate", OpKind::Deallocate),
];

/// A CSV file during the parse, entry by entry.
#[derive(Default)]
struct Draft {
    time: Option<TimeColumn>,
    time_end: Option<TimeColumn>,
    op: Option<ColumnPlace>,
    words: Vec<(String, OpKind)>,
    offset: Option<SizeColumn>,
    length: Option<SizeColumn>,
    response: Option<TimeColumn>,
    stream: Option<StreamColumn>,
    delimiter: Option<u8>,
    header: Option<bool>,
}

fn wrong(entry: &str, expected: &str) -> TraceError {
    TraceError::Usage(format!("--from {PREFIX}...: `{entry}`: expected {expected}"))
}

fn size(entry: &str, unit: &str) -> Result<u64, TraceError> {
    let bytes = match unit {
        "bytes" => Some(1),
        "sectors" => Some(512),
        "KiB" => Some(1 << 10),
        "MiB" => Some(1 << 20),
        _ => unit
            .parse::<Bytes>()
            .ok()
            .map(|bytes| bytes.0)
            .filter(|bytes| (1..=1 << 30).contains(bytes)),
    };
    let expected = "a unit after `=`: bytes, sectors (512 bytes), KiB, MiB, or the size of a block such as 4KiB";
    bytes.ok_or_else(|| wrong(entry, expected))
}

fn time_unit(entry: &str, unit: &str) -> Result<TimeUnit, TraceError> {
    let names = TimeUnit::ALL.map(TimeUnit::name).join(", ");
    unit.parse().map_err(|_| wrong(entry, &format!("a unit of time after `=`: {names}")))
}

fn words(entry: &str, value: &str) -> Result<Vec<(String, OpKind)>, TraceError> {
    let pairs = value.split('|').map(|pair| {
        let (word, kind) = pair.split_once(':')?;
        let &(_, kind) = WORDS.iter().find(|(name, _)| *name == kind)?;
        Some((word.to_lowercase(), kind)).filter(|(word, _)| !word.is_empty())
    });
    let expected = "WORD:KIND with a KIND of read, write, flush or deallocate, more of them after `|`, such as \
                    op=0:read|1:write";
    pairs.collect::<Option<_>>().ok_or_else(|| wrong(entry, expected))
}

fn place(entry: &str, text: &str) -> Result<ColumnPlace, TraceError> {
    match text.parse::<usize>() {
        Ok(0) => Err(wrong(entry, "columns counted from 1 after `@`")),
        Ok(number) => Ok(ColumnPlace::Number(number - 1)),
        Err(_) if text.is_empty() => {
            Err(wrong(entry, "the number or the name of a column after `@`"))
        }
        Err(_) => Ok(ColumnPlace::Name(text.to_owned())),
    }
}

fn delimiter(entry: &str, name: &str) -> Result<u8, TraceError> {
    match (name, name.as_bytes()) {
        ("comma", _) => Ok(b','),
        ("semicolon", _) => Ok(b';'),
        ("tab", _) => Ok(b'\t'),
        ("space", _) => Ok(b' '),
        (_, &[byte]) if byte.is_ascii_punctuation() && byte != b'"' => Ok(byte),
        _ => Err(wrong(entry, "comma, semicolon, tab, space or a single punctuation mark")),
    }
}

fn stream(
    entry: &str,
    value: &str,
    place: ColumnPlace,
    addresses: Addresses,
) -> Result<StreamColumn, TraceError> {
    match value {
        "" | "names" => Ok(StreamColumn { place, names: value == "names", addresses }),
        _ => Err(wrong(entry, "numbers (no `=`) or words (`=names`)")),
    }
}

/// Sets a value that is not set yet.
fn put<T>(slot: &mut Option<T>, entry: &str, value: T) -> Result<(), TraceError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(wrong(entry, "each key once (volume and process exclude each other)")),
    }
}

impl Draft {
    /// Adds an entry; `column` is the number of its column unless it names another.
    fn take(&mut self, entry: &str, column: &mut usize) -> Result<(), TraceError> {
        let (told, at) = entry.split_once('@').map_or((entry, None), |(told, at)| (told, Some(at)));
        let (key, value) = told.split_once('=').unwrap_or((told, ""));
        match key {
            "delimiter" => return put(&mut self.delimiter, entry, delimiter(entry, value)?),
            "header" => {
                let header = match value {
                    "yes" => true,
                    "no" => false,
                    _ => return Err(wrong(entry, "header=yes or header=no")),
                };
                return put(&mut self.header, entry, header);
            }
            _ => {}
        }
        let place = at.map_or(Ok(ColumnPlace::Number(*column)), |at| place(entry, at))?;
        *column += usize::from(at.is_none());
        match key {
            "-" => Ok(()),
            "time" => {
                put(&mut self.time, entry, TimeColumn { place, unit: time_unit(entry, value)? })
            }
            "time-end" => {
                put(&mut self.time_end, entry, TimeColumn { place, unit: time_unit(entry, value)? })
            }
            "response" => {
                put(&mut self.response, entry, TimeColumn { place, unit: time_unit(entry, value)? })
            }
            "offset" => {
                put(&mut self.offset, entry, SizeColumn { place, unit_bytes: size(entry, value)? })
            }
            "length" => {
                put(&mut self.length, entry, SizeColumn { place, unit_bytes: size(entry, value)? })
            }
            "op" => {
                if !value.is_empty() {
                    self.words = words(entry, value)?;
                }
                put(&mut self.op, entry, place)
            }
            "volume" => {
                put(&mut self.stream, entry, stream(entry, value, place, Addresses::OfEach)?)
            }
            "process" => {
                put(&mut self.stream, entry, stream(entry, value, place, Addresses::Shared)?)
            }
            _ => Err(wrong(
                entry,
                "time, op, offset, length, time-end, response, volume, process, - (a column that is passed over), delimiter \
                 or header",
            )),
        }
    }

    fn finish(self) -> Result<CsvSpec, TraceError> {
        let missing =
            |key: &str| wrong(key, "this column as well; time, op, offset and length are needed");
        let mut words = self.words;
        if words.is_empty() {
            words = WORDS.map(|(word, kind)| (word.to_owned(), kind)).to_vec();
        }
        let times = match (self.time, self.time_end, self.response) {
            (Some(time), None, response) => Times::Issue(time, response),
            (Some(time), Some(end), None) => Times::Both(time, end),
            (None, Some(end), Some(response)) => Times::End(end, response),
            (None, None, _) => return Err(missing("time")),
            (None, Some(_), None) => {
                return Err(wrong(
                    "time-end",
                    "the column time or response as well: an end alone tells no issue",
                ));
            }
            (Some(_), Some(_), Some(_)) => {
                return Err(wrong("response", "two of the columns time, time-end and response"));
            }
        };
        let spec = CsvSpec {
            times,
            op: self.op.ok_or_else(|| missing("op"))?,
            words,
            offset: self.offset.ok_or_else(|| missing("offset"))?,
            length: self.length.ok_or_else(|| missing("length"))?,
            stream: self.stream,
            delimiter: self.delimiter.unwrap_or(b','),
            header: self.header.unwrap_or(false),
        };
        let named = spec.places().any(|place| matches!(place, ColumnPlace::Name(_)));
        if named && self.header == Some(false) {
            return Err(wrong("header=no", "header=yes, since a column is told by its name"));
        }
        Ok(CsvSpec { header: spec.header || named, ..spec })
    }
}

impl CsvSpec {
    /// The places of its columns.
    fn places(&self) -> impl Iterator<Item = &ColumnPlace> {
        let second = self.times.second().map(|column| &column.place);
        let stream = self.stream.as_ref().map(|column| &column.place);
        [&self.times.first().place, &self.op, &self.offset.place, &self.length.place]
            .into_iter()
            .chain(second)
            .chain(stream)
    }

    /// The unit of its times.
    pub(in crate::trace) fn time_unit(&self) -> TimeUnit {
        self.times.first().unit
    }

    /// Relation of its streams to addresses.
    pub(in crate::trace) fn addresses(&self) -> Addresses {
        self.stream.as_ref().map_or(Addresses::Shared, |stream| stream.addresses)
    }
}

impl FromStr for CsvSpec {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        let (mut draft, mut column) = (Draft::default(), 0);
        let entries = text.strip_prefix(PREFIX).unwrap_or(text);
        for entry in entries.split(',') {
            draft.take(entry.trim(), &mut column)?;
        }
        draft.finish()
    }
}
