//! One job of fio as a step: its rates and latencies as fio prints them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::histogram::BEYOND_MIN;
use base::text::shortened;
use base::{Histogram, OpKind};

use super::super::ImportError;
use super::super::sheet::{Step, word};
use super::bins;
use super::document::{Direction, Document, JobStats, Latency, Options};
use super::log::LogName;
use super::options::Shape;
use super::series::Series;
use crate::rows::{LatencyRow, PhaseRows, SecondRow};
use crate::schema::{Mark, Metrics};
use crate::stats::latency::{PERCENTILES, too_few};

/// Synchronous engines keep one command outstanding, whatever the queue depth.
const SYNC_ENGINES: [&str; 7] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"];
/// A percentile that only a long job has enough commands for.
const RARE: (&str, f64) = ("p99999", 99.999);
const NS_PER_MS: u64 = 1_000_000;

/// Job and its clones.
#[derive(Debug)]
pub(super) struct Job {
    /// File and group: jobs of one group run side by side.
    pub(super) group: (PathBuf, u64),
    /// The JSON file.
    pub(super) path: PathBuf,
    name: String,
    /// Own options and those of all jobs.
    pub(super) options: Options,
    /// The load of one clone.
    pub(super) shape: Shape,
    has_options: bool,
    /// Numbers of its threads in the document, from 1: logs have them in their names.
    threads: std::ops::RangeInclusive<u64>,
    /// Whether the document is of this job alone.
    is_alone: bool,
    errors: u64,
    kinds: Vec<(OpKind, Kind)>,
    /// The rows of its logs, or `None` without logs.
    pub(super) series: Option<Series>,
}

/// The commands of one kind: sums over the clones.
#[derive(Clone, Debug, Default)]
struct Kind {
    ios: u64,
    bytes: u64,
    iops: f64,
    bytes_per_s: f64,
    runtime_ms: u64,
    /// From submission to end; empty if fio did not measure it.
    total: Latencies,
    /// From the end of the submission on.
    completion: Latencies,
}

/// Latencies of clones together.
#[derive(Clone, Debug, Default)]
struct Latencies {
    commands: u64,
    sum_ns: f64,
    max_ns: u64,
    /// As fio prints them; empty for several clones.
    percentiles: BTreeMap<String, u64>,
    bins: BTreeMap<u64, u64>,
}

/// The jobs of a document; clones of one section as one.
///
/// # Errors
/// For bins without a number.
pub(super) fn of_document(path: &Path, document: Document) -> Result<Vec<Job>, ImportError> {
    let mut jobs: Vec<(JobStats, Job)> = Vec::new();
    let mut thread = 0_u64;
    for stats in document.jobs {
        let mut options = document.global.clone();
        options.extend(stats.options.clone());
        let same = jobs.iter().position(|(other, job)| {
            let is_clone = other.groupid == stats.groupid && other.jobname == stats.jobname;
            is_clone && job.options == options && job.shape.jobs > 1
        });
        let kinds = kinds(path, &stats)?;
        if let Some((_, job)) = same.and_then(|at| jobs.get_mut(at)) {
            thread = thread.saturating_add(1);
            job.add_clone(thread, kinds, stats.total_err);
            continue;
        }
        let mut job = Job::new(path, &stats, options, kinds);
        thread = thread.saturating_add(1);
        job.threads = thread..=thread;
        jobs.push((stats, job));
    }
    let mut jobs: Vec<_> = jobs.into_iter().map(|(_, job)| job).collect();
    if let [only] = jobs.as_mut_slice() {
        only.is_alone = true;
    }
    Ok(jobs)
}

/// The kinds of commands that a job has carried out; all of them together are reads and writes in
/// unknown shares, which fio's unified report does not tell apart.
fn kinds(path: &Path, stats: &JobStats) -> Result<Vec<(OpKind, Kind)>, ImportError> {
    let own = [
        (OpKind::Read, Some(&stats.read)),
        (OpKind::Write, Some(&stats.write)),
        (OpKind::Deallocate, Some(&stats.trim)),
        (OpKind::Read, stats.mixed.as_ref()),
    ];
    let done = own.into_iter().filter_map(|(op, direction)| Some((op, direction?)));
    let done = done.filter(|(_, direction)| direction.total_ios > 0 || direction.io_bytes > 0);
    done.map(|(op, direction)| Ok((op, Kind::of(path, direction)?))).collect()
}

