//! The figures of the performance-consistency test.

use std::collections::BTreeMap;

use super::busy::Parts;
use super::changepoint::Shape;
use super::latency::{Latencies, PERCENTILES};
use super::mixture;
use super::rates::{full_intervals, iops, waf};
use super::summary::{Summary, share_below};
use crate::rows::{PhaseRows, SecondRow};
use crate::schema::{Mark, MarkKind, Metrics};

/// Second at which the steady-state figures and graphs begin, unless a run says otherwise.
pub const STEADY_FROM_S: u32 = 1_400;

/// Length of the first part, whose mean is the peak.
const PEAK_S: u32 = 60;
/// Length of the last part, for the two consistency numbers of 2015.
const LAST_S: usize = 400;
/// With fewer seconds after the requested start, the steady window comes from the end of the run.
const STEADY_SECONDS_MIN: usize = 10;
/// Length of that window: this percentage of the run.
const FALLBACK_PERCENT: usize = 30;

/// Figures beside the mean that mean little if steady state mixes two regimes.
const OF_STEADY: [&str; 3] =
    ["iops_steady_stddev", "iops_steady_cv", "seconds_below_half_mean_share"];
/// The names of the latencies of the whole load, and of steady state.
const WHOLE: &str = "latency_ns";
const STEADY: &str = "latency_steady_ns";

/// The figures of one load phase about consistency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consistency {
    /// Every figure of the test; `None` if unknown.
    pub metrics: Metrics,
    /// Marks of single figures.
    pub marks: Vec<Mark>,
    /// Reasons to trust some figures less.
    pub warnings: Vec<String>,
    /// First second of the window of the steady-state figures.
    pub steady_from_s: u32,
    /// Number of commands in the latencies of steady state.
    pub steady_commands: u64,
    /// Regimes of the IOPS curve; positions count the points of the graph.
    pub shape: Shape,
}

impl Consistency {
    /// The figures of the rows of the load phase. `steady_from_s` is the expected start of steady
    /// state ([`STEADY_FROM_S`] by default). A run too short for it gets a window at its own end,
    /// and a warning.
    #[must_use]
    pub fn of(rows: &PhaseRows, steady_from_s: u32) -> Self {
        let (steady_from_s, warning) = steady_window(&rows.seconds, steady_from_s);
        let (mut metrics, mut marks) = (Metrics::new(), Vec::new());
        iops_metrics(&mut metrics, &rows.seconds, steady_from_s);
        Latencies::of(rows, 0..u32::MAX).add_to(&mut metrics, &mut marks, WHOLE, "");
        let steady = Latencies::of(rows, steady_from_s..u32::MAX);
        steady.add_to(&mut metrics, &mut marks, STEADY, "");
        let steady_rows = from_second(&rows.seconds, steady_from_s);
        metrics.insert("waf_steady".to_owned(), waf(steady_rows));
        let shape = shape_metrics(&mut metrics, &rows.seconds);
        marks.extend(mixture_marks(
            &metrics,
            steady_rows,
            ("iops_steady_mean", &OF_STEADY),
            STEADY,
        ));
        marks.extend(mixture_marks(&metrics, &rows.seconds, ("iops_mean", &[]), WHOLE));
        if warning.is_some() {
            let unmarked = too_short_marks(&metrics, rows.seconds.len(), &marks);
            marks.extend(unmarked);
        }
        let warnings = warning.into_iter().collect();
        let steady_commands = steady.commands();
        Self { metrics, marks, warnings, steady_from_s, steady_commands, shape }
    }

    /// The same, with the use of time by the parts of a drive in steady state. `details` is the
    /// target's description of itself.
    #[must_use]
    pub fn with_busy_shares(
        mut self,
        rows: &PhaseRows,
        details: &BTreeMap<String, String>,
    ) -> Self {
        let steady_rows = from_second(&rows.seconds, self.steady_from_s);
        for parts in Parts::ALL {
            let share = parts.share(steady_rows, details);
            self.metrics.insert(parts.steady_share_metric.to_owned(), share);
        }
        self
    }

    /// A figure by its name; `None` if it is unknown.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).copied().flatten()
    }
}

/// IOPS of every second of the steady-state window, in order.
#[must_use]
pub fn steady_iops(rows: &PhaseRows, steady_from_s: u32) -> Vec<f64> {
    iops_of(from_second(&rows.seconds, steady_from_s))
}

/// Start of the steady window: the requested second. A run too short for it has the last 30% of the
/// run instead, with a sentence about that.
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

fn iops_of(rows: &[SecondRow]) -> Vec<f64> {
    full_intervals(rows).into_iter().filter_map(iops).collect()
}

