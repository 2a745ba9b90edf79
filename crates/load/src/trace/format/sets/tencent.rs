//! Tencent cloud block storage (SNIA IOTTA set 28064):
//! `Timestamp[s],Offset[sectors],Size[sectors],IOType(0 read, 1 write),VolumeID`.

use base::OpKind;

use crate::trace::Addresses;
use crate::trace::format::about::About;
use crate::trace::format::parts::fields::{FieldFault, io, next, number_u32, sectors, separated};
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::LineContent;

pub(super) static FORMAT: About = About {
    time_unit: Some(TimeUnit::Seconds),
    addresses: Addresses::OfEach,
    ..About::of_parser("tencent", parse)
};

fn parse(line: &[u8], unit: TimeUnit) -> Result<LineContent, FieldFault> {
    let mut fields = separated(line, b',');
    let time = next(&mut fields);
    if time == b"Timestamp" {
        return Ok(LineContent::Other);
    }
    let issue_ns = unit.point_ns(time, "the timestamp")?;
    let (offset, size) = (next(&mut fields), next(&mut fields));
    let op = match next(&mut fields) {
        b"0" => OpKind::Read,
        b"1" => OpKind::Write,
        other => return Err(FieldFault::new("the type", "0 or 1", other)),
    };
    let volume = number_u32(next(&mut fields), "the volume")?;
    let bytes = (sectors(offset, "the offset")?, offset);
    let mut record = io(issue_ns, op, bytes, (sectors(size, "the size")?, size))?;
    record.stream = volume;
    Ok(LineContent::Io(record.into()))
}
