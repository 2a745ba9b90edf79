//! The figures of the performance-consistency test (section 1 of the suite).

use std::collections::BTreeMap;
use std::ops::Range;

use base::{Histogram, Ratio};

use super::rates::{full_intervals, iops, waf};
use super::summary::{Summary, share_below};
use crate::rows::{PhaseRows, SecondRow};

/// Second at which the steady-state figures and graphs begin, unless a run says otherwise.
pub const STEADY_FROM_S: u32 = 1_400;

/// Length of the first stretch, whose mean is the peak.
const PEAK_S: u32 = 60;
/// Length of the last stretch, over which the two consistency numbers of 2015 are taken.
const LAST_S: usize = 400;
/// With fewer seconds from the asked start on, the steady window is taken from the end of the run.
const STEADY_SECONDS_MIN: usize = 10;
/// That window: the last so many percent of the run.
const FALLBACK_PERCENT: usize = 30;

/// Percentiles by the end of their metric's name.
const QUANTILES: [(&str, u64, u64); 4] =
    [("p50", 1, 2), ("p99", 99, 100), ("p999", 999, 1_000), ("p9999", 9_999, 10_000)];

/// Figures by their stable names; `None` where unknown.
pub type Metrics = BTreeMap<String, Option<f64>>;

/// What one load phase says about consistency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consistency {
    /// Every figure of the test; `None` where unknown.
    pub metrics: Metrics,
    /// Why some figures may mean less than they seem to.
    pub warnings: Vec<String>,
    /// First second of the window that the steady-state figures cover.
    pub steady_from_s: u32,
}

impl Consistency {
    /// The figures of the rows of the load phase. `steady_from_s` is where steady state is expected
    /// to begin ([`STEADY_FROM_S`] by default); a run too short for it gets a window from its own
    /// end, and a warning.
    #[must_use]
    pub fn of(rows: &PhaseRows, steady_from_s: u32) -> Self {
        let (steady_from_s, warning) = steady_window(&rows.seconds, steady_from_s);
        let mut metrics = Metrics::new();
        iops_metrics(&mut metrics, &rows.seconds, steady_from_s);
        latency_metrics(&mut metrics, "latency_ns", rows, 0..u32::MAX);
        latency_metrics(&mut metrics, "latency_steady_ns", rows, steady_from_s..u32::MAX);
        let steady_rows = from_second(&rows.seconds, steady_from_s);
        metrics.insert("waf_steady".to_owned(), waf(steady_rows));
        Self { metrics, warnings: warning.into_iter().collect(), steady_from_s }
    }

    /// A figure by its name; `None` where it is unknown.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).copied().flatten()
    }
}

/// Where the steady window begins: at the asked second, or, in a run too short for that, at the
/// last 30% of the run, with a sentence that says so.
#[must_use]
pub fn steady_window(rows: &[SecondRow], steady_from_s: u32) -> (u32, Option<String>) {
    if from_second(rows, steady_from_s).len() >= STEADY_SECONDS_MIN || rows.is_empty() {
        return (steady_from_s, None);
    }
    let kept = (rows.len() * FALLBACK_PERCENT / 100).max(1);
    let from_s = rows[rows.len() - kept].second;
    let warning = format!(
        "The load ran for {} s, too short for steady-state figures from {steady_from_s} s on; \
         they cover its last {FALLBACK_PERCENT}% instead, from {from_s} s on, and the drive may \
         not have been in steady state",
        rows.len()
    );
    (from_s, Some(warning))
}

/// The rows from a second on.
fn from_second(rows: &[SecondRow], second: u32) -> &[SecondRow] {
    &rows[rows.partition_point(|row| row.second < second)..]
}

fn iops_metrics(metrics: &mut Metrics, rows: &[SecondRow], steady_from_s: u32) {
    let rates = |rows: &[SecondRow]| -> Vec<f64> {
        full_intervals(rows).into_iter().filter_map(iops).collect()
    };
    let all = rates(rows);
    let steady = rates(from_second(rows, steady_from_s));
    let peak = rates(&rows[..rows.partition_point(|row| row.second < PEAK_S)]);
    let last = all.len().checked_sub(LAST_S).map_or(&[][..], |start| &all[start..]);

    let summary = Summary::of(&steady);
    let last = Summary::of(last);
    let below_half = summary.and_then(|s| share_below(&steady, s.mean / 2.0));
    for (name, value) in [
        ("iops_steady_mean", summary.map(|s| s.mean)),
        ("iops_steady_min", summary.map(|s| s.min)),
        ("iops_steady_max", summary.map(|s| s.max)),
        ("iops_steady_stddev", summary.and_then(|s| s.stddev)),
        ("iops_steady_cv", summary.and_then(|s| s.cv())),
        ("iops_peak_mean_first_60s", Summary::of(&peak).map(|s| s.mean)),
        ("last400_stddev", last.and_then(|s| s.stddev)),
        ("last400_mean_over_stddev", last.and_then(|s| s.mean_over_stddev())),
        ("seconds_below_half_mean_share", below_half),
    ] {
        metrics.insert(name.to_owned(), value);
    }
}

fn latency_metrics(metrics: &mut Metrics, prefix: &str, rows: &PhaseRows, seconds: Range<u32>) {
    let histogram = merged_histogram(rows, seconds.clone());
    for (name, numerator, denominator) in QUANTILES {
        let share = Ratio::new(numerator, denominator).unwrap_or(Ratio::ONE);
        let value = histogram.quantile(share).map(|ns| ns as f64);
        metrics.insert(format!("{prefix}_{name}"), value);
    }
    // The rows know the largest latency exactly, the histogram to within its bin.
    let in_window = rows.seconds.iter().filter(|row| seconds.contains(&row.second));
    let exact = in_window.filter_map(|row| row.latency_ns_max).max();
    let max = exact.or_else(|| histogram.max()).map(|ns| ns as f64);
    metrics.insert(format!("{prefix}_max"), max);
}

/// The latency distribution of all kinds of commands over a range of seconds.
#[must_use]
pub fn merged_histogram(rows: &PhaseRows, seconds: Range<u32>) -> Histogram {
    let mut histogram = Histogram::new();
    for row in rows.latencies.iter().filter(|row| seconds.contains(&row.second)) {
        histogram.record_bin(row.lower_ns, row.count);
    }
    histogram
}
