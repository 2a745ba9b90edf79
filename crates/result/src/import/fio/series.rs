//! Rows of seconds from the logs of one job.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use base::{Histogram, OpKind};

use super::super::ImportError;
use super::super::sheet::{ImportStep, word};
use super::bins::{BUCKETS, middle_ns};
use super::log::{self, Line, LogKind, LogName};
use super::options::JobShape;
use crate::rows::{LatencyRow, PhaseRows, SecondRow};
use crate::schema::Metrics;
use crate::stats::latency::Latencies;

const MS_PER_S: u64 = 1_000;
/// Longest series: a week.
const ROWS_MAX: u64 = 604_800;
/// Rows for each line of a log: a sparse log is long, and a hostile one has two lines.
const ROWS_PER_LINE_MAX: u64 = 1_000;
/// Averages of a log that tell the length of its intervals.
const SAMPLE_LINES: usize = 4_096;
/// Histogram bins of all seconds of one job.
const BINS_MAX: usize = 8_000_000;
/// A time beyond this is one since 1970 (`log_unix_epoch`), not since the start of the job.
const EPOCH_MS_MIN: u64 = 100_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// The rows of a job, by its logs.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    /// Rows, and bins by second if the logs tell latencies of commands.
    pub(super) rows: PhaseRows,
    row_ms: u64,
}

impl Series {
    /// Reads the logs of one job; `None` if there are none, or none with rates or commands. Memory grows
    /// with the seconds of the job, not with its lines. Reports the logs whose last line is cut.
    ///
    /// # Errors
    /// If a log is damaged, or nothing tells how many commands its rates are.
    pub(super) fn read(
        logs: &[(LogName, PathBuf)],
        shape: &JobShape,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Self>, ImportError> {
        let mut logs: Vec<_> = logs.iter().collect();
        logs.sort_by_key(|(name, _)| preference(name.kind));
        let Some((_, first)) = logs.first() else { return Ok(None) };
        let window_ms = match shape.log_ms {
            Some(ms) => ms,
            None => usual_ms(&logs)?.unwrap_or(MS_PER_S),
        };
        let mut gathered = SeriesDraft { window_ms, ..SeriesDraft::default() };
        for (name, path) in &logs {
            let is_cut = log::read(path, name.kind, |line| {
                gathered.take(name, &line).map(ControlFlow::Continue)
            })?;
            gathered.end_log();
            if is_cut {
                warnings.push(format!(
                    "{}: its last line is cut, as by the end of a killed fio, and left out",
                    path.display()
                ));
            }
        }
        gathered.finish(shape).map_err(|words| ImportError::damaged(first, words))
    }

    /// Whether a row is a second.
    pub(super) fn is_by_second(&self) -> bool {
        self.row_ms == MS_PER_S
    }

    /// The step of logs without a JSON file.
    pub(super) fn into_step(self, prefix: &str) -> ImportStep {
        let name = word(prefix);
        let (mut metrics, mut marks) = (Metrics::new(), Vec::new());
        let seconds = &self.rows.seconds;
        let duration_ns =
            seconds.last().map_or(0, |row| row.start_ns.saturating_add(row.duration_ns));
        let sum = |of: &dyn Fn(&SecondRow) -> u64| {
            seconds.iter().fold(0_u64, |sum, row| sum.saturating_add(of(row)))
        };
        let done = OpKind::ALL.into_iter().filter(|op| sum(&|row| row.ios[op.index()]) > 0);
        let done: Vec<_> = done.collect();
        for op in &done {
            let step = if done.len() > 1 { format!("{name}_{}", op.name()) } else { name.clone() };
            let rate =
                |count: u64| (duration_ns > 0).then(|| count as f64 * 1e9 / duration_ns as f64);
            let bytes = sum(&|row| row.bytes[op.index()]);
            metrics.insert(format!("{step}.iops"), rate(sum(&|row| row.ios[op.index()])));
            // A log of commands alone does not tell their sizes.
            let mb_per_s = rate(bytes).filter(|_| bytes > 0).map(|rate| rate / 1e6);
            metrics.insert(format!("{step}.mb_per_s"), mb_per_s);
            let latencies = Latencies::of_kind(&self.rows, *op);
            if latencies.commands() > 0 {
                latencies.add_to(&mut metrics, &mut marks, &format!("{step}.latency_ns"), "");
            }
        }
        ImportStep {
            what: format!("logs {prefix} of fio, without the JSON file that tells the job"),
            duration_ns,
            ios: sum(&|row| row.ios.into_iter().fold(0, u64::saturating_add)),
            bytes: sum(&|row| row.bytes.into_iter().fold(0, u64::saturating_add)),
            metrics,
            marks,
            name,
            rows: self.rows,
            ..ImportStep::default()
        }
    }
}

/// Single commands are counted once, in the log that tells most about them.
fn preference(kind: LogKind) -> u8 {
    match kind {
        LogKind::Total => 0,
        LogKind::Completion => 1,
        LogKind::Histogram => 2,
        LogKind::Iops => 3,
        LogKind::Bandwidth => 4,
        LogKind::Submission => 5,
    }
}

#[derive(Default)]
struct SeriesDraft {
    /// Length of the intervals of averages.
    window_ms: u64,
    rates: Rates,
    /// The log that single commands come from, or `None` before the first one.
    singles: Option<LogKind>,
    /// Commands, bytes and largest latency by second.
    counted: BTreeMap<u64, SecondRow>,
    bins: Bins,
    lines: u64,
    /// Start of the job on the clock of its logs, in ms; or `None` before the first line.
    start_ms: Option<u64>,
}

impl SeriesDraft {
    fn take(&mut self, log: &LogName, line: &Line) -> Result<(), String> {
        self.lines += 1;
        let start_ms = *self.start_ms.get_or_insert_with(|| match line.time_ms {
            since_1970 if since_1970 > EPOCH_MS_MIN => since_1970 - MS_PER_S,
            _ => 0,
        });
        let time_ms = line.time_ms.saturating_sub(start_ms);
        if time_ms / MS_PER_S >= ROWS_MAX {
            return Err(format!("the time {time_ms} ms lies more than a week after the start"));
        }
        match log.kind {
            LogKind::Histogram => self.take_counts(time_ms, line),
            _ if line.block_bytes == 0 => self.take_average(log, time_ms, line),
            LogKind::Submission => {}
            kind => self.take_single(kind, time_ms, line),
        }
        if self.bins.closed.len() > BINS_MAX {
            return Err(format!(
                "more than {BINS_MAX} bins of latency by second; import a shorter log, or the averages alone"
            ));
        }
        Ok(())
    }

