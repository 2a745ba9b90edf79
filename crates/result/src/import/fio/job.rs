//! One job of fio as a step: its rates and latencies as fio prints them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::histogram::BEYOND_MIN;
use base::text::shortened;
use base::{Histogram, OpKind};

use super::super::ImportError;
use super::super::sheet::{ImportStep, word};
use super::bins;
use super::document::{Direction, Document, JobStats, Latency, Options, SteadyState};
use super::log::{LogName, folder};
use super::options::JobShape;
use super::series::Series;
use crate::rows::{LatencyRow, PhaseRows, SecondRow};
use crate::schema::{Mark, Metrics};
use crate::stats::latency::{PERCENTILES, too_few};

/// A percentile that only a long job has enough commands for.
const RARE: (&str, f64) = ("p99999", 99.999);
const NS_PER_MS: u64 = 1_000_000;

/// Job and its clones.
#[derive(Debug)]
pub(super) struct Job {
    /// Document and group: jobs of one group run side by side.
    pub(super) group: (PathBuf, usize, u64),
    /// The JSON file.
    pub(super) path: PathBuf,
    /// The machine of a client, or `None` in a run without a server.
    pub(super) host: Option<String>,
    /// The name that fio has for it.
    pub(super) name: String,
    /// Own options and those of all jobs.
    pub(super) options: Options,
    /// The load of one clone.
    pub(super) shape: JobShape,
    /// Whether its options are known.
    pub(super) has_options: bool,
    /// Whether its load is known: its options are, and its data agree with them.
    pub(super) has_load: bool,
    /// Percent of the commands by the depth at their issue.
    pub(super) depth_levels: BTreeMap<String, f64>,
    /// Numbers of its threads in the document, from 1: logs have them in their names.
    threads: std::ops::RangeInclusive<u64>,
    /// Whether the document has this job alone of its host.
    is_alone: bool,
    /// The last errno; 0 if no command failed the job.
    error: i64,
    errors: u64,
    steady_state: Option<SteadyState>,
    /// Commands by kind; without one where fio tells nothing but their sum.
    pub(super) kinds: Vec<(Option<OpKind>, Kind)>,
    /// The rows of its logs, or `None` without logs.
    pub(super) series: Option<Series>,
    /// Reasons to trust its name less.
    pub(super) doubts: Vec<String>,
}

/// The commands of one kind: sums over the clones.
#[derive(Clone, Debug, Default)]
pub(super) struct Kind {
    pub(super) ios: u64,
    pub(super) bytes: u64,
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

/// The jobs of document number `number` of a file; clones of one section as one.
///
/// # Errors
/// For bins without a number.
pub(super) fn of_document(
    path: &Path,
    number: usize,
    document: Document,
) -> Result<Vec<Job>, ImportError> {
    let mut jobs: Vec<(JobStats, Job)> = Vec::new();
    // Each server numbers its threads.
    let mut threads: BTreeMap<(Option<String>, Option<u64>), u64> = BTreeMap::new();
    for stats in document.jobs {
        let mut options = document.global.clone();
        options.extend(stats.options.clone().unwrap_or_default());
        let same = jobs.iter().position(|(other, job)| {
            let is_clone = other.groupid == stats.groupid
                && other.jobname == stats.jobname
                && (&other.hostname, other.port) == (&stats.hostname, stats.port);
            is_clone && job.options == options && job.shape.jobs > 1
        });
        let kinds = kinds(path, &stats)?;
        let thread = threads.entry((stats.hostname.clone(), stats.port)).or_default();
        let first = thread.saturating_add(1);
        if let Some((_, job)) = same.and_then(|at| jobs.get_mut(at)) {
            *thread = first;
            job.add_clone(first, kinds, &stats);
            continue;
        }
        let mut job = Job::new(path, number, &stats, options, kinds);
        let is_group = job.options.contains_key("group_reporting");
        let clones = if is_group { u64::from(job.shape.jobs) } else { 1 };
        *thread = thread.saturating_add(clones);
        job.threads = first..=*thread;
        jobs.push((stats, job));
    }
    let servers: Vec<_> =
        jobs.iter().map(|(stats, _)| (stats.hostname.clone(), stats.port)).collect();
    let mut jobs: Vec<_> = jobs.into_iter().map(|(_, job)| job).collect();
    for (job, server) in jobs.iter_mut().zip(&servers) {
        job.is_alone = servers.iter().filter(|other| *other == server).count() == 1;
    }
    Ok(jobs)
}

/// The kinds of commands that a job has carried out. With `unified_rw_reporting`, fio tells their sum
/// beside them, or alone.
fn kinds(path: &Path, stats: &JobStats) -> Result<Vec<(Option<OpKind>, Kind)>, ImportError> {
    let is_done = |direction: &Direction| direction.total_ios > 0 || direction.io_bytes > 0;
    let own = [
        (OpKind::Read, &stats.read),
        (OpKind::Write, &stats.write),
        (OpKind::Deallocate, &stats.trim),
    ];
    let mut done: Vec<_> =
        own.into_iter().map(|(op, d)| (Some(op), d)).filter(|(_, d)| is_done(d)).collect();
    if done.is_empty() {
        done.extend(stats.mixed.iter().filter(|sum| is_done(sum)).map(|sum| (None, sum)));
    }
    done.into_iter().map(|(op, direction)| Ok((op, Kind::of(path, direction)?))).collect()
}

impl Job {
    fn new(
        path: &Path,
        number: usize,
        stats: &JobStats,
        options: Options,
        kinds: Vec<(Option<OpKind>, Kind)>,
    ) -> Self {
        let names_load = ["rw", "readwrite"].iter().any(|key| options.contains_key(*key));
        Self {
            group: (path.to_owned(), number, stats.groupid),
            path: path.to_owned(),
            host: stats.hostname.as_deref().map(shortened),
            name: shortened(&stats.jobname),
            has_options: stats.options.as_ref().is_some_and(|own| !own.is_empty()) || names_load,
            shape: JobShape::of(&options),
            options,
            has_load: false,
            depth_levels: stats.iodepth_level.clone(),
            threads: 0..=0,
            is_alone: false,
            error: stats.error,
            errors: stats.total_err,
            steady_state: stats.steadystate.clone(),
            kinds,
            series: None,
            doubts: Vec::new(),
        }
    }

