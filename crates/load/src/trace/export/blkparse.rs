//! Text like that of blkparse: one queue event per I/O, on the device 0,0 and CPU 0, the stream as
//! process id. Offsets and lengths are in sectors of 512 bytes; I/Os that are not multiples of that
//! have no form here.

use std::io::Write;

use base::OpKind;

use super::RecordFormat;
use crate::trace::{Flags, Record};

pub(super) struct Blkparse {
    pub(super) sequence: u64,
}

/// The letters of the RWBS field, in the kernel's order.
fn rwbs(record: &Record) -> String {
    let has = |flag| record.flags.contains(flag);
    let mut letters = String::new();
    let flush = record.op == OpKind::Flush;
    if has(Flags::PREFLUSH) || flush {
        letters.push('F');
    }
    letters.push(match record.op {
        OpKind::Read => 'R',
        OpKind::Write => 'W',
        OpKind::Deallocate => 'D',
        OpKind::Flush => 'N',
    });
    for (flag, letter) in
        [(Flags::FUA, 'F'), (Flags::READAHEAD, 'A'), (Flags::SYNC, 'S'), (Flags::META, 'M')]
    {
        if has(flag) {
            letters.push(letter);
        }
    }
    letters
}

impl RecordFormat for Blkparse {
    fn begin(&mut self, _out: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }

    fn record(&mut self, record: &Record, out: &mut dyn Write) -> std::io::Result<bool> {
        if !(record.offset | u64::from(record.len)).is_multiple_of(512) {
            return Ok(false);
        }
        self.sequence += 1;
        let (seconds, ns) = (record.issue_ns / 1_000_000_000, record.issue_ns % 1_000_000_000);
        let (sequence, pid, rwbs) = (self.sequence, record.stream, rwbs(record));
        write!(out, "  0,0    0 {sequence:8} {seconds:5}.{ns:09} {pid:5}  Q {rwbs:>3} ")?;
        if record.len > 0 {
            write!(out, "{} + {} ", record.offset / 512, record.len / 512)?;
        }
        writeln!(out, "[ssdlab]")?;
        Ok(true)
    }

    fn end(&mut self, _out: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }
}
