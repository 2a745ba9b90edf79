//! Storage Performance Council, used by UMass (`Financial1.spc`, `WebSearch1.spc`):
//! `ASU,LBA[512 B],Size[bytes],Opcode,Timestamp[s from start]`, more fields may follow (SPC trace file format 1.0.1).

use base::OpKind;

use crate::trace::Addresses;
use crate::trace::format::about::About;
use crate::trace::format::parts::fields::{
    FieldFault, io, next, number, number_u32, sectors, separated,
};
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::LineContent;

pub(super) static FORMAT: About = About {
    time_unit: Some(TimeUnit::Seconds),
    addresses: Addresses::OfEach,
    ..About::of_parser("spc", parse)
};

fn parse(line: &[u8], unit: TimeUnit) -> Result<LineContent, FieldFault> {
    let mut fields = separated(line, b',');
    let store = number_u32(next(&mut fields), "the storage unit")?;
    let (lba, size) = (next(&mut fields), next(&mut fields));
    let op = match next(&mut fields) {
        b"R" | b"r" => OpKind::Read,
        b"W" | b"w" => OpKind::Write,
        other => return Err(FieldFault::new("the opcode", "R or W", other)),
    };
    let issue_ns = unit.point_ns(next(&mut fields), "the timestamp")?;
    let bytes = (sectors(lba, "the LBA")?, lba);
    let mut record = io(issue_ns, op, bytes, (number(size, "the size")?, size))?;
    record.stream = store;
    Ok(LineContent::Io(record.into()))
}