impl Job {
    fn new(path: &Path, stats: &JobStats, options: Options, kinds: Vec<(OpKind, Kind)>) -> Self {
        let shape = Shape::of(&options);
        Self {
            group: (path.to_owned(), stats.groupid),
            path: path.to_owned(),
            name: shortened(&stats.jobname),
            has_options: shape.is_some(),
            shape: shape.unwrap_or_default(),
            options,
            threads: 0..=0,
            is_alone: false,
            errors: stats.total_err,
            kinds,
            series: None,
        }
    }

    fn add_clone(&mut self, thread: u64, kinds: Vec<(OpKind, Kind)>, errors: u64) {
        self.threads = *self.threads.start()..=thread;
        self.errors = self.errors.saturating_add(errors);
        for (op, kind) in kinds {
            match self.kinds.iter_mut().find(|(own, _)| *own == op) {
                Some((_, own)) => own.add(kind),
                None => self.kinds.push((op, kind)),
            }
        }
    }

    /// Name of the step: its load if that is known, else the name of the job.
    pub(super) fn step_name(&self) -> String {
        if self.has_options { self.shape.step_name() } else { word(&self.name) }
    }

    /// The file or device that the job was for, or `None` if it is not told or is not one.
    pub(super) fn drive(&self) -> Option<String> {
        let file = self.options.get("filename")?;
        (!file.is_empty()).then(|| shortened(file))
    }

    /// Whether a log is of this job: in the folder of its JSON file, with its prefix and, if the
    /// document has several jobs, the number of one of its threads.
    pub(super) fn has_log(&self, log: &LogName, path: &Path) -> bool {
        let option = self.options.get(log.kind.option()).filter(|prefix| !prefix.is_empty());
        let prefix = option.map_or(self.name.as_str(), String::as_str);
        let prefix = prefix.rsplit('/').next().unwrap_or(prefix);
        let is_own_number = log.number.is_none_or(|number| self.threads.contains(&number));
        folder(path) == folder(&self.path)
            && log.prefix == prefix
            && (self.is_alone || is_own_number)
    }

