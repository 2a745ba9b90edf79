//! Alibaba cloud block storage: `device_id,opcode(R or W),offset[B],length[B],timestamp[us]`.

use base::OpKind;

use crate::trace::Addresses;
use crate::trace::format::about::About;
use crate::trace::format::parts::fields::{FieldFault, io, next, number, number_u32, separated};
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::LineContent;

pub(super) static FORMAT: About = About {
    time_unit: Some(TimeUnit::Microseconds),
    addresses: Addresses::OfEach,
    ..About::of_parser("alibaba", parse)
};

fn parse(line: &[u8], unit: TimeUnit) -> Result<LineContent, FieldFault> {
    let mut fields = separated(line, b',');
    let device = next(&mut fields);
    if device == b"device_id" {
        return Ok(LineContent::Other);
    }
    let device = number_u32(device, "the device")?;
    let op = match next(&mut fields) {
        b"R" => OpKind::Read,
        b"W" => OpKind::Write,
        other => return Err(FieldFault::new("the opcode", "R or W", other)),
    };
    let (offset, length) = (next(&mut fields), next(&mut fields));
    let issue_ns = unit.point_ns(next(&mut fields), "the timestamp")?;
    let bytes = (number(offset, "the offset")?, offset);
    let mut record = io(issue_ns, op, bytes, (number(length, "the length")?, length))?;
    record.stream = device;
    Ok(LineContent::Io(record.into()))
}
