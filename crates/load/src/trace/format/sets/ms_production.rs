//! Microsoft production servers (SNIA IOTTA sets 130 to 158): Event Tracing for Windows as comma-separated lines.
//!
//! Source: the README of set 149 and the header that every file of the sets begins with. Between `BeginHeader` and
//! `EndHeader` each type of event names its columns, and they differ: `DiskRead` and `DiskWrite` have
//!
//! ```text
//! DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, IrpFlags,
//!   DiskSvcTime, I/O Pri, VolSnap, FileObject, FileName
//! ```
//!
//! and `DiskFlush` the same without `ByteOffset` and `IOSize`. Columns are found by these names (newer tools put `CPU`
//! in between), or by the order above where a file was cut from its header. Times are in us, offset and size in
//! hexadecimal. Windows logs a disk event when it has ended (`DiskReadInit` is the event of its begin; the class
//! `DiskIo_TypeGroup1` carries the response time), so an I/O was issued `ElapsedTime` before its `TimeStamp`.
//! Offsets count from the start of a physical disk, and a file has the events of all disks: the disk is the stream.

use base::OpKind;

use crate::trace::Addresses;
use crate::trace::format::about::About;
use crate::trace::format::parts::fields::{
    FieldFault, hex_or_number, io, number, number_u32, separated,
};
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::{LineContent, LineFormat, Raw};

pub(super) static FORMAT: About = About {
    counter: Some(TimeUnit::Microseconds),
    addresses: Addresses::OfEach,
    ..About::of_lines("ms-production", |_, _| Box::new(MsProduction::default()))
};

const US_NS: u64 = 1000;

/// Places of the fields in a line of one type of event; the name of the event is field 0.
#[derive(Clone, Copy)]
struct Layout {
    time: usize,
    elapsed: usize,
    disk: usize,
    /// Offset and size; a flush has none.
    extent: Option<(usize, usize)>,
}

const DATA: Layout = Layout { time: 1, elapsed: 7, disk: 8, extent: Some((5, 6)) };
const FLUSH: Layout = Layout { time: 1, elapsed: 5, disk: 6, extent: None };

struct MsProduction {
    in_header: bool,
    read: Layout,
    write: Layout,
    flush: Layout,
}

impl Default for MsProduction {
    fn default() -> Self {
        Self { in_header: false, read: DATA, write: DATA, flush: FLUSH }
    }
}

impl Layout {
    /// The places of the columns in a line of the header.
    fn named(&self, line: &[u8]) -> Result<Self, FieldFault> {
        let find = |name: &'static str| {
            let place = separated(line, b',').position(|field| field == name.as_bytes());
            place.ok_or_else(|| FieldFault::new("a column of the header", name, b"another"))
        };
        let extent = || Ok((find("ByteOffset")?, find("IOSize")?));
        Ok(Self {
            time: find("TimeStamp")?,
            elapsed: find("ElapsedTime")?,
            disk: find("DiskNum")?,
            extent: self.extent.map(|_| extent()).transpose()?,
        })
    }

    fn io(&self, op: OpKind, line: &[u8]) -> Result<Raw, FieldFault> {
        let field = |at: usize| separated(line, b',').nth(at).unwrap_or_default();
        let end_us = number(field(self.time), "the time stamp")?;
        let elapsed_us = number(field(self.elapsed), "the elapsed time")?;
        let issue_ns = end_us.saturating_sub(elapsed_us).saturating_mul(US_NS);
        let (offset, size) =
            self.extent.map_or((&b"0"[..], &b"0"[..]), |(o, s)| (field(o), field(s)));
        let bytes = (hex_or_number(offset, "the byte offset")?, offset);
        let mut record = io(issue_ns, op, bytes, (hex_or_number(size, "the size")?, size))?;
        record.stream = number_u32(field(self.disk), "the disk")?;
        Ok(Raw { record, service_ns: Some(elapsed_us.saturating_mul(US_NS)) })
    }
}

impl LineFormat for MsProduction {
    fn parse(&mut self, line: &[u8]) -> Result<LineContent, FieldFault> {
        let name = separated(line, b',').next().unwrap_or_default();
        let (op, layout) = match name {
            b"BeginHeader" | b"EndHeader" => {
                self.in_header = name == b"BeginHeader";
                return Ok(LineContent::Other);
            }
            b"DiskRead" => (OpKind::Read, &mut self.read),
            b"DiskWrite" => (OpKind::Write, &mut self.write),
            b"DiskFlush" => (OpKind::Flush, &mut self.flush),
            _ if self.in_header || is_event(name) => return Ok(LineContent::Other),
            _ => return Err(FieldFault::new("the event", "the name of an event", name)),
        };
        if self.in_header {
            *layout = layout.named(line)?;
            return Ok(LineContent::Other);
        }
        Ok(LineContent::Io(layout.io(op, line)?))
    }
}

/// Names of events are words: `FileIoRead`, `DiskReadInit`, and one line `OS Version: 6.1.6001`.
fn is_event(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_uppercase)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b" _-/:.".contains(byte))
}