/// Times at which the curve falls and settles; returns the shape behind them.
fn shape_metrics(metrics: &mut Metrics, rows: &[SecondRow]) -> Shape {
    let points = full_intervals(rows);
    let rates: Vec<f64> = points.iter().filter_map(|row| iops(row)).collect();
    let shape = Shape::of(&rates);
    let second = |position: usize| points.get(position).map(|row| f64::from(row.second));
    metrics.insert("fall_start_s".to_owned(), shape.fall_start.and_then(second));
    metrics.insert("steady_start_s".to_owned(), shape.steady_start.and_then(second));
    shape
}

fn iops_metrics(metrics: &mut Metrics, rows: &[SecondRow], steady_from_s: u32) {
    let all = iops_of(rows);
    let steady = iops_of(from_second(rows, steady_from_s));
    let peak = iops_of(&rows[..rows.partition_point(|row| row.second < PEAK_S)]);
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

/// Marks the figures of steady state of a load too short for it, unless they have a mark.
fn too_short_marks(metrics: &Metrics, length_s: usize, marked: &[Mark]) -> Vec<Mark> {
    let is_steady = |name: &str| {
        ["iops_steady_", STEADY, "waf_steady"].iter().any(|begin| name.starts_with(begin))
            || OF_STEADY.contains(&name)
    };
    let known = metrics.iter().filter(|(_, value)| value.is_some()).map(|(name, _)| name);
    let unmarked = known.filter(|name| marked.iter().all(|mark| mark.metric != **name));
    let mark = |metric: &String| Mark {
        metric: metric.clone(),
        kind: MarkKind::TwoRegimes,
        text: format!("not steady: the load ran for {length_s} s only"),
        levels: None,
    };
    unmarked.filter(|name| is_steady(name)).map(mark).collect()
}

/// Marks a mean rate over `rows`, and other figures over them, if they mix two regimes.
fn mixture_marks(
    metrics: &Metrics,
    rows: &[SecondRow],
    (mean, others): (&str, &[&str]),
    latencies: &str,
) -> Vec<Mark> {
    let ends = PERCENTILES.iter().map(|percentile| percentile.end).chain(["mean"]);
    let latencies: Vec<String> = ends.map(|end| format!("{latencies}_{end}")).collect();
    let others: Vec<&str> =
        others.iter().copied().chain(latencies.iter().map(String::as_str)).collect();
    mixture::marks(rows, metrics, mean, &others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::LatencyRow;
    use base::{OpKind, TelemetryRow};

    /// A load of `levels.len()` seconds with these IOPS and two latencies in every second.
    fn load(levels: &[u64]) -> PhaseRows {
        let mut rows = PhaseRows::default();
        for (second, &ios) in (0..).zip(levels) {
            rows.seconds.push(SecondRow {
                second,
                start_ns: u64::from(second) * 1_000_000_000,
                duration_ns: 1_000_000_000,
                ios: [0, ios, 0, 0],
                latency_ns_max: (ios > 0).then_some(2_000_123),
                telemetry: Some(TelemetryRow {
                    host_pages: ios,
                    programmed_pages: 3 * ios,
                    ..TelemetryRow::default()
                }),
                ..SecondRow::default()
            });
            for (lower_ns, count) in [(1_000, ios - ios / 10), (2_000_000, ios / 10)] {
                rows.latencies.push(LatencyRow { second, op: OpKind::Write, lower_ns, count });
            }
        }
        rows
    }

    fn levels(seconds: usize, fall: usize, fast: u64, slow: u64) -> Vec<u64> {
        (0..seconds).map(|s| if s < fall { fast } else { slow + (s as u64 % 2) * 200 }).collect()
    }

    #[test]
    fn figures_of_a_run_known_by_heart() {
        let figures = Consistency::of(&load(&levels(2_000, 300, 71_000, 11_900)), STEADY_FROM_S);
        let stddev = (600.0 * 100.0_f64.powi(2) / 599.0).sqrt();
        let last_stddev = (400.0 * 100.0_f64.powi(2) / 399.0).sqrt();
        for (name, want) in [
            ("iops_steady_mean", 12_000.0),
            ("iops_steady_min", 11_900.0),
            ("iops_steady_max", 12_100.0),
            ("iops_steady_stddev", stddev),
            ("iops_steady_cv", stddev / 12_000.0),
            ("iops_peak_mean_first_60s", 71_000.0),
            ("last400_stddev", last_stddev),
            ("last400_mean_over_stddev", 12_000.0 / last_stddev),
            ("seconds_below_half_mean_share", 0.0),
            ("latency_ns_max", 2_000_123.0),
            ("fall_start_s", 300.0),
            ("steady_start_s", 300.0),
            ("waf_steady", 3.0),
        ] {
            let got = figures.metric(name).unwrap_or(f64::NAN);
            assert!((got - want).abs() < 1e-6, "{name}: {got}, expected {want}");
        }
        assert_eq!((figures.steady_from_s, figures.warnings.len()), (1_400, 0));
    }

    #[test]
    fn percentiles_are_of_all_commands_and_within_the_bins() {
        let figures = Consistency::of(&load(&[20_000; 100]), 50);
        assert_eq!((figures.steady_commands, figures.marks.len()), (1_000_000, 0));
        for prefix in ["latency_ns", "latency_steady_ns"] {
            let get = |name: &str| figures.metric(&format!("{prefix}_{name}")).unwrap();
            assert!((1_000.0..1_008.0).contains(&get("p50")), "{}", get("p50"));
            for name in ["p99", "p999", "p9999"] {
                assert!((2_000_000.0..2_016_000.0).contains(&get(name)), "{}", get(name));
            }
        }
    }

    #[test]
    fn a_mean_over_a_fall_is_marked_with_both_levels() {
        let late = Consistency::of(&load(&levels(2_000, 1_700, 71_000, 11_900)), STEADY_FROM_S);
        let find = |metric: &str| late.marks.iter().find(|mark| mark.metric == metric);
        let mark = find("iops_steady_mean").unwrap();
        let words = "mixes two regimes: 71,000 IOPS until 1,700 s, 12,000 IOPS from then on";
        assert_eq!((mark.text.as_str(), mark.levels), (words, Some([71_000.0, 12_000.0])));
        assert_eq!(find("latency_steady_ns_p99").unwrap().text, "mixes two regimes");
        assert_eq!((find("iops_steady_min"), find("latency_steady_ns_max")), (None, None));
        let early = Consistency::of(&load(&levels(2_000, 300, 71_000, 11_900)), STEADY_FROM_S);
        let of_steady = early.marks.iter().filter(|mark| mark.metric.contains("steady"));
        assert_eq!(of_steady.count(), 0, "{:?}", early.marks);
        assert!(early.marks.iter().any(|mark| mark.metric == "iops_mean"), "the whole load mixes");
    }

    #[test]
    fn a_short_run_says_so() {
        let figures = Consistency::of(&load(&levels(100, 10, 50_000, 5_000)), STEADY_FROM_S);
        assert_eq!(figures.steady_from_s, 70);
        assert!(figures.warnings[0].contains("last 30%"), "{:?}", figures.warnings);
        assert_eq!(figures.metric("iops_steady_mean"), Some(5_100.0));
        assert_eq!(figures.metric("last400_stddev"), None);
        for name in ["iops_steady_mean", "iops_steady_min", "latency_steady_ns_p99", "waf_steady"] {
            let of_figure = figures.marks.iter().filter(|mark| mark.metric == name);
            let texts: Vec<_> = of_figure.map(|mark| mark.text.as_str()).collect();
            assert_eq!(texts, ["not steady: the load ran for 100 s only"], "{name}");
        }
        assert!(figures.marks.iter().all(|mark| mark.metric != "iops_peak_mean_first_60s"));
    }

    #[test]
    fn nothing_measured_gives_every_name_and_no_figure() {
        let all = Consistency::of(&load(&levels(2_000, 300, 71_000, 11_900)), STEADY_FROM_S);
        let none = Consistency::of(&PhaseRows::default(), STEADY_FROM_S);
        assert!(all.metrics.keys().eq(none.metrics.keys()));
        assert!(none.metrics.values().all(Option::is_none), "{:?}", none.metrics);
        let silent = Consistency::of(&load(&[0; 50]), 10);
        assert_eq!(silent.metric("iops_steady_mean"), Some(0.0));
        assert_eq!(silent.metric("iops_steady_cv"), None);
        assert!(silent.metrics.values().flatten().all(|value| value.is_finite()));
    }

    #[test]
    fn metric_names_are_those_scripts_rely_on() {
        let names: Vec<String> =
            Consistency::of(&PhaseRows::default(), 0).metrics.into_keys().collect();
        let want = "fall_start_s iops_peak_mean_first_60s iops_steady_cv iops_steady_max \
            iops_steady_mean iops_steady_min iops_steady_stddev last400_mean_over_stddev \
            last400_stddev latency_ns_max latency_ns_mean latency_ns_p50 latency_ns_p99 latency_ns_p999 \
            latency_ns_p9999 latency_steady_ns_max latency_steady_ns_mean latency_steady_ns_p50 latency_steady_ns_p99 \
            latency_steady_ns_p999 latency_steady_ns_p9999 seconds_below_half_mean_share \
            steady_start_s waf_steady";
        assert_eq!(names.join(" "), want);
    }
}
