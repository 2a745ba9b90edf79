//! fio's I/O log, version 2 and 3.
//!
//! Version 2 has `file action [offset length]` with `read`, `write`, `trim`, `sync`, `datasync`,
//! `wait`, and `add`, `open`, `close` without numbers. It has waits instead of times. Version 3
//! puts a time in front of every line: us since the start (fio 3.42 writes and reads it so; its
//! manual does not say). By the manual, `wait N` of version 2 means "N us after the wait before";
//! fio itself treats it as "not before N ms after the start" ([`WaitUnit`]).

use base::OpKind;

use crate::trace::format::about::About;
use crate::trace::format::options::WaitUnit;
use crate::trace::format::parts::fields::{FieldFault, io, next, number, words};
use crate::trace::format::parts::names::Names;
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::{LineContent, LineFormat};
use crate::trace::{Addresses, Flags};

pub(super) static FORMAT: About = About {
    counter: Some(TimeUnit::Microseconds),
    addresses: Addresses::OfEach,
    has_waits: true,
    ..About::of_lines("iolog", |options, _| {
        Box::new(Iolog::new(options.wait_unit.unwrap_or_default()))
    })
};

const HEADER: &[u8] = b"fio version ";

struct Iolog {
    wait_unit: WaitUnit,
    /// 2 or 3; 0 before the header.
    version: u8,
    now_ns: u64,
    files: Names,
}

impl Iolog {
    fn new(wait_unit: WaitUnit) -> Self {
        Self { wait_unit, version: 0, now_ns: 0, files: Names::default() }
    }

    fn header(&mut self, line: &[u8]) -> Result<LineContent, FieldFault> {
        self.version = match line {
            b"fio version 2 iolog" => 2,
            b"fio version 3 iolog" => 3,
            _ => {
                const EXPECTED: &str = "`fio version 2 iolog` or `fio version 3 iolog`";
                return Err(FieldFault::new("the header", EXPECTED, line));
            }
        };
        Ok(LineContent::Other)
    }

    fn wait(&mut self, amount: u64) -> LineContent {
        self.now_ns = match self.wait_unit {
            WaitUnit::Fio => self.now_ns.max(amount.saturating_mul(1_000_000)),
            WaitUnit::Doc => self.now_ns.saturating_add(amount.saturating_mul(1000)),
        };
        LineContent::Other
    }
}

impl LineFormat for Iolog {
    fn parse(&mut self, line: &[u8]) -> Result<LineContent, FieldFault> {
        if self.version == 0 || line.starts_with(HEADER) {
            return self.header(line);
        }
        let mut fields = words(line);
        if self.version == 3 {
            let us = number(next(&mut fields), "the time")?;
            self.now_ns = us.saturating_mul(1000);
        }
        let (file, action) = (next(&mut fields), next(&mut fields));
        let (op, flags) = match action {
            b"read" => (OpKind::Read, Flags::NONE),
            b"write" => (OpKind::Write, Flags::NONE),
            b"trim" => (OpKind::Deallocate, Flags::NONE),
            b"sync" => (OpKind::Flush, Flags::NONE),
            b"datasync" => (OpKind::Flush, Flags::SYNC),
            b"wait" if self.version == 2 => {
                let amount = number(next(&mut fields), "the wait")?;
                return Ok(self.wait(amount));
            }
            b"add" | b"open" | b"close" => return Ok(LineContent::Other),
            _ => return Err(FieldFault::new("the action", "an action of fio", action)),
        };
        let (offset, length) = (next(&mut fields), next(&mut fields));
        let bytes = (number(offset, "the offset")?, offset);
        let length = (number(length, "the length")?, length);
        let mut record = io(self.now_ns, op, bytes, length)?;
        record.flags = flags;
        record.stream = self.files.number(file);
        Ok(LineContent::Io(record.into()))
    }

    fn stream_names(&self) -> Vec<String> {
        self.files.list()
    }
}
