//! A synthetic log-structured merge tree on a simulated drive, with a placement handle for each level and without handles.
//!
//! No program writes here, as none of this machine names handles: a job for each level writes its files. The levels grow by
//! four, so that a compaction writes a byte about twice in each level (half of the growth: Dayan et al., SIGMOD 2017), after
//! once in the log and once in the flush. The lifetime of a file is the size of its level over the writes to it.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Bench, text};
use crate::scratch::ScratchDir;
use xtask::proc;

pub(super) const NAME: &str = "tree";

/// A drive of 3.75 GB, whose files below are as small beside its superblocks as files of 64 MiB at full size.
const DRIVE: &str = "sim:samsung-pm9a3-960gb?scale=1/256";
/// Handles of the drive, with their isolation.
const PLACEMENT: [(&str, &str); 3] = [
    ("none", ""),
    ("initially isolated", "&interface.placement_handles=8"),
    ("persistently isolated", "&interface.placement_handles=8&gc.handle_isolation=persistent"),
];
/// Log, flush and levels: their shares of the tree in percent, and their writes for each byte of the user.
const LEVELS: [(&str, u32, u32); 5] =
    [("wal", 1, 1), ("flush", 3, 1), ("l1", 6, 2), ("l2", 20, 2), ("l3", 70, 2)];
/// The order in which files of a level end: each after its whole level was written, or any of them.
const ENDS: [(&str, &str); 2] =
    [("in order", "sequential"), ("at random", "append(zones=1, zone=256KiB)")];
/// The part of the drive that the tree has, in percent.
const FILLED_PERCENT: u32 = 85;
/// Commands of 128 KiB of the user in a second, which the drive can take in each case.
const COMMANDS: u32 = 300;
/// Seconds for each part of the work, of which the last quarter is measured.
const SECONDS: u32 = 60;

/// One row for each order and form of handles.
pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    for (ends, pattern) in ENDS {
        for (handles, setting) in PLACEMENT {
            eprintln!("[bench] {NAME}: files end {ends}, handles: {handles}");
            let drive = format!("{DRIVE}{setting}");
            let pages = last_quarter(bench, &drive, pattern, !setting.is_empty())
                .with_context(|| format!("a tree on {drive}"))?;
            rows.push(json!({
                "drive": drive, "files_end": ends, "handles": handles,
                "host_pages": pages.host, "gc_moved_pages": pages.moved,
                "programmed_pages": pages.programmed,
                "waf": pages.programmed as f64 / pages.host as f64,
            }));
        }
    }
    Ok(rows)
}

/// A job for each level.
fn workload(pattern: &str, has_handles: bool, seconds: u32) -> String {
    let mut text = format!("duration = \"{seconds}s\"\n");
    let mut offset = 0;
    for (handle, (name, share, writes)) in (1..).zip(LEVELS) {
        let span = share * FILLED_PERCENT;
        let pattern = if name == "wal" { "sequential" } else { pattern };
        text += &format!(
            "\n[job.{name}]\nop = \"write\"\nblock = \"128KiB\"\npattern = \"{pattern}\"\noffset = \"{}%\"\n\
             span = \"{}%\"\nrate = {}\nqueue_depth = 64\n",
            f64::from(offset) / 100.0,
            f64::from(span) / 100.0,
            COMMANDS * writes
        );
        if has_handles {
            text += &format!("placement = {handle}\n");
        }
        offset += span;
    }
    text
}

/// Pages in a part of a run.
#[derive(Default)]
struct Pages {
    host: u64,
    moved: u64,
    programmed: u64,
}

fn last_quarter(bench: &Bench<'_>, drive: &str, pattern: &str, has_handles: bool) -> Result<Pages> {
    let dir = ScratchDir::make(None)?;
    let file = dir.0.join("tree.toml");
    std::fs::write(&file, workload(pattern, has_handles, bench.size * SECONDS))?;
    let library = text(&dir.0.join("runs"));
    let ssdlab = |args: &[&str]| {
        proc::capture(Command::new(&bench.program).args(args).args(["--library", &library]))
    };
    ssdlab(&["run", "workload", drive, "--workload", &text(&file), "--quiet"])?;
    let rows = ssdlab(&["library", "export", "latest", "--as", "csv"])?;
    let seconds = seconds_of_load(&rows)?;
    let mut pages = Pages::default();
    for row in &seconds[seconds.len() * 3 / 4..] {
        let count = |column: &str| -> Result<u64> {
            let text = row.get(column).with_context(|| format!("the rows have no {column}"))?;
            text.parse().with_context(|| format!("{column} is {text:?}"))
        };
        pages.host += count("host_pages")?;
        pages.moved += count("gc_moved_pages")?;
        pages.programmed += count("programmed_pages")?;
    }
    Ok(pages)
}

/// The rows of the phase of the jobs, by column.
fn seconds_of_load(csv: &str) -> Result<Vec<BTreeMap<&str, &str>>> {
    let mut lines = csv.lines();
    let columns: Vec<_> = lines.next().context("a line of columns")?.split(',').collect();
    let rows = lines.map(|line| columns.iter().copied().zip(line.split(',')).collect());
    Ok(rows.filter(|row: &BTreeMap<_, _>| row.get("phase") == Some(&"load")).collect())
}
