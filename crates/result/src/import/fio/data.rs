//! The load of a job by its data, beside that of its options.
//!
//! fio has one object for all jobs of a group (`group_reporting`), with the options of the last one;
//! it keeps one command outstanding with an engine that waits, whatever `iodepth` says; and clients
//! and old versions tell no options. Directions, bytes per command and depths at the issue are those
//! of the commands themselves.

use std::collections::BTreeMap;

use base::{Bytes, OpKind};

use super::job::Job;
use super::options::JobShape;

/// Engines that keep one command outstanding.
const WAITING_ENGINES: [&str; 7] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"];
/// Fewer commands tell nothing about shares and sizes.
const COMMANDS_MIN: u64 = 100;
/// Largest difference of the mean size from the size of the options: the end of a file is shorter.
const SIZE_DIFFERENCE: f64 = 0.02;
/// Largest difference of the share of reads from that of the options, in percent.
const SHARE_DIFFERENCE: f64 = 10.0;

/// Finds out whether the options of a job tell its load: fio has one object for all jobs of a group, with
/// the options of its last one, and a depth is not kept by every engine.
pub(super) fn settle(job: &mut Job) {
    // The sum alone is of one kind where the load is.
    if let ([(kind @ None, _)], true) = (job.kinds.as_mut_slice(), job.has_options) {
        let own: Vec<_> = OpKind::ALL.into_iter().filter(|op| job.shape.has(*op)).collect();
        *kind = if let [only] = own.as_slice() { Some(*only) } else { None };
    }
    let found = compare(job);
    job.doubts = found.doubts;
    if let Some(depth) = found.depth {
        job.shape.depth = depth;
    }
    job.has_load = found.has_load;
    if !job.has_load {
        job.shape = JobShape::unknown(job.shape.log_ms, block_bytes(job));
    }
}

/// The outcome of the comparison.
#[derive(Debug, Default)]
struct Comparison {
    /// Whether the options tell the load.
    has_load: bool,
    /// The depth by the data, or `None` if that of the options stands.
    depth: Option<u32>,
    /// Reasons to trust the options less, in words.
    doubts: Vec<String>,
}

/// Compares a job with its data.
fn compare(job: &Job) -> Comparison {
    if !job.has_options {
        let doubt = format!("fio tells no options of this job; by its data: {}", in_words(job));
        return Comparison { doubts: vec![doubt], ..Comparison::default() };
    }
    let mut depth = None;
    let mut doubts = Vec::new();
    let mut contradictions: Vec<_> = direction(job).into_iter().chain(size(job)).collect();
    match depths(job) {
        Depths::AsTold => {}
        Depths::One(doubt) => {
            depth = Some(1);
            doubts.push(doubt);
        }
        Depths::Others(contradiction) => contradictions.push(contradiction),
    }
    if contradictions.is_empty() {
        return Comparison { has_load: true, depth, doubts };
    }
    let words = contradictions.join(", ");
    let doubt = format!("its options are not its load ({words}); by its data: {}", in_words(job));
    Comparison { has_load: false, depth: None, doubts: vec![doubt] }
}

fn direction(job: &Job) -> Option<String> {
    let rw = &job.shape.rw;
    let kinds = job.kinds.iter().filter_map(|(op, kind)| Some(((*op)?, kind.ios)));
    let kinds: BTreeMap<usize, u64> = kinds.map(|(op, ios)| (op.index(), ios)).collect();
    let all: u64 = kinds.values().fold(0, |sum, ios| sum.saturating_add(*ios));
    let ios = |op: OpKind| kinds.get(&op.index()).copied().unwrap_or(0);
    let unexpected = OpKind::ALL.into_iter().find(|op| ios(*op) > 0 && !job.shape.has(*op));
    if let Some(op) = unexpected {
        return Some(format!("rw={} and it has {} of kind {}", word(rw), ios(op), op.name()));
    }
    let wanted = f64::from(job.shape.read_percent?);
    let share = 100.0 * ios(OpKind::Read) as f64 / all.max(1) as f64;
    ((share - wanted).abs() > SHARE_DIFFERENCE && all >= COMMANDS_MIN)
        .then(|| format!("{wanted}% reads and it has {share:.0}%"))
}

