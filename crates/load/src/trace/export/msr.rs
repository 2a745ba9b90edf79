//! MSR Cambridge CSV. It has reads and writes only, and a response time, which a trace of requests does not know:
//! it is written as 0.

use std::io::Write;

use base::OpKind;

use super::RecordFormat;
use crate::trace::Record;

/// 1970-01-01 as Windows file time; traces start there.
const UNIX_EPOCH_TICKS: u64 = 116_444_736_000_000_000;

pub(super) struct Msr;

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
        let ticks = UNIX_EPOCH_TICKS + record.issue_ns / 100;
        let Record { offset, len, stream, .. } = record;
        writeln!(out, "{ticks},ssdlab,{stream},{kind},{offset},{len},0")?;
        Ok(true)
    }

    fn end(&mut self, _out: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }
}
