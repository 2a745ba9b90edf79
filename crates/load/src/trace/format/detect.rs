//! The format of a file, by its content alone.

use super::about::{About, Signs};
use super::parts::lines::without_bom;
use super::{Event, Format, FormatOptions, LineContent, names};
use crate::trace::TraceError;
use crate::trace::input::HEAD_BYTES;

/// Lines that detection tries.
const LINES_MAX: usize = 200;

/// Finds the format of a file that begins with `head`; `what` names it in errors.
///
/// # Errors
/// [`TraceError::Usage`] if no format fits, or more than one.
pub fn detect(head: &[u8], what: &str) -> Result<Format, TraceError> {
    let has_magic = |about: &About| matches!(about.signs, Signs::Magic(is) if is(head));
    let has_records = |about: &About| matches!(about.signs, Signs::Records(are) if are(head));
    if let Some(format) = Format::all().find(|format| has_magic(format.0)) {
        return Ok(format);
    }
    packed(head, what)?;
    if let Some(format) = Format::all().find(|format| has_records(format.0)) {
        return Ok(format);
    }
    if head.is_empty() {
        return Err(TraceError::Usage(format!(
            "{what} is empty: it has 0 bytes, so no format either"
        )));
    }
    by_lines(head, what)
}

/// The text format that reads most of the lines.
fn by_lines(head: &[u8], what: &str) -> Result<Format, TraceError> {
    let mut scores: Vec<(usize, Format)> =
        Format::all().map(|format| (score(format, head), format)).collect();
    scores.sort_by_key(|&(score, _)| std::cmp::Reverse(score));
    match scores[..] {
        [] | [(0, _), ..] => Err(unknown(what)),
        [(best, first), (next, second), ..] if best == next => {
            let (first, second) = (first.name(), second.name());
            Err(TraceError::Usage(format!(
                "{what} reads as {first} and as {second}; say which with --from {first}"
            )))
        }
        [(_, format), ..] => Ok(format),
    }
}

fn unknown(what: &str) -> TraceError {
    TraceError::Usage(format!(
        "{what} is in no known trace format ({}); name the nearest with --from, and every line that does not fit it is \
         shown, or tell its columns with --from csv:...",
        names()
    ))
}

/// The command that unpacks a file of bzip2, which is not unpacked during reading.
fn packed(head: &[u8], what: &str) -> Result<(), TraceError> {
    if !head.starts_with(b"BZh") {
        return Ok(());
    }
    Err(TraceError::Usage(format!(
        "{what} is compressed; unpack it on the way: bzcat FILE | ssdlab trace import - -o OUT"
    )))
}

/// Number of lines at the start of a file that read as I/Os of a format; a line that does not fit
/// subtracts one.
fn score(format: Format, head: &[u8]) -> usize {
    if !matches!(format.0.signs, Signs::Lines(may_be) if may_be(head)) {
        return 0;
    }
    // The events of a block trace may be those of issue alone.
    let event = format.has_only_issues(head).then_some(Event::Issue);
    let options = FormatOptions { event, ..FormatOptions::default() };
    let Some(mut parser) = format.lines(&options) else { return 0 };
    // The last line may be cut.
    let whole = if head.len() < HEAD_BYTES {
        head
    } else {
        &head[..head.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)]
    };
    let lines = without_bom(whole).split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let (mut good, mut bad) = (0_usize, 0);
    for line in lines.filter(|line| !line.is_empty()).take(LINES_MAX) {
        match parser.parse(line) {
            Ok(LineContent::Io(_) | LineContent::OtherDevice) => good += 1,
            Ok(LineContent::Other) => {}
            Err(_) => bad += 1,
        }
    }
    good.saturating_sub(bad)
}
