//! Florida International University (SNIA IOTTA set 411):
//! `time[ns] pid process lba size[512 B blocks] W|R major minor MD5`.

use base::OpKind;

use crate::trace::format::about::About;
use crate::trace::format::parts::fields::{FieldFault, io, next, number_u32, sectors, words};
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::LineContent;

pub(super) static FORMAT: About =
    About { time_unit: Some(TimeUnit::Nanoseconds), ..About::of_parser("fiu", parse) };

fn parse(line: &[u8], unit: TimeUnit) -> Result<LineContent, FieldFault> {
    let mut fields = words(line);
    let issue_ns = unit.point_ns(next(&mut fields), "the time")?;
    let pid = number_u32(next(&mut fields), "the process id")?;
    let _process = next(&mut fields);
    let (lba, size) = (next(&mut fields), next(&mut fields));
    let op = match next(&mut fields) {
        b"R" => OpKind::Read,
        b"W" => OpKind::Write,
        other => return Err(FieldFault::new("the operation", "R or W", other)),
    };
    number_u32(next(&mut fields), "the major number")?;
    number_u32(next(&mut fields), "the minor number")?;
    let bytes = (sectors(lba, "the block")?, lba);
    let mut record = io(issue_ns, op, bytes, (sectors(size, "the size")?, size))?;
    record.stream = pid;
    Ok(LineContent::Io(record.into()))
}
