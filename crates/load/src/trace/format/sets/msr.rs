//! MSR Cambridge (SNIA IOTTA set 387): `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! Both times in Windows file time, ticks of 100 ns (the epoch is 1601-01-01); offset and size in bytes.
//! Cite "Write Off-Loading", FAST 2008, when you use the set.

use base::OpKind;

use crate::trace::Addresses;
use crate::trace::format::about::About;
use crate::trace::format::parts::fields::{Fault, io, next, number, number_u32, separated};
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::{LineFormat, Parsed, Raw};

pub(super) static FORMAT: About = About {
    time_unit: Some(TimeUnit::FileTime),
    addresses: Addresses::OfEach,
    ..About::of_lines("msr", |_, unit| Box::new(Msr { unit }))
};

struct Msr {
    unit: TimeUnit,
}

fn kind(text: &[u8]) -> Result<OpKind, Fault> {
    match text {
        b"Read" | b"read" => Ok(OpKind::Read),
        b"Write" | b"write" => Ok(OpKind::Write),
        _ => Err(Fault::new("the type", "Read or Write", text)),
    }
}

impl LineFormat for Msr {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, Fault> {
        let mut fields = separated(line, b',');
        let time = next(&mut fields);
        if time == b"Timestamp" {
            return Ok(Parsed::Other);
        }
        let issue_ns = self.unit.point_ns(time, "the timestamp")?;
        let _host = next(&mut fields);
        let disk = number_u32(next(&mut fields), "the disk number")?;
        let op = kind(next(&mut fields))?;
        let (offset, size) = (next(&mut fields), next(&mut fields));
        let bytes = (number(offset, "the offset")?, offset);
        let mut record = io(issue_ns, op, bytes, (number(size, "the size")?, size))?;
        record.stream = disk;
        let response_ns = self.unit.length_ns(next(&mut fields), "the response time")?;
        let service_ns = Some(response_ns).filter(|&ns| ns > 0);
        Ok(Parsed::Io(Raw { record, service_ns }))
    }
}
