//! Microsoft production servers (SNIA IOTTA set 149): Event Tracing for Windows as comma-separated lines.
//!
//! Between `BeginHeader` and `EndHeader` every type of event names its columns; this reader takes `DiskRead` and
//! `DiskWrite` (with `TimeStamp`, `Process Name ( PID)`, `ByteOffset`, `IOSize`, `ElapsedTime`, `DiskNum`) by those
//! names, or in the order of the set where a file was cut from its header. Times are in us. Windows logs a disk
//! event when it ends, so that an I/O was issued `ElapsedTime` before its `TimeStamp`.

use base::OpKind;

use super::fields::{Fault, hex_or_number, io, number, number_u32, separated};
use super::{LineFormat, Parsed, Raw};

const US_NS: u64 = 1000;

/// Where the fields stand in a line, the type of the event included.
#[derive(Clone, Copy)]
struct Layout {
    time: usize,
    process: usize,
    offset: usize,
    size: usize,
    elapsed: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self { time: 1, process: 2, offset: 5, size: 6, elapsed: 7 }
    }
}

#[derive(Default)]
pub(super) struct MsProduction {
    in_header: bool,
    read: Layout,
    write: Layout,
}

impl Layout {
    fn named(line: &[u8]) -> Option<Self> {
        let find = |name: &[u8]| separated(line, b',').position(|field| field.starts_with(name));
        Some(Self {
            time: find(b"TimeStamp")?,
            process: find(b"Process")?,
            offset: find(b"ByteOffset")?,
            size: find(b"IOSize")?,
            elapsed: find(b"ElapsedTime")?,
        })
    }

    fn io(&self, op: OpKind, line: &[u8]) -> Result<Raw, Fault> {
        let field = |at: usize| separated(line, b',').nth(at).unwrap_or_default();
        let (offset, size) = (field(self.offset), field(self.size));
        let end_us = number(field(self.time), "the time stamp")?;
        let elapsed_us = number(field(self.elapsed), "the elapsed time")?;
        let issue_ns = end_us.saturating_sub(elapsed_us).saturating_mul(US_NS);
        let bytes = (hex_or_number(offset, "the byte offset")?, offset);
        let mut record = io(issue_ns, op, bytes, (hex_or_number(size, "the size")?, size))?;
        record.stream = process_id(field(self.process))?;
        Ok(Raw { record, service_ns: Some(elapsed_us.saturating_mul(US_NS)) })
    }
}

/// The number in `System (   4)`.
fn process_id(text: &[u8]) -> Result<u32, Fault> {
    let inside = text.rsplit(|&byte| byte == b'(').next().unwrap_or_default();
    let digits = inside.strip_suffix(b")").unwrap_or(inside).trim_ascii();
    number_u32(digits, "the process id")
}

impl LineFormat for MsProduction {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, Fault> {
        let (op, layout) = match separated(line, b',').next().unwrap_or_default() {
            b"BeginHeader" => {
                self.in_header = true;
                return Ok(Parsed::Other);
            }
            b"EndHeader" => {
                self.in_header = false;
                return Ok(Parsed::Other);
            }
            b"DiskRead" => (OpKind::Read, &mut self.read),
            b"DiskWrite" => (OpKind::Write, &mut self.write),
            name if self.in_header || is_event(name) => return Ok(Parsed::Other),
            name => return Err(Fault::new("the event", "the name of an event", name)),
        };
        if self.in_header {
            *layout = Layout::named(line).unwrap_or_default();
            return Ok(Parsed::Other);
        }
        Ok(Parsed::Io(layout.io(op, line)?))
    }
}

/// Names of events are single words: `FileIoRead`, `DiskReadInit`, `OS Version` and the like.
fn is_event(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_uppercase)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b" _-/:".contains(byte))
}