    fn take_average(&mut self, log: &LogName, time_ms: u64, line: &Line) {
        if matches!(log.kind, LogKind::Iops | LogKind::Bandwidth) {
            let is_iops = log.kind == LogKind::Iops;
            self.rates.add(is_iops, line, time_ms, self.window_ms);
        }
    }

    fn end_log(&mut self) {
        self.rates.end_log(self.window_ms);
    }

    fn take_single(&mut self, kind: LogKind, time_ms: u64, line: &Line) {
        if *self.singles.get_or_insert(kind) != kind {
            return;
        }
        let (second, op) = (time_ms / MS_PER_S, line.op.index());
        let row = self.counted.entry(second).or_default();
        row.ios[op] = row.ios[op].saturating_add(1);
        row.bytes[op] = row.bytes[op].saturating_add(line.block_bytes);
        if matches!(kind, LogKind::Total | LogKind::Completion) {
            row.latency_ns_max = row.latency_ns_max.max(Some(line.value));
            self.bins.record(second, op, line.value, 1);
        }
    }

    /// A line of a histogram log: the commands since the line before. They are counted unless logs
    /// of single commands do.
    fn take_counts(&mut self, time_ms: u64, line: &Line) {
        if *self.singles.get_or_insert(LogKind::Histogram) != LogKind::Histogram {
            return;
        }
        let second = time_ms.saturating_sub(MS_PER_S / 2) / MS_PER_S;
        let coarseness = (BUCKETS / line.counts.len().max(1)).trailing_zeros();
        let op = line.op.index();
        let row = self.counted.entry(second).or_default();
        for (bucket, count) in line.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            row.ios[op] = row.ios[op].saturating_add(*count);
            row.bytes[op] = row.bytes[op].saturating_add(count.saturating_mul(line.block_bytes));
            self.bins.record(second, op, middle_ns(bucket, coarseness), *count);
        }
    }