fn size(job: &Job) -> Option<String> {
    let wanted = job.shape.block_bytes?;
    let is_other = |mean: f64| (mean / wanted as f64 - 1.0).abs() > SIZE_DIFFERENCE;
    let means = job.kinds.iter().filter(|(_, kind)| kind.ios >= COMMANDS_MIN);
    let mut means = means.map(|(_, kind)| kind.bytes as f64 / kind.ios as f64);
    let mean = means.find(|mean| is_other(*mean))?;
    Some(format!("bs={} and the mean is {mean:.0} bytes", Bytes(wanted)))
}

/// The size of every command by the data, or `None` if there are several.
fn block_bytes(job: &Job) -> Option<u64> {
    let mut sizes = job.kinds.iter().map(|(_, kind)| {
        let bytes = kind.bytes.checked_div(kind.ios)?;
        (bytes > 0 && bytes.saturating_mul(kind.ios) == kind.bytes).then_some(bytes)
    });
    let first = sizes.next()??;
    sizes.all(|size| size == Some(first)).then_some(first)
}

/// The depths at the issue beside `iodepth`.
enum Depths {
    AsTold,
    /// One command at a time, in words.
    One(String),
    /// Others, in words.
    Others(String),
}

fn depths(job: &Job) -> Depths {
    let (told, engine) = (job.shape.depth, job.options.get("ioengine").map_or("", String::as_str));
    let waits = WAITING_ENGINES.contains(&engine);
    let Some((level, percent)) = main_level(job) else {
        let doubt = || {
            format!("the engine {engine} keeps one command outstanding, although iodepth is {told}")
        };
        return if told > 1 && waits { Depths::One(doubt()) } else { Depths::AsTold };
    };
    if told <= 1 || level >= level_of(told) {
        return Depths::AsTold;
    }
    if level == 1 {
        let why =
            if waits || engine.is_empty() { "; its engine waits for each command" } else { "" };
        return Depths::One(format!(
            "iodepth is {told}, and {percent:.0}% of the commands were issued at depth 1{why}"
        ));
    }
    Depths::Others(format!("iodepth={told} and {percent:.0}% of its commands are {}", range(level)))
}

/// The level of most commands with their percentage, or `None` if fio tells none.
fn main_level(job: &Job) -> Option<(u32, f64)> {
    let levels = job.depth_levels.iter().filter(|(_, percent)| **percent > 0.0);
    let levels = levels.filter_map(|(name, percent)| {
        Some((name.trim_start_matches(">=").parse::<u32>().ok()?, *percent))
    });
    levels.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The level of a depth: the power of two below it, and 64 for all above.
fn level_of(depth: u32) -> u32 {
    1 << depth.max(1).ilog2().min(6)
}

fn range(level: u32) -> String {
    match level {
        0 | 1 => "at depth 1".to_owned(),
        64.. => format!("at depth {level} or more"),
        _ => format!("at depth {level} to {}", 2 * level - 1),
    }
}

/// The load by the data: `write of 128KiB, read of 4KiB at depth 16 to 31`.
fn in_words(job: &Job) -> String {
    let kinds = job.kinds.iter().map(|(op, kind)| {
        let mean = kind.bytes.checked_div(kind.ios).unwrap_or(0);
        format!("{} of {}", op.map_or("commands", OpKind::name), Bytes(mean))
    });
    let kinds: Vec<_> = kinds.collect();
    let depth = main_level(job).map(|(level, _)| format!(" {}", range(level))).unwrap_or_default();
    format!("{}{depth}", if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") })
}

fn word(text: &str) -> String {
    base::text::shortened(text)
}
