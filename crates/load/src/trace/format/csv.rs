//! Any file with one line per I/O; the command line names its columns ([`CsvSpec`]).

pub(super) mod spec;
#[cfg(test)]
mod tests;

use base::OpKind;

use super::about::{About, Reader, Signs};
use super::parts::fields::{FieldFault, io, number, number_u32};
use super::parts::names::Names;
use super::parts::time::TimeUnit;
use super::raw::{LineContent, LineFormat, Raw};

use spec::{ColumnPlace, CsvSpec, TimeColumn, Times};

pub(super) static FORMAT: About =
    About::new("csv", Signs::Nothing, Reader::Columns(|spec| Box::new(Csv::new(spec))));

/// Columns of a line that the reader examines; one beyond is missing.
const COLUMNS_MAX: usize = 1024;

/// The number of each column, known after the header.
#[derive(Clone, Copy)]
struct Columns {
    times: Times<(TimeUnit, usize)>,
    op: usize,
    offset: usize,
    length: usize,
    stream: Option<usize>,
}

impl Columns {
    /// Finds the named columns in `header`.
    fn find(spec: &CsvSpec, header: &[&[u8]]) -> Result<Self, FieldFault> {
        let find = |place: &ColumnPlace| match place {
            ColumnPlace::Number(number) => Ok(*number),
            ColumnPlace::Name(name) => {
                let found = header.iter().position(|field| *field == name.as_bytes());
                let expected = format!("one with the column `{name}` that --from names");
                found.ok_or_else(|| {
                    FieldFault::new("the header", expected, &header.join(&spec.delimiter))
                })
            }
        };
        Ok(Self {
            times: spec.times.map(|TimeColumn { place, unit }| Ok((*unit, find(place)?)))?,
            op: find(&spec.op)?,
            offset: find(&spec.offset.place)?,
            length: find(&spec.length.place)?,
            stream: spec.stream.as_ref().map(|column| find(&column.place)).transpose()?,
        })
    }
}

struct Csv {
    spec: CsvSpec,
    columns: Option<Columns>,
    names: Names,
}

impl Csv {
    fn new(spec: CsvSpec) -> Self {
        Self { spec, columns: None, names: Names::default() }
    }

    fn op(&self, text: &[u8]) -> Result<OpKind, FieldFault> {
        let known =
            self.spec.words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word.as_bytes()));
        known.map(|&(_, op)| op).ok_or_else(|| {
            let words: Vec<_> = self.spec.words.iter().map(|(word, _)| word.as_str()).collect();
            let expected = format!("one of {} (--from csv:op=WORD:KIND|...)", words.join(", "));
            FieldFault::new("the operation", expected, text)
        })
    }

    fn stream(&mut self, text: &[u8]) -> Result<u32, FieldFault> {
        if !self.spec.stream.as_ref().is_some_and(|stream| stream.names) {
            return number_u32(text, "the stream");
        }
        if text.is_empty() {
            return Err(FieldFault::new("the stream", "a name", text));
        }
        Ok(self.names.number(text))
    }

    fn raw(&mut self, columns: Columns, fields: &[&[u8]]) -> Result<Raw, FieldFault> {
        let field = |number: usize| fields.get(number).copied().unwrap_or_default();
        let spec = &self.spec;
        let (issue_ns, service_ns) = times_ns(&columns.times, field)?;
        let op = self.op(field(columns.op))?;
        let (offset, length) = (field(columns.offset), field(columns.length));
        let (bytes, len) = if op == OpKind::Flush {
            (0, 0)
        } else {
            (
                number(offset, "the offset")?.saturating_mul(spec.offset.unit_bytes),
                number(length, "the length")?.saturating_mul(spec.length.unit_bytes),
            )
        };
        let mut record = io(issue_ns, op, (bytes, offset), (len, length))?;
        if let Some(at) = columns.stream {
            record.stream = self.stream(field(at))?;
        }
        Ok(Raw { record, service_ns: service_ns.filter(|&ns| ns > 0) })
    }
}

/// Issue, and time to the end if it was seen: its field is empty otherwise.
fn times_ns<'a>(
    times: &Times<(TimeUnit, usize)>,
    field: impl Fn(usize) -> &'a [u8],
) -> Result<(u64, Option<u64>), FieldFault> {
    let point_ns = |&(unit, at): &(TimeUnit, usize), name| unit.point_ns(field(at), name);
    let response_ns =
        |&(unit, at): &(TimeUnit, usize)| unit.length_ns(field(at), "the response time");
    let is_empty = |&(_, at): &(TimeUnit, usize)| field(at).is_empty();
    Ok(match times {
        Times::Issue(issue, response) => {
            let response = response.as_ref().filter(|response| !is_empty(response));
            (point_ns(issue, "the time")?, response.map(response_ns).transpose()?)
        }
        Times::Both(issue, end) if is_empty(end) => (point_ns(issue, "the time")?, None),
        Times::Both(issue, end) => {
            let issue_ns = point_ns(issue, "the time")?;
            let service_ns = point_ns(end, "the time of the end")?.checked_sub(issue_ns);
            let early = || {
                FieldFault::new("the time of the end", "one after the time of issue", field(end.1))
            };
            (issue_ns, Some(service_ns.ok_or_else(early)?))
        }
        Times::End(end, response) => {
            let service_ns = response_ns(response)?;
            let issue_ns = point_ns(end, "the time of the end")?.checked_sub(service_ns);
            let early = || {
                FieldFault::new(
                    "the response time",
                    "one no longer than the clock",
                    field(response.1),
                )
            };
            (issue_ns.ok_or_else(early)?, Some(service_ns))
        }
    })
}

impl LineFormat for Csv {
    fn parse(&mut self, line: &[u8]) -> Result<LineContent, FieldFault> {
        let fields: Vec<&[u8]> = QuotedFields { rest: Some(line), delimiter: self.spec.delimiter }
            .take(COLUMNS_MAX)
            .collect();
        let Some(columns) = self.columns else {
            let columns = Columns::find(&self.spec, &fields)?;
            self.columns = Some(columns);
            return if self.spec.header {
                Ok(LineContent::Other)
            } else {
                self.raw(columns, &fields).map(LineContent::Io)
            };
        };
        self.raw(columns, &fields).map(LineContent::Io)
    }

    fn stream_names(&self) -> Vec<String> {
        self.names.list()
    }
}

/// The fields of a line; a delimiter between quotation marks is part of its field.
struct QuotedFields<'a> {
    rest: Option<&'a [u8]>,
    delimiter: u8,
}

impl<'a> Iterator for QuotedFields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        // Runs of blanks are one delimiter.
        let rest = if self.delimiter == b' ' { rest.trim_ascii_start() } else { rest };
        let mut inside = false;
        let end = rest.iter().position(|&byte| {
            inside ^= byte == b'"';
            byte == self.delimiter && !inside
        });
        let field = end.map_or(rest, |end| &rest[..end]);
        self.rest = end.map(|end| &rest[end + 1..]);
        let field = field.trim_ascii();
        let unquoted = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
        Some(unquoted.unwrap_or(field))
    }
}
