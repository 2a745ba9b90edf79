//! Command traces of VMware's vscsiStats in their binary form, versions 1 and 2, as the CloudPhysics set has them.
//!
//! Source: the reader of the set's publishers, which libmimircache and libCacheSim ship (`vscsi.h`), and Waldspurger
//! and others, FAST 2015. All numbers little-endian, without gaps:
//!
//! ```text
//! version 1, 32 bytes: u32 serial, u32 length, u32 scatter-gather entries, u16 command, u16 version, u64 LBN, u64 us
//! version 2, 40 bytes: u16 command, u16 version, u32 serial, u32 length, u32 entries, u64 LBN, u64 us, u64 response us
//! ```
//!
//! The high byte of `version` is the version, the low byte of `command` the SCSI command; lengths are bytes, an LBN
//! counts blocks of 512. Times are on a clock of the host. One file has one virtual disk.

use base::OpKind;

use crate::trace::format::about::{About, NamedSource, Reader, Signs};
use crate::trace::format::options::FormatOptions;
use crate::trace::format::parts::binary::BinaryInput;
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::{Raw, RawSource};
use crate::trace::input::{BoxedInput, Input};
use crate::trace::{Problems, Record, TraceError};

pub(super) static FORMAT: About = About {
    counter: Some(TimeUnit::Microseconds),
    ..About::new("vscsi", Signs::Records(|head| Layout::of(head).is_some()), Reader::Raw(open))
};

fn open(input: Input, _: &FormatOptions) -> Result<NamedSource, TraceError> {
    let source = VscsiSource::new(input.whole, &input.head, &input.what)?;
    Ok((Box::new(source), input.what))
}

/// The effect of a SCSI command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScsiCommand {
    /// An operation on data.
    Op(OpKind),
    /// No operation of a trace: an inquiry, a test, a deallocation without recorded ranges.
    Other,
}

/// The effect of the SCSI command of this number (SBC-4, table of commands).
pub(super) fn command(code: u8) -> ScsiCommand {
    match code {
        0x08 | 0x28 | 0xa8 | 0x88 => ScsiCommand::Op(OpKind::Read),
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => ScsiCommand::Op(OpKind::Write),
        0x35 | 0x91 => ScsiCommand::Op(OpKind::Flush),
        _ => ScsiCommand::Other,
    }
}

/// Places of the fields of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    bytes: usize,
    version: u8,
    /// Place of the command; the version follows it.
    command: usize,
    length: usize,
    lbn: usize,
    time: usize,
    response: Option<usize>,
}

const LAYOUTS: [Layout; 2] = [
    Layout { bytes: 40, version: 2, command: 0, length: 8, lbn: 16, time: 24, response: Some(32) },
    Layout { bytes: 32, version: 1, command: 12, length: 4, lbn: 16, time: 24, response: None },
];

/// Records that must agree for a file to count as this form.
const AGREEING_RECORDS: usize = 16;

impl Layout {
    /// The layout of a file with this start; `None` for any other file.
    fn of(head: &[u8]) -> Option<Self> {
        LAYOUTS.into_iter().find(|layout| {
            let mut records = head.chunks_exact(layout.bytes).take(AGREEING_RECORDS);
            head.len() >= layout.bytes && records.all(|record| layout.is_record(record))
        })
    }

    /// Whether these bytes are a record of this version, by their own statement.
    fn is_record(self, bytes: &[u8]) -> bool {
        bytes[self.command + 3] == self.version
    }

    /// The command of a record; `None` for one without a place in a trace.
    fn raw(self, bytes: &[u8]) -> Result<Option<Raw>, String> {
        let number = |at: usize, len: usize| {
            bytes[at..at + len].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
        };
        let ScsiCommand::Op(op) = command(bytes[self.command]) else { return Ok(None) };
        let (mut len, mut lbn) = (number(self.length, 4), number(self.lbn, 8));
        if op == OpKind::Flush {
            (len, lbn) = (0, 0);
        }
        let end = lbn.checked_mul(512).and_then(|offset| offset.checked_add(len));
        if end.is_none_or(|end| end > i64::MAX as u64) {
            return Err(format!("the LBN is {lbn}, expected one below 2^54"));
        }
        if len == 0 && op != OpKind::Flush {
            return Err("the length is 0, expected 1 byte to 4 GiB".to_owned());
        }
        let issue_ns = number(self.time, 8).saturating_mul(1000).min(i64::MAX as u64);
        let service_ns = self.response.map(|at| number(at, 8).saturating_mul(1000));
        let record = Record::new(issue_ns, op, lbn * 512, u32::try_from(len).unwrap_or(u32::MAX));
        Ok(Some(Raw { record, service_ns: service_ns.filter(|&ns| ns > 0) }))
    }
}

/// The commands of a binary file of vscsiStats.
pub struct VscsiSource {
    input: BinaryInput,
    /// `None` before the first record, and for a file without records.
    layout: Option<Layout>,
    problems: Problems,
}

impl VscsiSource {
    /// Reads a file of either version, recognised by `head`, its first bytes; `what` names it in
    /// errors.
    ///
    /// # Errors
    /// [`TraceError::Usage`] if it begins with a record of neither.
    pub fn new(input: BoxedInput, head: &[u8], what: &str) -> Result<Self, TraceError> {
        let layout = Layout::of(head);
        if layout.is_none() && !head.is_empty() {
            return Err(TraceError::Usage(format!(
                "{what} does not begin with a record of vscsiStats (version 1 or 2); leave --from away, and the \
                 format is found out"
            )));
        }
        let input = BinaryInput::new(what.to_owned(), input);
        Ok(Self { input, layout, problems: Problems::default() })
    }
}

impl RawSource for VscsiSource {
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        let Some(layout) = self.layout else { return Ok(None) };
        let mut buffer = [0; 40];
        loop {
            let (at, bytes) = (self.input.at(), &mut buffer[..layout.bytes]);
            let done = self.input.read(bytes)?;
            let bytes = &buffer[..done];
            if done < layout.bytes {
                if done > 0 {
                    self.problems.bad(at, || format!("{done} bytes that are no record"), b"");
                }
                return Ok(None);
            }
            if !layout.is_record(bytes) {
                self.problems.bad(at, || format!("no record of version {}", layout.version), b"");
                continue;
            }
            match layout.raw(bytes) {
                Ok(Some(raw)) => return Ok(Some(raw)),
                Ok(None) => self.problems.other_lines += 1,
                Err(reason) => self.problems.bad(at, || reason, b""),
            }
        }
    }

    fn problems(&self) -> Problems {
        self.problems.clone()
    }
}
