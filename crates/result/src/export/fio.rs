//! A run as the JSON of fio 3: one job for each phase with commands.
//!
//! Rates are those of the phase as a whole. Latencies count from the due time (open loop) or the
//! submission to the end, and stand under `lat_ns` with percentiles, as with `lat_percentiles=1`;
//! `clat_ns` has the same values, and `slat_ns` is zero, because ssdlab does not measure the
//! submission apart. Load of the processor is unknown and zero.

use std::collections::BTreeMap;

use base::{Histogram, OpKind};
use serde::Serialize;

use super::ExportError;
use crate::rows::{PhaseRows, SecondRow};
use crate::schema::{Load, Mark, Phase, Run};
use crate::stats::latency::Latencies;
use crate::stats::summary::Summary;
use crate::store::RunDir;

/// Commands that read or write anything, in the order of fio.
const KINDS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Deallocate];
/// The percentiles that fio prints by default, in hundredths of a percent; those with fewer than ten
/// commands beyond them are left away.
const PERCENTILES: [u64; 17] = [
    100, 500, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000, 9_500, 9_900, 9_950,
    9_990, 9_995, 9_999,
];
/// Upper ends of the classes of latencies within each unit.
const CLASSES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000];
/// Upper ends in milliseconds go on.
const SLOW_CLASSES: [u64; 1] = [2_000];

/// One output of fio.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: u64,
    time: String,
    #[serde(rename = "global options")]
    global: Options,
    pub jobs: Vec<Job>,
    /// Reservations about the figures of the run, which fio has no place for.
    #[serde(rename = "ssdlab marks", skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Mark>,
}

impl Document {
    /// A document of each job alone, as bench-fio writes them, with the name of the phase.
    pub fn split(self) -> impl Iterator<Item = (String, Self)> {
        let Self { version, timestamp, time, global, jobs, marks } = self;
        jobs.into_iter().map(move |job| {
            let name = job.jobname.clone();
            let (version, time, global) = (version.clone(), time.clone(), global.clone());
            let marks = marks.clone();
            (name, Self { version, timestamp, time, global, jobs: vec![job], marks })
        })
    }
}

type Options = BTreeMap<&'static str, String>;

/// One phase.
#[derive(Clone, Debug, Serialize)]
pub struct Job {
    /// Name of the phase.
    pub jobname: String,
    groupid: usize,
    job_start: u64,
    error: u64,
    eta: u64,
    elapsed: u64,
    #[serde(rename = "job options")]
    options: Options,
    read: Direction,
    write: Direction,
    trim: Direction,
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
    latency_ns: Classes,
    latency_us: Classes,
    latency_ms: Classes,
    latency_depth: u32,
    total_err: u64,
}

/// Shares of the commands in percent, by the upper end of their latency.
type Classes = BTreeMap<String, f64>;

/// The commands of one kind.
#[derive(Clone, Debug, Default, Serialize)]
struct Direction {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: Latency,
    clat_ns: Latency,
    lat_ns: Latency,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: usize,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: usize,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    percentile: BTreeMap<String, u64>,
}

/// The run as one output of fio.
///
/// # Errors
/// If the rows cannot be read, or no phase has commands.
pub fn fio(dir: &RunDir) -> Result<Document, ExportError> {
    let run = dir.run();
    let mut jobs = Vec::new();
    for (index, phase) in run.phases.iter().enumerate().filter(|(_, phase)| phase.ios > 0) {
        jobs.push(job(run, index, phase, &dir.rows(index)?));
    }
    if jobs.is_empty() {
        let (run, test) = (run.run_id.clone(), run.test.clone());
        let instead = "`--as markdown` has its figures";
        return Err(ExportError::Nothing { run, test, content: "phase with commands", instead });
    }
    let target =
        BTreeMap::from([("filename", run.target.spec.clone()), ("direct", "1".to_owned())]);
    Ok(Document {
        version: "fio-3.36".to_owned(),
        timestamp: run.finished_unix_ns / 1_000_000_000,
        time: format!("written by {} in the format of fio", run.tool_version),
        global: target,
        jobs,
        marks: run.marks.clone(),
    })
}

fn job(run: &Run, index: usize, phase: &Phase, rows: &PhaseRows) -> Job {
    let runtime_ms = phase.duration_ns / 1_000_000;
    let [read, write, trim] = KINDS.map(|kind| direction(kind, phase, rows));
    let all = Latencies::of(rows, 0..u32::MAX);
    let (latency_ns, latency_us, latency_ms) = classes(all.histogram());
    Job {
        jobname: phase.name.clone(),
        groupid: index,
        job_start: run.started_unix_ns / 1_000_000,
        error: 0,
        eta: 0,
        elapsed: runtime_ms.div_ceil(1_000),
        options: options(phase),
        read,
        write,
        trim,
        job_runtime: runtime_ms,
        usr_cpu: 0.0,
        sys_cpu: 0.0,
        ctx: 0,
        latency_ns,
        latency_us,
        latency_ms,
        latency_depth: phase.load.as_ref().map_or(1, |load| load.queue_depth),
        total_err: phase.errors,
    }
}