    fn add_clone(&mut self, thread: u64, kinds: Vec<(Option<OpKind>, Kind)>, stats: &JobStats) {
        self.threads = *self.threads.start()..=thread;
        self.errors = self.errors.saturating_add(stats.total_err);
        self.error = if self.error == 0 { stats.error } else { self.error };
        for (op, kind) in kinds {
            match self.kinds.iter_mut().find(|(own, _)| *own == op) {
                Some((_, own)) => own.add(kind),
                None => self.kinds.push((op, kind)),
            }
        }
    }

    /// Name of the step: its load if that is known, else the name of the job.
    pub(super) fn step_name(&self) -> String {
        if self.has_load { self.shape.step_name() } else { word(&self.name) }
    }

    /// The file or device that the job was for, or `None` if it is not told or is not one.
    pub(super) fn drive(&self) -> Option<String> {
        let names = ["filename", "directory"].into_iter();
        let mut told =
            names.filter_map(|key| self.options.get(key)).filter(|name| !name.is_empty());
        told.next().map(|name| shortened(name))
    }

    /// Whether a log is of this job: in the folder of its JSON file, of its host, with its prefix and, if
    /// the document has several jobs of the host, the number of one of its threads.
    pub(super) fn has_log(&self, log: &LogName, path: &Path) -> bool {
        let option = self.options.get(log.kind.option()).filter(|prefix| !prefix.is_empty());
        let prefix = option.map_or(self.name.as_str(), String::as_str);
        let prefix = prefix.rsplit('/').next().unwrap_or(prefix);
        let is_own_number = log.number.is_none_or(|number| self.threads.contains(&number));
        folder(path) == folder(&self.path)
            && log.host == self.host
            && log.prefix == prefix
            && (self.is_alone || is_own_number)
    }

