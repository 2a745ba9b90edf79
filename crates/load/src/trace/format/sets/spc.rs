//! Storage Performance Council, used by UMass (`Financial1.spc`, `WebSearch1.spc`):
//! `ASU,LBA[512 B],Size[bytes],Opcode,Timestamp[s from start]`, more fields may follow (SPC trace file format 1.0.1).

use base::OpKind;

use crate::trace::Addresses;
use crate::trace::format::about::About;
use crate::trace::format::parts::fields::{
    FieldFault, io, next, number, number_u32, sectors, separated,
};
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::{LineContent, LineFormat};

pub(super) static FORMAT: About = About {
    time_unit: Some(TimeUnit::Seconds),
    addresses: Addresses::OfEach,
    ..About::of_lines("spc", |_, unit| Box::new(Spc { unit }))
};

struct Spc {
    unit: TimeUnit,
}

impl LineFormat for Spc {
    fn parse(&mut self, line: &[u8]) -> Result<LineContent, FieldFault> {
        let mut fields = separated(line, b',');
        let unit = number_u32(next(&mut fields), "the storage unit")?;
        let (lba, size) = (next(&mut fields), next(&mut fields));
        let op = match next(&mut fields) {
            b"R" | b"r" => OpKind::Read,
            b"W" | b"w" => OpKind::Write,
            other => return Err(FieldFault::new("the opcode", "R or W", other)),
        };
        let issue_ns = self.unit.point_ns(next(&mut fields), "the timestamp")?;
        let bytes = (sectors(lba, "the LBA")?, lba);
        let mut record = io(issue_ns, op, bytes, (number(size, "the size")?, size))?;
        record.stream = unit;
        Ok(LineContent::Io(record.into()))
    }
}
