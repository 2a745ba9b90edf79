//! Logs of fio: their names and their lines.
//!
//! A line is `time in ms, value, direction, block size, ...`. The block size is 0 in an average over
//! an interval, which ends at its time. A histogram log has counts instead of the value.

use std::io::{BufRead, Read};
use std::ops::ControlFlow;
use std::path::Path;

use base::OpKind;

use super::super::{ImportError, input};
use super::bins::BUCKETS;

/// Largest log; an hour of every command of a fast drive is larger and wants averages.
const LOG_BYTES_MAX: u64 = 512 << 20;
/// Largest rate, count or size of a command: so that sums stay sums.
const AMOUNT_MAX: u64 = u32::MAX as u64;
/// Longest line: a histogram of 1,856 counts.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// The values of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LogKind {
    /// KiB per second.
    Bandwidth,
    /// Commands per second.
    Iops,
    /// ns from submission to end.
    Total,
    /// ns from the end of the submission on.
    Completion,
    /// ns of the submission.
    Submission,
    /// Counts by bucket of completion latency.
    Histogram,
}

/// Each kind with the end of its files' names and its option.
const KINDS: [(LogKind, &str, &str); 6] = [
    (LogKind::Histogram, "_clat_hist", "write_hist_log"),
    (LogKind::Bandwidth, "_bw", "write_bw_log"),
    (LogKind::Iops, "_iops", "write_iops_log"),
    (LogKind::Completion, "_clat", "write_lat_log"),
    (LogKind::Submission, "_slat", "write_lat_log"),
    (LogKind::Total, "_lat", "write_lat_log"),
];

impl LogKind {
    /// The option of a job that names the prefix.
    pub(super) fn option(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., option)| option)
    }
}

/// Ends of names that no host has: copies and compressed logs.
const OTHER_ENDS: [&str; 9] = ["gz", "fz", "bz2", "xz", "zst", "zip", "bak", "old", "tmp"];

/// The parts of a log's name: `PREFIX_bw.NUMBER.log`, and `PREFIX_bw.NUMBER.log.HOST` of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogName {
    pub(super) prefix: String,
    pub(super) kind: LogKind,
    /// Number of the thread from 1, or `None` in a log of all.
    pub(super) number: Option<u64>,
    /// The machine of a client, or `None` in a run without a server.
    pub(super) host: Option<String>,
}

impl LogName {
    /// The parts, or `None` if the file has no such name.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (stem, host) = match name.strip_suffix(".log") {
            Some(stem) => (stem, None),
            None => name.rsplit_once(".log.").map(|(stem, host)| (stem, Some(host)))?,
        };
        if host.is_some_and(|host| host.is_empty() || OTHER_ENDS.contains(&host)) {
            return None;
        }
        let numbered = stem.rsplit_once('.').and_then(|(stem, n)| Some((stem, n.parse().ok()?)));
        let (stem, number) = numbered.map_or((stem, None), |(stem, number)| (stem, Some(number)));
        let (kind, prefix) =
            KINDS.iter().find_map(|(kind, end, _)| Some((*kind, stem.strip_suffix(end)?)))?;
        let host = host.map(base::text::shortened);
        Some(Self { prefix: prefix.to_owned(), kind, number, host })
    }
}

/// The folder of a file.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) time_ms: u64,
    pub(super) op: OpKind,
    pub(super) value: u64,
    /// Size of the command; 0 in an average.
    pub(super) block_bytes: u64,
    /// Counts by bucket; empty in other logs.
    pub(super) counts: Vec<u64>,
}

/// Gives every line of a log to `take`, in order, until it breaks off. Returns whether the last line is
/// without its end: fio was killed, and the line is left out.
///
/// # Errors
/// If it cannot be read or a line is none of a log; the message has its number. And those of
/// `take`, whose words get the number of the line as well.
pub(super) fn read(
    path: &Path,
    kind: LogKind,
    mut take: impl FnMut(Line) -> Result<ControlFlow<()>, String>,
) -> Result<bool, ImportError> {
    let mut input = input::open(path, "log of fio", LOG_BYTES_MAX)?;
    let mut text = String::new();
    for number in 1_u64.. {
        text.clear();
        let fault = |words: String| ImportError::damaged(path, format!("line {number}: {words}"));
        let read = input.by_ref().take(LINE_BYTES_MAX).read_line(&mut text);
        match read.map_err(|error| fault(error.to_string()))? {
            0 => break,
            bytes if bytes as u64 == LINE_BYTES_MAX => {
                return Err(fault(format!("expected at most {LINE_BYTES_MAX} bytes in a line")));
            }
            _ => {}
        }
        if !text.ends_with('\n') {
            return Ok(true);
        }
        if text.trim().is_empty() {
            continue;
        }
        if parse(&text, kind).and_then(&mut take).map_err(fault)?.is_break() {
            break;
        }
    }
    Ok(false)
}