    /// Reasons to trust its figures less.
    pub(super) fn warnings(&self) -> Vec<String> {
        let step = self.step_name();
        let mut warnings: Vec<_> =
            self.doubts.iter().map(|doubt| format!("{step}: {doubt}")).collect();
        if self.has_options && !self.is_direct() {
            warnings.push(format!(
                "{step}: without direct=1 the commands went through the page cache of the host"
            ));
        }
        if let Some(rule) = self.steady_state.as_ref().filter(|rule| rule.attained == 0) {
            let seen = match &rule.criterion {
                serde_json::Value::String(text) => shortened(text),
                other => shortened(&other.to_string()),
            };
            warnings.push(format!(
                "{step}: the steady state {} was not attained, {seen} at the end: the figures are of the way there",
                shortened(&rule.ss)
            ));
        }
        if self.error != 0 {
            let reason = std::io::Error::from_raw_os_error(i32::try_from(self.error).unwrap_or(0));
            let ios = self.kinds.iter().fold(0_u64, |sum, (_, kind)| sum.saturating_add(kind.ios));
            warnings.push(format!(
                "{step}: the job failed after {ios} commands with error {} ({reason}): its figures are left out",
                self.error
            ));
        }
        let is_completion = |(_, kind): &(Option<OpKind>, Kind)| {
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
    pub(super) fn into_step(mut self, name: &str, start_ns: u64) -> ImportStep {
        let (mut metrics, mut marks) = (Metrics::new(), Vec::new());
        for (op, kind) in &self.kinds {
            let step = match op {
                Some(op) if self.kinds.len() > 1 => format!("{name}_{}", op.name()),
                _ => name.to_owned(),
            };
            kind.add_to(&mut metrics, &mut marks, &step);
        }
        if self.error != 0 {
            metrics.values_mut().for_each(|value| *value = None);
            marks.clear();
        }
        let duration_ms = self.kinds.iter().map(|(_, kind)| kind.runtime_ms).max().unwrap_or(0);
        let duration_ns = duration_ms.saturating_mul(NS_PER_MS);
        let sum = |of: fn(&Kind) -> u64| {
            self.kinds.iter().fold(0_u64, |sum, (_, kind)| sum.saturating_add(of(kind)))
        };
        ImportStep {
            name: name.to_owned(),
            what: self.what(),
            start_ns,
            duration_ns,
            ios: sum(|kind| kind.ios),
            bytes: sum(|kind| kind.bytes),
            errors: self.errors.max(u64::from(self.error != 0)),
            is_failed: self.error != 0,
            is_load: self.error == 0
                && self.shape.is_random_writes()
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
        let kinds = self.kinds.iter().map(|(op, kind)| Some(((*op)?, kind)));
        // A sum of kinds is in no column of one of them.
        let Some(kinds) = kinds.collect::<Option<Vec<_>>>() else { return rows };
        if rows.seconds.is_empty() {
            rows.seconds.push(self.row_of_all(duration_ns, &kinds));
        }
        if rows.latencies.is_empty() {
            let bins = kinds.iter().flat_map(|(op, kind)| kind.latency_rows(*op));
            rows.latencies = bins.collect();
        }
        rows
    }

    /// Whether its commands bypass the page cache: by `direct=1`, or `buffered=0`, or an engine without it.
    fn is_direct(&self) -> bool {
        let option = |key: &str| self.options.get(key).map(String::as_str);
        let engine = option("ioengine").unwrap_or_default();
        option("direct").is_some_and(|value| value != "0")
            || option("buffered").is_some_and(|value| value == "0")
            || matches!(engine, "sg" | "io_uring_cmd" | "spdk" | "xnvme" | "libblkio")
    }

    fn row_of_all(&self, duration_ns: u64, kinds: &[(OpKind, &Kind)]) -> SecondRow {
        let mut row = SecondRow { duration_ns, errors: self.errors, ..SecondRow::default() };
        for (op, kind) in kinds {
            row.ios[op.index()] = row.ios[op.index()].saturating_add(kind.ios);
            row.bytes[op.index()] = row.bytes[op.index()].saturating_add(kind.bytes);
            let max_ns = Some(kind.latencies().max_ns).filter(|ns| *ns > 0);
            row.latency_ns_max = row.latency_ns_max.max(max_ns);
        }
        row
    }

    /// A figure of a kind, or `None` if the job has no such commands.
    pub(super) fn iops(&self, op: OpKind) -> Option<f64> {
        self.kind(op).filter(|_| self.error == 0).map(|kind| kind.iops)
    }

    /// The 99th percentile in ns, or `None` if fio does not tell it.
    pub(super) fn p99_ns(&self, op: OpKind) -> Option<f64> {
        self.kind(op).filter(|_| self.error == 0)?.percentile_ns(99.0)
    }

    fn kind(&self, op: OpKind) -> Option<&Kind> {
        self.kinds.iter().find(|(own, _)| *own == Some(op)).map(|(_, kind)| kind)
    }
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