/// The options of a job file for the load of the phase; only its name where no load is recorded.
fn options(phase: &Phase) -> Options {
    let mut options = Options::from([("name", phase.name.clone())]);
    let Some(load) = &phase.load else { return options };
    options.insert("rw", rw(load));
    if (1..100).contains(&load.read_percent) {
        options.insert("rwmixread", load.read_percent.to_string());
    }
    options.insert("bs", base::Bytes(load.block_bytes.into()).to_string());
    options.insert("iodepth", load.queue_depth.to_string());
    options.insert("numjobs", "1".to_owned());
    options.insert("offset", load.offset_bytes.to_string());
    options.insert("size", load.span_bytes.to_string());
    if let Some(rate) = &load.rate {
        let (process, rate) = rate.split_once(':').unwrap_or(("linear", rate));
        options.insert("rate_process", process.to_owned());
        options.insert("rate_iops", rate.to_owned());
    }
    options
}

fn rw(load: &Load) -> String {
    let random = if load.order.starts_with("sequential") { "" } else { "rand" };
    let kind = match (load.deallocate_percent, load.read_percent) {
        (100, _) => "trim",
        (_, 0) => "write",
        (_, 100) => "read",
        _ => "rw",
    };
    format!("{random}{kind}")
}

fn direction(kind: OpKind, phase: &Phase, rows: &PhaseRows) -> Direction {
    let seconds = &rows.seconds;
    let sum = |of: fn(&SecondRow) -> [u64; 4]| -> u64 {
        seconds.iter().map(|row| of(row)[kind.index()]).sum()
    };
    let (ios, bytes) = (sum(|row| row.ios), sum(|row| row.bytes));
    if ios == 0 {
        return Direction::default();
    }
    let per_second = |count: u64| count as f64 * 1e9 / phase.duration_ns.max(1) as f64;
    let rates = |of: fn(&SecondRow) -> [u64; 4]| {
        let rate =
            |row: &SecondRow| of(row)[kind.index()] as f64 * 1e9 / row.duration_ns.max(1) as f64;
        Summary::of(&seconds.iter().map(rate).collect::<Vec<_>>())
    };
    let Some((iops, rate)) = rates(|row| row.ios).zip(rates(|row| row.bytes)) else {
        return Direction::default();
    };
    let kib = |bytes: f64| bytes / 1024.0;
    let latency = latency(kind, rows);
    Direction {
        io_bytes: bytes,
        io_kbytes: bytes / 1024,
        bw_bytes: per_second(bytes) as u64,
        bw: kib(per_second(bytes)) as u64,
        iops: per_second(ios),
        runtime: phase.duration_ns / 1_000_000,
        total_ios: ios,
        clat_ns: latency.clone(),
        lat_ns: latency,
        bw_min: kib(rate.min) as u64,
        bw_max: kib(rate.max) as u64,
        bw_agg: 100.0,
        bw_mean: kib(rate.mean),
        bw_dev: kib(rate.stddev.unwrap_or_default()),
        bw_samples: rate.count,
        iops_min: iops.min as u64,
        iops_max: iops.max as u64,
        iops_mean: iops.mean,
        iops_stddev: iops.stddev.unwrap_or_default(),
        iops_samples: iops.count,
        ..Direction::default()
    }
}

fn latency(kind: OpKind, rows: &PhaseRows) -> Latency {
    let latencies = Latencies::of_kind(rows, kind);
    let histogram = latencies.histogram();
    let mean = latencies.mean_ns().unwrap_or_default();
    let count = histogram.count();
    let square = |(ns, count): (u64, u64)| (ns as f64 - mean).powi(2) * count as f64;
    let squares: f64 = histogram.bins().map(square).sum();
    let percentile = |hundredths: &u64| {
        let share = base::Ratio::new(*hundredths, 10_000)?;
        let name = format!("{}.{:02}0000", hundredths / 100, hundredths % 100);
        Some((name, histogram.percentile(share)?))
    };
    Latency {
        min: histogram.bins().next().map_or(0, |(ns, _)| ns),
        max: latencies.max_ns().unwrap_or_default() as u64,
        mean,
        stddev: (squares / count.max(1) as f64).sqrt(),
        count,
        percentile: PERCENTILES.iter().filter_map(percentile).collect(),
    }
}

/// Shares of the commands in percent by classes of ns, us and ms.
fn classes(histogram: &Histogram) -> (Classes, Classes, Classes) {
    let slow = CLASSES.into_iter().chain(SLOW_CLASSES);
    let mut ends: Vec<(u64, usize, String)> = Vec::new();
    for (unit, ns) in [1, 1_000].into_iter().enumerate() {
        ends.extend(CLASSES.map(|end| (end * ns, unit, end.to_string())));
    }
    ends.extend(slow.map(|end| (end * 1_000_000, 2, end.to_string())));
    ends.push((u64::MAX, 2, ">=2000".to_owned()));
    let mut found = [Classes::new(), Classes::new(), Classes::new()];
    ends.iter().for_each(|(_, unit, name)| {
        found[*unit].insert(name.clone(), 0.0);
    });
    for (ns, count) in histogram.bins() {
        let at = ends.partition_point(|(end, ..)| *end <= ns).min(ends.len() - 1);
        let (_, unit, name) = &ends[at];
        let share = count as f64 * 100.0 / histogram.count() as f64;
        *found[*unit].entry(name.clone()).or_default() += share;
    }
    let [ns, us, ms] = found;
    (ns, us, ms)
}