fn parse(text: &str, kind: LogKind) -> Result<Line, String> {
    let mut fields = text.split(',').map(str::trim);
    let mut next = |what: &str| {
        let field = fields.next().ok_or_else(|| format!("no {what} in `{}`", text.trim()))?;
        field.parse::<u64>().map_err(|_| format!("expected a number as {what}, found `{field}`"))
    };
    let time_ms = next("time")?;
    let value = if kind == LogKind::Histogram { 0 } else { next("value")? };
    let op = match next("direction")? {
        0 => OpKind::Read,
        1 => OpKind::Write,
        2 => OpKind::Deallocate,
        other => return Err(format!("expected 0, 1 or 2 as direction, found `{other}`")),
    };
    let block_bytes = next("block size")?;
    let is_latency = matches!(kind, LogKind::Total | LogKind::Completion | LogKind::Submission);
    let amount = if is_latency { block_bytes } else { value.max(block_bytes) };
    if amount > AMOUNT_MAX {
        return Err(format!(
            "`{amount}` is beyond any rate or size; expected at most {AMOUNT_MAX}"
        ));
    }
    let counts = if kind == LogKind::Histogram { counts(fields)? } else { Vec::new() };
    Ok(Line { time_ms, op, value, block_bytes, counts })
}

/// The counts of a histogram: 1,856, or half as many for each step of coarseness.
fn counts<'a>(fields: impl Iterator<Item = &'a str>) -> Result<Vec<u64>, String> {
    let counts = fields.filter(|field| !field.is_empty()).map(|field| {
        let count = field.parse().ok().filter(|count| *count <= AMOUNT_MAX);
        count.ok_or_else(|| format!("expected a number of commands, found `{field}`"))
    });
    let counts: Vec<u64> = counts.collect::<Result<_, String>>()?;
    let fits = (0..=6).any(|coarseness| counts.len() == BUCKETS >> coarseness);
    if fits {
        Ok(counts)
    } else {
        Err(format!("expected {BUCKETS} counts or a half, found {}", counts.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_logs_have_three_parts() {
        let name = |prefix: &str, kind, number, host: Option<&str>| {
            Some(LogName { prefix: prefix.to_owned(), kind, number, host: host.map(str::to_owned) })
        };
        for (path, want) in [
            ("out/l_bw.1.log", name("l", LogKind::Bandwidth, Some(1), None)),
            (
                "randread-iodepth-8-numjobs-2_clat.2.log",
                name("randread-iodepth-8-numjobs-2", LogKind::Completion, Some(2), None),
            ),
            ("a_b_clat_hist.1.log", name("a_b", LogKind::Histogram, Some(1), None)),
            ("x_lat.log", name("x", LogKind::Total, None, None)),
            ("cl_bw.2.log.10.0.0.7", name("cl", LogKind::Bandwidth, Some(2), Some("10.0.0.7"))),
            ("cl_bw.2.log.box", name("cl", LogKind::Bandwidth, Some(2), Some("box"))),
            ("cl_bw.2.log.gz", None),
            ("cl_bw.2.log.", None),
            ("x.log", None),
            ("l_bw.1.txt", None),
        ] {
            assert_eq!(LogName::of(Path::new(path)), want, "{path}");
        }
    }

    #[test]
    fn lines_of_all_versions_are_read() {
        let line = |text| parse(text, LogKind::Bandwidth).unwrap();
        for text in
            ["1000, 43384, 1, 0", "1000, 43384, 1, 0, 0", "1000, 43384, 1, 0, 0, 0x0000, 7\n"]
        {
            let line = line(text);
            assert_eq!(
                (line.time_ms, line.value, line.op, line.block_bytes),
                (1000, 43_384, OpKind::Write, 0)
            );
        }
        for (text, words) in [
            ("7", "no value"),
            ("a, 1, 0, 0", "expected a number as time"),
            ("1, 1, 9, 0", "0, 1 or 2"),
            ("1, -1, 0, 0", "`-1`"),
        ] {
            let error = parse(text, LogKind::Bandwidth).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        assert!(parse("1, 0, 4096, 1, 2", LogKind::Histogram).unwrap_err().contains("found 2"));
    }
}
