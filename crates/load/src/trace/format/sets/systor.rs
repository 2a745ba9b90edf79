//! SYSTOR '17, virtual desktops of an enterprise (SNIA IOTTA set 4928): `Timestamp,Response,IOType,LUN,Offset,Size`.
//!
//! Source: the README of the set. Both times in s with decimals, the timestamp since 1970 and exact to a microsecond;
//! offset and size in bytes; the type is `R`, `W` or nothing. One file an hour and LUN, `2016022219-LUN4.csv.gz`.
//! Cite Lee and others, "Understanding storage traffic characteristics on enterprise virtual desktop infrastructure",
//! SYSTOR 2017, when you use the set.

use base::OpKind;

use crate::trace::Addresses;
use crate::trace::format::about::About;
use crate::trace::format::parts::fields::{FieldFault, io, next, number, number_u32, separated};
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::{LineContent, Raw};

pub(super) static FORMAT: About = About {
    time_unit: Some(TimeUnit::Seconds),
    addresses: Addresses::OfEach,
    ..About::of_parser("systor17", parse)
};

fn parse(line: &[u8], unit: TimeUnit) -> Result<LineContent, FieldFault> {
    let mut fields = separated(line, b',');
    let time = next(&mut fields);
    if time == b"Timestamp" {
        return Ok(LineContent::Other);
    }
    let issue_ns = unit.point_ns(time, "the timestamp")?;
    // Empty where the end was not seen.
    let response = next(&mut fields);
    let service_ns = if response.is_empty() {
        None
    } else {
        Some(unit.length_ns(response, "the response time")?).filter(|&ns| ns > 0)
    };
    let op = match next(&mut fields) {
        b"R" => OpKind::Read,
        b"W" => OpKind::Write,
        b"" if line.iter().filter(|&&byte| byte == b',').count() == 5 => {
            return Ok(LineContent::Other);
        }
        other => return Err(FieldFault::new("the type", "R or W", other)),
    };
    let lun = number_u32(next(&mut fields), "the LUN")?;
    let (offset, size) = (next(&mut fields), next(&mut fields));
    let bytes = (number(offset, "the offset")?, offset);
    let mut record = io(issue_ns, op, bytes, (number(size, "the size")?, size))?;
    record.stream = lun;
    Ok(LineContent::Io(Raw { record, service_ns }))
}
