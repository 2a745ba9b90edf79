//! fio's I/O log, version 3: us since the start, file, action, offset, length.
//!
//! All I/Os go to one file called `trace`: fio's `--replay_redirect=PATH` names the target. A write that flushes
//! first becomes a `sync` and a write at the same time.

use std::io::Write;

use base::OpKind;

use super::RecordFormat;
use crate::trace::{Flags, Record};

const FILE: &str = "trace";

pub(super) struct Iolog;

impl RecordFormat for Iolog {
    fn begin(&mut self, out: &mut dyn Write) -> std::io::Result<()> {
        write!(out, "fio version 3 iolog\n0 {FILE} add\n0 {FILE} open\n")
    }

    fn record(&mut self, record: &Record, out: &mut dyn Write) -> std::io::Result<bool> {
        let Record { offset, len, .. } = *record;
        let us = record.issue_ns / 1000;
        if record.flags.contains(Flags::PREFLUSH) {
            writeln!(out, "{us} {FILE} sync 0 0")?;
        }
        match record.op {
            OpKind::Read => writeln!(out, "{us} {FILE} read {offset} {len}")?,
            OpKind::Write => writeln!(out, "{us} {FILE} write {offset} {len}")?,
            OpKind::Deallocate => writeln!(out, "{us} {FILE} trim {offset} {len}")?,
            OpKind::Flush => writeln!(out, "{us} {FILE} sync 0 0")?,
        }
        Ok(true)
    }

    fn end(&mut self, _out: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }
}