    fn finish(self, shape: &JobShape) -> Result<Option<Series>, String> {
        let has_averages = !self.rates.rows.is_empty();
        let row_ms = if has_averages { row_ms(self.window_ms) } else { MS_PER_S };
        let mut rows = if has_averages { self.rates.completed(shape)? } else { self.counted };
        let Some((last, _)) = rows.last_key_value() else { return Ok(None) };
        let last = *last;
        if last > self.lines.saturating_mul(ROWS_PER_LINE_MAX) {
            return Err(format!("{} lines over {last} s are no log of a measurement", self.lines));
        }
        let seconds = (0..=last).zip(0_u32..).map(|(at, second)| {
            let row = rows.remove(&at).unwrap_or_default();
            let duration_ns =
                if row.duration_ns == 0 { row_ms * NS_PER_MS } else { row.duration_ns };
            SecondRow { second, start_ns: at * row_ms * NS_PER_MS, duration_ns, ..row }
        });
        let rows =
            PhaseRows { seconds: seconds.collect(), latencies: self.bins.rows(last, row_ms) };
        Ok(Some(Series { rows: PhaseRows::merged(&[rows]), row_ms }))
    }
}

/// Length of a row of averages.
fn row_ms(window_ms: u64) -> u64 {
    window_ms.max(MS_PER_S)
}

