//! MSR Cambridge CSV. It has reads and writes only, and a response time, which a trace of requests
//! does not know: it is written as 0. Times are absolute, as in the trace: a trace whose clock
//! began with it begins in 1970. Disks have their own addresses, so volumes become disks; streams
//! that share addresses are one disk.

use std::io::Write;

use base::OpKind;

use super::RecordFormat;
use crate::trace::format::parts::time::UNIX_EPOCH_TICKS;
use crate::trace::{Addresses, Record, TraceInfo};

pub(super) struct Msr {
    /// Time of the first record since 1970.
    epoch_ns: u64,
    /// Whether a stream is a disk.
    volumes: bool,
}

impl Msr {
    pub(super) fn new(info: &TraceInfo) -> Self {
        Self { epoch_ns: info.epoch_ns, volumes: info.addresses == Addresses::OfEach }
    }
}

impl RecordFormat for Msr {
    fn begin(&mut self, _out: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }

    fn record(&mut self, record: &Record, out: &mut dyn Write) -> std::io::Result<bool> {
        let kind = match record.op {
            OpKind::Read => "Read",
            OpKind::Write => "Write",
            OpKind::Flush | OpKind::Deallocate => return Ok(false),
        };
        let ticks = UNIX_EPOCH_TICKS + self.epoch_ns.saturating_add(record.issue_ns) / 100;
        let disk = if self.volumes { record.stream } else { 0 };
        let Record { offset, len, .. } = record;
        writeln!(out, "{ticks},ssdlab,{disk},{kind},{offset},{len},0")?;
        Ok(true)
    }

    fn end(&mut self, _out: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }
}
