//! `DiskSim`'s ASCII traces and their relative `MQSim`: `time devno blkno bcount flags`.
//!
//! Blocks of 512 bytes; bit 0 of the flags is set for a read. `DiskSim` counts time in ms with
//! decimals, `MQSim` in whole ns (its default unit).

use base::OpKind;

use crate::trace::Addresses;
use crate::trace::format::about::{About, Signs};
use crate::trace::format::parts::fields::{
    FieldFault, hex_or_number, io, next, number_u32, sectors, words,
};
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::LineContent;

pub(super) static FORMAT: About = About {
    time_unit: Some(TimeUnit::Milliseconds),
    // The two differ in their unit of time alone: milliseconds have decimals.
    signs: Signs::Lines(|head| head.contains(&b'.')),
    ..of_name("disksim")
};

pub(super) static MQSIM: About =
    About { time_unit: Some(TimeUnit::Nanoseconds), ..of_name("mqsim") };

const fn of_name(name: &'static str) -> About {
    let about = About::of_parser(name, parse);
    About { addresses: Addresses::OfEach, ..about }
}

fn parse(line: &[u8], unit: TimeUnit) -> Result<LineContent, FieldFault> {
    let mut fields = words(line);
    let time = next(&mut fields);
    let issue_ns = unit.point_ns(time, "the time")?;
    if unit == TimeUnit::Nanoseconds && time.contains(&b'.') {
        return Err(FieldFault::new("the time", "whole nanoseconds", time));
    }
    let device = number_u32(next(&mut fields), "the device")?;
    let (block, count) = (next(&mut fields), next(&mut fields));
    let flags = hex_or_number(next(&mut fields), "the flags")?;
    let op = if flags & 1 == 1 { OpKind::Read } else { OpKind::Write };
    if let Some(more) = fields.next() {
        return Err(FieldFault::new("the sixth field", "the end of the line", more));
    }
    let bytes = (sectors(block, "the block")?, block);
    let mut record = io(issue_ns, op, bytes, (sectors(count, "the block count")?, count))?;
    record.stream = device;
    Ok(LineContent::Io(record.into()))
}