    /// Reasons to trust its figures less.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let step = self.step_name();
        let engine = self.options.get("ioengine").map_or("", String::as_str);
        if self.shape.depth > 1 && SYNC_ENGINES.contains(&engine) {
            warnings.push(format!(
                "{step}: the engine {engine} keeps one command outstanding, although iodepth is {}",
                self.shape.depth
            ));
        }
        if self.has_options && self.options.get("direct").is_none_or(|direct| direct != "1") {
            warnings.push(format!(
                "{step}: without direct=1 the commands went through the page cache of the host"
            ));
        }
        let is_completion = |(_, kind): &(OpKind, Kind)| {
            kind.total.percentiles.is_empty() && !kind.completion.percentiles.is_empty()
        };
        if self.kinds.iter().any(is_completion) {
            warnings.push(format!(
                "{step}: percentiles are of fio's completion latency, without the time of submission; mean and \
                 maximum are of the whole latency"
            ));
        }
        warnings
    }

    /// The step with its figures and rows.
    pub(super) fn into_step(mut self, name: &str, start_ns: u64) -> Step {
        let (mut metrics, mut marks) = (Metrics::new(), Vec::new());
        for (op, kind) in &self.kinds {
            let step = if self.kinds.len() > 1 {
                format!("{name}_{}", op.name())
            } else {
                name.to_owned()
            };
            kind.add_to(&mut metrics, &mut marks, &step);
        }
        let duration_ms = self.kinds.iter().map(|(_, kind)| kind.runtime_ms).max().unwrap_or(0);
        let duration_ns = duration_ms.saturating_mul(NS_PER_MS);
        let sum = |of: fn(&Kind) -> u64| {
            self.kinds.iter().fold(0_u64, |sum, (_, kind)| sum.saturating_add(of(kind)))
        };
        Step {
            name: name.to_owned(),
            what: self.what(),
            start_ns,
            duration_ns,
            ios: sum(|kind| kind.ios),
            bytes: sum(|kind| kind.bytes),
            errors: self.errors,
            is_load: self.shape.is_random_writes()
                && self.series.as_ref().is_some_and(Series::is_by_second),
            rows: {
                let series = self.series.take();
                self.rows(series, duration_ns)
            },
            metrics,
            marks,
        }
    }

    fn what(&self) -> String {
        let options = self.options.iter().filter(|(key, _)| !key.starts_with("write_"));
        let options: Vec<_> = options.map(|(key, value)| format!("{key}={value}")).collect();
        shortened_list(&format!("fio job {}", self.name), &options)
    }

    /// The rows of the logs, else one row of everything; and the bins of JSON+, if the logs have none.
    fn rows(&self, series: Option<Series>, duration_ns: u64) -> PhaseRows {
        let mut rows = series.map(|series| series.rows).unwrap_or_default();
        if rows.seconds.is_empty() {
            rows.seconds.push(self.row_of_all(duration_ns));
        }
        if rows.latencies.is_empty() {
            let bins = self.kinds.iter().flat_map(|(op, kind)| kind.latency_rows(*op));
            rows.latencies = bins.collect();
        }
        rows
    }

    fn row_of_all(&self, duration_ns: u64) -> SecondRow {
        let mut row = SecondRow { duration_ns, errors: self.errors, ..SecondRow::default() };
        for (op, kind) in &self.kinds {
            row.ios[op.index()] = row.ios[op.index()].saturating_add(kind.ios);
            row.bytes[op.index()] = row.bytes[op.index()].saturating_add(kind.bytes);
            let max_ns = Some(kind.latencies().max_ns).filter(|ns| *ns > 0);
            row.latency_ns_max = row.latency_ns_max.max(max_ns);
        }
        row
    }

    /// A figure of a kind, or `None` if the job has no such commands.
    pub(super) fn iops(&self, op: OpKind) -> Option<f64> {
        self.kind(op).map(|kind| kind.iops)
    }

    /// The 99th percentile in ns, or `None` if fio does not tell it.
    pub(super) fn p99_ns(&self, op: OpKind) -> Option<f64> {
        self.kind(op)?.percentile_ns(99.0)
    }

    fn kind(&self, op: OpKind) -> Option<&Kind> {
        self.kinds.iter().find(|(own, _)| *own == op).map(|(_, kind)| kind)
    }
}

