//! Text output of blkparse in its default form: `MAJ,MIN CPU SEQUENCE SECONDS.NS PID ACTION RWBS
//! SECTOR + SECTORS [COMMAND]`.
//!
//! RWBS is, in this order: `F` preflush; `D` discard, `W` write, `R` read or `N` nothing; `F` force
//! unit access; `A` read-ahead; `S` sync; `M` metadata. Kernels before 2.6.37 have barriers instead
//! of flushes: `B`, after `A` and before `S` (`WBS`). A barrier write flushes first and is durable
//! at its end. The reader skips the summary at the end.

use base::OpKind;

use super::block_events::{Action, BlockEvent, BlockEvents, EventOp};
use crate::trace::Flags;
use crate::trace::format::about::About;
use crate::trace::format::options::Event;
use crate::trace::format::parts::fields::{
    FieldFault, next, number, number_u32, scaled, sectors, words,
};
use crate::trace::format::raw::{LineContent, LineFormat};

pub(super) static FORMAT: About = About {
    has_events: true,
    ..About::of_lines("blkparse", |options, _| {
        Box::new(Blkparse::new(options.event.unwrap_or_default()))
    })
};

struct Blkparse {
    events: BlockEvents,
    in_summary: bool,
}

impl Blkparse {
    fn new(event: Event) -> Self {
        Self { events: BlockEvents::new(event), in_summary: false }
    }
}

fn device(text: &[u8]) -> Result<u32, FieldFault> {
    let fault = || FieldFault::new("the device", "two numbers such as 8,0", text);
    let comma = text.iter().position(|&byte| byte == b',').ok_or_else(fault)?;
    let major = number_u32(&text[..comma], "the major number")?;
    let minor = number_u32(&text[comma + 1..], "the minor number")?;
    Ok(major << 20 | minor & 0xf_ffff)
}

/// Reads the letters of the RWBS field.
fn rwbs(text: &[u8]) -> Result<(EventOp, Flags), FieldFault> {
    let fault = || FieldFault::new("the kind", "letters such as R, WS, WBS, FWFSM or D", text);
    let (preflush, rest) = match text {
        [b'F', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let (&letter, rest) = rest.split_first().ok_or_else(fault)?;
    let barrier = rest.contains(&b'B');
    let asked = match letter {
        b'R' => EventOp::Op(OpKind::Read),
        b'W' => EventOp::Op(OpKind::Write),
        b'D' => EventOp::Op(OpKind::Deallocate),
        b'N' if preflush || barrier => EventOp::Op(OpKind::Flush),
        b'N' => EventOp::Nothing,
        _ => return Err(fault()),
    };
    let mut flags = Flags::NONE.with(Flags::PREFLUSH, preflush);
    for letter in rest {
        flags |= match letter {
            // Earlier commands must be durable first, and this one before later commands.
            b'B' if asked == EventOp::Op(OpKind::Write) => Flags::PREFLUSH | Flags::FUA,
            b'F' => Flags::FUA,
            b'A' => Flags::READAHEAD,
            b'S' => Flags::SYNC,
            b'M' => Flags::META,
            // A barrier that moves nothing out of a cache, secure erase, atomic writes: nothing here changes.
            b'B' | b'E' | b'U' | b'I' => Flags::NONE,
            _ => return Err(fault()),
        };
    }
    Ok((asked, flags))
}

fn action(text: &[u8]) -> Result<Action, FieldFault> {
    match text {
        b"Q" => Ok(Action::Queue),
        b"D" => Ok(Action::Issue),
        b"C" => Ok(Action::Complete),
        [b'A'..=b'Z' | b'm', ..] if text.len() <= 2 => Ok(Action::Other),
        _ => Err(FieldFault::new("the action", "a letter such as Q, D or C", text)),
    }
}

/// `SECTOR + SECTORS`, or `SECTOR` alone, or nothing (`[COMMAND]` follows): byte offset and length.
fn extent<'a>(mut fields: impl Iterator<Item = &'a [u8]>) -> Result<(u64, u32), FieldFault> {
    let sector = next(&mut fields);
    if !sector.first().is_some_and(u8::is_ascii_digit) {
        return Ok((0, 0));
    }
    let offset = sectors(sector, "the sector")?;
    if next(&mut fields) != b"+" {
        return Ok((offset, 0));
    }
    let count = next(&mut fields);
    let bytes = u32::try_from(sectors(count, "the number of sectors")?);
    let bytes =
        bytes.map_err(|_| FieldFault::new("the number of sectors", "less than 2^23", count))?;
    if offset.saturating_add(u64::from(bytes)) > i64::MAX as u64 {
        return Err(FieldFault::new("the sector", "one below 2^54", sector));
    }
    Ok((offset, bytes))
}

impl LineFormat for Blkparse {
    fn parse(&mut self, line: &[u8]) -> Result<LineContent, FieldFault> {
        if self.in_summary || is_summary(line) {
            self.in_summary = true;
            return Ok(LineContent::Other);
        }
        let mut fields = words(line);
        let device = device(next(&mut fields))?;
        number_u32(next(&mut fields), "the CPU")?;
        number(next(&mut fields), "the sequence number")?;
        let time_ns = scaled(next(&mut fields), 9, "the time")?;
        let pid = number_u32(next(&mut fields), "the process id")?;
        let action = action(next(&mut fields))?;
        if action == Action::Other {
            return Ok(LineContent::Other);
        }
        let (asked, flags) = rwbs(next(&mut fields))?;
        let (offset, bytes) = extent(fields)?;
        let event = BlockEvent { time_ns, offset, bytes, action, asked, flags, pid, device };
        Ok(self.events.take(&event))
    }

    fn lacks_completions(&self) -> bool {
        self.events.lacks_completions()
    }
}

fn is_summary(line: &[u8]) -> bool {
    [&b"CPU"[..], b"Total ("].iter().any(|start| line.starts_with(start))
}
