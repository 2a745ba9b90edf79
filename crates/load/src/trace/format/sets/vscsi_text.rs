//! Command traces of VMware's vscsiStats as text: comments that begin with `#`, then
//! `Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp (microseconds)`.
//!
//! Source: the header that the tool itself prints (`#Vscsi Cmd Trace. (Trace Format Version 1)`). The length is in
//! bytes, the LBN in blocks of 512; one file has one virtual disk.

use base::OpKind;

use super::vscsi::{ScsiCommand, command};
use crate::trace::format::about::About;
use crate::trace::format::parts::fields::{
    FieldFault, hex_or_number, io, next, number, number_u32, sectors, separated,
};
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::LineContent;

pub(super) static FORMAT: About =
    About { time_unit: Some(TimeUnit::Microseconds), ..About::of_parser("vscsi-text", parse) };

/// A word, or the number of a SCSI command.
fn kind(text: &[u8]) -> Result<ScsiCommand, FieldFault> {
    if text.eq_ignore_ascii_case(b"read") {
        return Ok(ScsiCommand::Op(OpKind::Read));
    }
    if text.eq_ignore_ascii_case(b"write") {
        return Ok(ScsiCommand::Op(OpKind::Write));
    }
    let code = hex_or_number(text, "the command type");
    let code = code.ok().and_then(|code| u8::try_from(code).ok());
    let expected = "read, write or the number of a SCSI command";
    code.map(command).ok_or_else(|| FieldFault::new("the command type", expected, text))
}

fn parse(line: &[u8], unit: TimeUnit) -> Result<LineContent, FieldFault> {
    if line.starts_with(b"#") {
        return Ok(LineContent::Other);
    }
    let mut fields = separated(line, b',');
    number_u32(next(&mut fields), "the serial number")?;
    let len = next(&mut fields);
    number_u32(next(&mut fields), "the number of scatter-gather entries")?;
    let kind = kind(next(&mut fields))?;
    let lbn = next(&mut fields);
    let issue_ns = unit.point_ns(next(&mut fields), "the time stamp")?;
    let ScsiCommand::Op(op) = kind else { return Ok(LineContent::Other) };
    let bytes = (sectors(lbn, "the LBN")?, lbn);
    let record = io(issue_ns, op, bytes, (number(len, "the length")?, len))?;
    Ok(LineContent::Io(record.into()))
}