/// The folder of a file.
fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// A list that ends with `…` where it would become longer than a few lines.
fn shortened_list(head: &str, items: &[String]) -> String {
    const CHARS_MAX: usize = 400;
    let text =
        if items.is_empty() { head.to_owned() } else { format!("{head}: {}", items.join(" ")) };
    match text.char_indices().nth(CHARS_MAX) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

impl Kind {
    fn of(path: &Path, direction: &Direction) -> Result<Self, ImportError> {
        Ok(Self {
            ios: direction.total_ios,
            bytes: direction.io_bytes,
            iops: direction.iops,
            bytes_per_s: direction.bw_bytes.map_or(direction.bw * 1024.0, |bytes| bytes as f64),
            runtime_ms: direction.runtime,
            total: Latencies::of(path, &direction.lat_ns, direction.total_ios)?,
            completion: Latencies::of(path, &direction.clat_ns, direction.total_ios)?,
        })
    }

    fn add(&mut self, clone: Self) {
        self.ios = self.ios.saturating_add(clone.ios);
        self.bytes = self.bytes.saturating_add(clone.bytes);
        self.iops += clone.iops;
        self.bytes_per_s += clone.bytes_per_s;
        self.runtime_ms = self.runtime_ms.max(clone.runtime_ms);
        self.total.add(clone.total);
        self.completion.add(clone.completion);
    }

    /// The whole latency, or that of the completion if fio has no other.
    fn latencies(&self) -> &Latencies {
        if self.total.commands > 0 && self.total.sum_ns > 0.0 {
            &self.total
        } else {
            &self.completion
        }
    }

    /// The latencies with percentiles.
    fn spread(&self) -> &Latencies {
        if self.total.has_spread() { &self.total } else { &self.completion }
    }

    fn percentile_ns(&self, percent: f64) -> Option<f64> {
        self.spread().percentile_ns(percent).map(|ns| ns as f64)
    }

    fn add_to(&self, metrics: &mut Metrics, marks: &mut Vec<Mark>, step: &str) {
        metrics.insert(format!("{step}.iops"), Some(self.iops));
        metrics.insert(format!("{step}.mb_per_s"), Some(self.bytes_per_s / 1e6));
        let latencies = self.latencies();
        metrics.insert(format!("{step}.latency_ns_mean"), latencies.mean_ns());
        let max = (latencies.commands > 0).then_some(latencies.max_ns as f64);
        metrics.insert(format!("{step}.latency_ns_max"), max);
        for percentile in PERCENTILES {
            let metric = format!("{step}.latency_ns_{}", percentile.end);
            let percent = percentile.share().as_f64() * 100.0;
            let Some(ns) = self.percentile_ns(percent) else { continue };
            if !self.has_enough(percent) {
                marks.push(too_few(&metric, self.spread().commands));
            }
            metrics.insert(metric, Some(ns));
        }
        let rare = self.percentile_ns(RARE.1).filter(|_| self.has_enough(RARE.1));
        if let Some(ns) = rare {
            metrics.insert(format!("{step}.latency_ns_{}", RARE.0), Some(ns));
        }
    }

    /// Whether enough commands lie beyond a percentile.
    fn has_enough(&self, percent: f64) -> bool {
        self.spread().commands as f64 * (100.0 - percent) / 100.0 >= BEYOND_MIN as f64
    }

    fn latency_rows(&self, op: OpKind) -> Vec<LatencyRow> {
        let histogram: Histogram = bins::histogram(&self.spread().bins);
        let row = |(lower_ns, count)| LatencyRow { second: 0, op, lower_ns, count };
        histogram.bins().map(row).collect()
    }
}

impl Latencies {
    fn of(path: &Path, latency: &Latency, ios: u64) -> Result<Self, ImportError> {
        let commands = latency.count.unwrap_or(if latency.mean > 0.0 { ios } else { 0 });
        let bin = |(middle, count): (&String, &u64)| {
            let fault = || {
                let words = format!("the bin `{}` is no number of ns", shortened(middle));
                ImportError::damaged(path, words)
            };
            middle.parse().map(|middle: u64| (middle, *count)).map_err(|_| fault())
        };
        Ok(Self {
            commands,
            sum_ns: latency.mean * commands as f64,
            max_ns: latency.max,
            percentiles: latency.percentile.clone(),
            bins: latency.bins.iter().map(bin).collect::<Result<_, _>>()?,
        })
    }

    /// Percentiles do not add up, bins do.
    fn add(&mut self, clone: Self) {
        self.commands = self.commands.saturating_add(clone.commands);
        self.sum_ns += clone.sum_ns;
        self.max_ns = self.max_ns.max(clone.max_ns);
        self.percentiles.clear();
        for (middle_ns, count) in clone.bins {
            let own = self.bins.entry(middle_ns).or_default();
            *own = own.saturating_add(count);
        }
    }

    fn has_spread(&self) -> bool {
        !self.percentiles.is_empty() || !self.bins.is_empty()
    }

    fn mean_ns(&self) -> Option<f64> {
        (self.commands > 0).then(|| self.sum_ns / self.commands as f64)
    }

    fn percentile_ns(&self, percent: f64) -> Option<u64> {
        let is_it =
            |name: &&String| name.parse::<f64>().is_ok_and(|own| (own - percent).abs() < 1e-6);
        let printed = self.percentiles.keys().find(is_it);
        let printed = printed.and_then(|name| self.percentiles.get(name)).copied();
        printed.or_else(|| bins::percentile_ns(&self.bins, percent))
    }
}