/// The usual distance of two averages at the begin of the first log that has some: the length of their
/// intervals; or `None` without such a log.
fn usual_ms(logs: &[&(LogName, PathBuf)]) -> Result<Option<u64>, ImportError> {
    let of_rates = |kind| matches!(kind, LogKind::Iops | LogKind::Bandwidth);
    for (name, path) in logs.iter().filter(|(name, _)| of_rates(name.kind)) {
        let mut ends: [Vec<u64>; 4] = Default::default();
        let mut lines = 0;
        log::read(path, name.kind, |line| {
            if line.block_bytes == 0 {
                ends[line.op.index()].push(line.time_ms);
            }
            lines += 1;
            Ok(if lines < SAMPLE_LINES {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        let found = ends.iter().max_by_key(|ends| ends.len()).and_then(|ends| median_ms(ends));
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn median_ms(ends: &[u64]) -> Option<u64> {
    let mut distances: Vec<_> =
        ends.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    distances.sort_unstable();
    let median = distances.get(distances.len() / 2).copied()?;
    if median == 0 || median / MS_PER_S >= ROWS_MAX {
        return None;
    }
    // The clock of fio's sampler is some ms late; the interval is a round number.
    let round = (median + 50) / 100 * 100;
    Some(if round.abs_diff(median) * 20 <= median { round } else { median })
}

/// Rows from averages.
#[derive(Default)]
struct Rates {
    rows: BTreeMap<u64, SecondRow>,
    has_ios: bool,
    has_bytes: bool,
    /// The intervals of the present log by direction: the last end, and the length of all in each row.
    open: [(u64, BTreeMap<u64, u64>); 4],
}

impl Rates {
    fn add(&mut self, is_iops: bool, line: &Line, end_ms: u64, window_ms: u64) {
        self.has_ios |= is_iops;
        self.has_bytes |= !is_iops;
        let op = line.op.index();
        let (before_ms, lengths) = &mut self.open[op];
        // fio writes no line for an interval without a command.
        let since_ms = end_ms.saturating_sub(*before_ms);
        let length_ms = if since_ms * 2 > window_ms * 3 { window_ms } else { since_ms };
        *before_ms = end_ms;
        let at = end_ms.saturating_sub(length_ms / 2) / row_ms(window_ms);
        *lengths.entry(at).or_default() += length_ms;
        let row = self.rows.entry(at).or_default();
        let per_s = if is_iops { line.value } else { line.value.saturating_mul(1024) };
        let sum = if is_iops { &mut row.ios } else { &mut row.bytes };
        sum[op] = sum[op].saturating_add(amount(per_s, length_ms));
    }

    fn end_log(&mut self, window_ms: u64) {
        for (_, lengths) in std::mem::take(&mut self.open) {
            self.add_lengths(&lengths, window_ms, row_ms(window_ms));
        }
    }

    /// A row of several intervals has the length of all of them, with or without a line; the last
    /// one ends with its last line.
    fn add_lengths(&mut self, lengths: &BTreeMap<u64, u64>, window_ms: u64, row_ms: u64) {
        let last = lengths.last_key_value().map(|(at, _)| *at);
        for (at, length_ms) in lengths {
            let is_whole = window_ms < row_ms && Some(*at) != last;
            let ms = if is_whole { row_ms.max(*length_ms) } else { *length_ms };
            let row = self.rows.entry(*at).or_default();
            row.duration_ns = row.duration_ns.max(ms.saturating_mul(NS_PER_MS));
        }
    }

    /// The rows with commands from bytes, or bytes from commands, by the size of a command.
    fn completed(mut self, shape: &JobShape) -> Result<BTreeMap<u64, SecondRow>, String> {
        match (self.has_ios, self.has_bytes, shape.block_bytes) {
            (true, true, _) => {}
            (false, _, None) => {
                return Err("a log of rates in KiB/s does not tell the size of a command; import the JSON file \
                            of its job or its log of IOPS with it"
                    .to_owned());
            }
            (true, false, None) => {}
            (true, false, Some(block)) => {
                self.each(|row, op| row.bytes[op] = row.ios[op].saturating_mul(block));
            }
            (false, _, Some(block)) => self.each(|row, op| row.ios[op] = row.bytes[op] / block),
        }
        Ok(self.rows)
    }

    fn each(&mut self, change: impl Fn(&mut SecondRow, usize)) {
        for row in self.rows.values_mut() {
            (0..row.ios.len()).for_each(|op| change(row, op));
        }
    }
}

/// A rate over a time, rounded.
fn amount(per_s: u64, length_ms: u64) -> u64 {
    let thousandths = u128::from(per_s) * u128::from(length_ms);
    u64::try_from((thousandths + 500) / 1_000).unwrap_or(u64::MAX)
}

/// Histogram bins by second. Logs are nearly in order of time, so that one second is open at a time.
struct Bins {
    second: u64,
    open: [Histogram; 4],
    closed: BTreeMap<(u64, usize, u64), u64>,
}

impl Default for Bins {
    fn default() -> Self {
        Self { second: 0, open: OpKind::ALL.map(|_| Histogram::new()), closed: BTreeMap::new() }
    }
}

impl Bins {
    fn record(&mut self, second: u64, op: usize, ns: u64, count: u64) {
        if second != self.second {
            self.close();
            self.second = second;
        }
        if let Some(histogram) = self.open.get_mut(op) {
            histogram.record_bin(ns, count);
        }
    }

    fn close(&mut self) {
        for (op, histogram) in self.open.iter_mut().enumerate() {
            for (lower_ns, count) in histogram.bins() {
                let sum = self.closed.entry((self.second, op, lower_ns)).or_default();
                *sum = sum.saturating_add(count);
            }
            if histogram.count() > 0 {
                histogram.clear();
            }
        }
    }

    /// The bins of rows up to `last`.
    fn rows(mut self, last: u64, row_ms: u64) -> Vec<LatencyRow> {
        self.close();
        let rows = self.closed.into_iter().filter_map(|((second, op, lower_ns), count)| {
            let at = (second * MS_PER_S / row_ms).min(last);
            Some(LatencyRow {
                second: u32::try_from(at).ok()?,
                op: *OpKind::ALL.get(op)?,
                lower_ns,
                count,
            })
        });
        rows.collect()
    }
}
