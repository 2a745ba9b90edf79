//! The figures of the performance-consistency test.

use std::collections::BTreeMap;

use base::Nanos;

use super::busy::Parts;
use super::changepoint::Shape;
use super::latency::{Latencies, PERCENTILES};
use super::mixture;
use super::rates::{full_intervals, iops, waf};
use super::steady::{PTS_WINDOW, Window};
use super::summary::{Summary, share_below};
use crate::marks::steady::{Before, cleaning_start, obstacle};
use crate::marks::{Reason, SECONDS_MIN};
use crate::rows::{PhaseRows, SecondRow};
use crate::schema::{Mark, MarkKind, Metrics, Run};

/// Second at which the steady-state figures and graphs begin, unless a run says otherwise.
pub const STEADY_FROM_S: u32 = 1_400;

/// Length of the first part, whose mean is the peak.
const PEAK_S: u32 = 60;
/// Length of the running mean whose variation is the drift.
const DRIFT_S: usize = 60;
/// Length of the last part, for the two consistency numbers of 2015.
const LAST_S: usize = 400;
/// Length of the window of a run that ends before the requested start: this percentage of it.
const FALLBACK_PERCENT: usize = 30;

/// Figures beside the mean that mean little if steady state mixes two regimes.
const OF_STEADY: [&str; 5] = [
    "iops_steady_stddev",
    "iops_steady_cv",
    "iops_steady_jitter_share",
    "iops_steady_drift_share",
    "seconds_below_half_mean_share",
];
/// Figures of single seconds, which need enough of them.
const OF_SECONDS: [&str; 7] = [
    "iops_steady_min",
    "iops_steady_max",
    "iops_steady_stddev",
    "iops_steady_cv",
    "iops_steady_jitter_share",
    "iops_steady_drift_share",
    "seconds_below_half_mean_share",
];
/// The names of the latencies of the whole load, and of steady state.
const WHOLE: &str = "latency_ns";
const STEADY: &str = "latency_steady_ns";
/// Beginnings of the names of steady figures, and of their counterparts of a drive that was not in
/// steady state.
const COUNTERPARTS: [(&str, &str); 3] =
    [("iops_steady_", "iops_fresh_"), (STEADY, "latency_fresh_ns"), ("waf_steady", "waf_fresh")];
/// Steady figures without a counterpart.
const STEADY_ONLY: [&str; 5] = [
    "seconds_below_half_mean_share",
    "steady_start_s",
    "die_busy_steady_share",
    "channel_busy_steady_share",
    "controller_busy_steady_share",
];

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
    /// The reason why the steady figures are unknown, or `None` if they are steady.
    pub unsteady: Option<Reason>,
    /// Whether the window lies at the end of the load, which is too short for the requested one.
    is_moved: bool,
}

/// The circumstances of a load that decide whether its figures are steady.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// The writes before the load.
    pub before: Before,
    /// Whether the load ran to its end.
    pub complete: bool,
}

/// The name of the figure of a drive that was not in steady state in place of a steady one, or `None`
/// if the figure is not steady or has no counterpart.
pub fn fresh_name(steady: &str) -> Option<String> {
    let counterpart = |(begin, other): &(&str, &str)| {
        steady.strip_prefix(begin).map(|end| format!("{other}{end}"))
    };
    COUNTERPARTS.iter().find_map(counterpart)
}

/// Whether a figure is that of a drive that was not in steady state.
pub fn is_fresh(name: &str) -> bool {
    COUNTERPARTS.iter().any(|(_, fresh)| name.starts_with(fresh))
}

impl Consistency {
    /// The figures of the rows of the load phase under the names of steady state, whether it was
    /// reached or not: [`Consistency::judged`] decides. `steady_from_s` is the expected start of
    /// steady state ([`STEADY_FROM_S`] by default). A run too short for it gets a window at its own
    /// end, and a warning.
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
        marks.extend(few_seconds(&metrics, steady_rows.len()));
        marks.extend(mixture_marks(
            &metrics,
            steady_rows,
            ("iops_steady_mean", &OF_STEADY),
            STEADY,
        ));
        marks.extend(mixture_marks(&metrics, &rows.seconds, ("iops_mean", &[]), WHOLE));
        let (is_moved, unsteady) = (warning.is_some(), None);
        let warnings = warning.into_iter().collect();
        let steady_commands = steady.commands();
        Self { metrics, marks, warnings, steady_from_s, steady_commands, shape, unsteady, is_moved }
    }

    /// The figures under the names that they may have: those of a drive that was not in steady
    /// state go to their counterparts, and the steady ones are unknown, with a mark of the reason.
    /// An interrupted load has that mark alone, and no warning of a short one.
    /// `rows` are those of [`Consistency::of`].
    #[must_use]
    pub fn judged(mut self, rows: &PhaseRows, circumstances: Circumstances) -> Self {
        if !circumstances.complete {
            self.warnings.clear();
        }
        let fresh: Vec<_> = self.metrics.keys().filter_map(|name| fresh_name(name)).collect();
        self.metrics.extend(fresh.into_iter().map(|name| (name, None)));
        self.unsteady = self.reason(&rows.seconds, circumstances);
        let Some(reason) = &self.unsteady else {
            let level_s = self.metric("steady_start_s");
            let cleaning_s = cleaning_start(&rows.seconds).map(f64::from);
            // Before the first cleaning, an even pace is that of a fresh drive.
            let start_s = level_s.map(|level_s| level_s.max(cleaning_s.unwrap_or(level_s)));
            self.metrics.insert("steady_start_s".to_owned(), start_s);
            if start_s.is_none() {
                self.marks.extend(unsettled(&self.metrics, &self.marks, rows.seconds.len()));
            }
            return self;
        };
        make_fresh(&mut self.metrics, &mut self.marks, reason);
        self
    }

    /// The reason why the window of the steady figures is not steady.
    fn reason(&self, rows: &[SecondRow], circumstances: Circumstances) -> Option<Reason> {
        if !circumstances.complete {
            let text = format!("the load was interrupted after {} s", rows.len());
            return Some(Reason { kind: MarkKind::Interrupted, text });
        }
        if self.is_moved {
            return Some(Reason::not_steady(format!("the load ran for {} s", rows.len())));
        }
        let (early, window) =
            rows.split_at(rows.len() - from_second(rows, self.steady_from_s).len());
        obstacle(window, circumstances.before.then(early)).map(Reason::not_steady)
    }

    /// Adds the use of time by the parts of a drive in steady state. `details` is the
    /// target's description of itself.
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
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).copied().flatten()
    }
}

/// Gives the steady figures of a drive that was not in steady state to their counterparts, with
/// their marks, and the reason to the steady ones.
pub fn make_fresh(metrics: &mut Metrics, marks: &mut Vec<Mark>, reason: &Reason) {
    let is_steady =
        |name: &&String| fresh_name(name).is_some() || STEADY_ONLY.contains(&name.as_str());
    let steady: Vec<String> = metrics.keys().filter(is_steady).cloned().collect();
    for mark in marks.iter_mut() {
        mark.metric = fresh_name(&mark.metric).unwrap_or_else(|| mark.metric.clone());
    }
    marks.retain(|mark| !steady.contains(&mark.metric));
    for name in steady {
        let value = metrics.insert(name.clone(), None).flatten();
        marks.push(reason.mark(&name));
        metrics.extend(fresh_name(&name).map(|fresh| (fresh, value)));
    }
}

/// The start of steady state by the configuration of a run, in seconds: `steady_from_s` as a
/// number, or `steady_from` as a number or a time with a unit.
pub fn configured_from_s(run: &Run) -> u32 {
    let value = run.config.get("steady_from_s").or_else(|| run.config.get("steady_from"));
    let number = value.and_then(serde_json::Value::as_f64).map(|s| s.max(0.0) as u32);
    let text = value.and_then(serde_json::Value::as_str);
    let time = text.and_then(|text| text.parse::<Nanos>().ok());
    let whole_s = |time: Nanos| u32::try_from(time.0 / Nanos::SECOND.0).unwrap_or(u32::MAX);
    number.or(time.map(whole_s)).unwrap_or(STEADY_FROM_S)
}

/// IOPS of every second of the steady-state window, in order.
pub fn steady_iops(rows: &PhaseRows, steady_from_s: u32) -> Vec<f64> {
    iops_of(from_second(&rows.seconds, steady_from_s))
}

/// Start of the steady window: the requested second. A run too short for it has the last 30% of the
/// run instead, with a sentence about that.
pub fn steady_window(rows: &[SecondRow], steady_from_s: u32) -> (u32, Option<String>) {
    if !from_second(rows, steady_from_s).is_empty() || rows.is_empty() {
        return (steady_from_s, None);
    }
    let kept = (rows.len() * FALLBACK_PERCENT / 100).max(1);
    let from_s = rows[rows.len() - kept].second;
    let warning = format!(
        "The load ran for {} s, too short for steady-state figures from {steady_from_s} s on; \
         figures of its last {FALLBACK_PERCENT}% take their place, from {from_s} s on",
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
    let kept = shape.steady_start.filter(|&start| keeps_level(&rates[start..]));
    let shape = Shape { steady_start: kept, ..shape };
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
    let share_of_mean = |stddev: Option<f64>| {
        stddev.zip(summary).filter(|(_, s)| s.mean > 0.0).map(|(stddev, s)| stddev / s.mean)
    };
    let below_half = summary.and_then(|s| share_below(&steady, s.mean / 2.0));
    for (name, value) in [
        ("iops_steady_mean", summary.map(|s| s.mean)),
        ("iops_steady_min", summary.map(|s| s.min)),
        ("iops_steady_max", summary.map(|s| s.max)),
        ("iops_steady_stddev", summary.and_then(|s| s.stddev)),
        ("iops_steady_cv", summary.and_then(|s| s.cv())),
        ("iops_steady_jitter_share", share_of_mean(jitter(&steady))),
        ("iops_steady_drift_share", share_of_mean(drift(&steady))),
        ("iops_peak_mean_first_60s", Summary::of(&peak).map(|s| s.mean)),
        ("last400_stddev", last.and_then(|s| s.stddev)),
        ("last400_mean_over_stddev", last.and_then(|s| s.mean_over_stddev())),
        ("seconds_below_half_mean_share", below_half),
    ] {
        metrics.insert(name.to_owned(), value);
    }
}

/// The variation from second to second: the standard deviation of the differences between neighbours, divided by the
/// root of 2, which is that of the seconds themselves where no second depends on another; `None` for fewer than three.
fn jitter(rates: &[f64]) -> Option<f64> {
    let steps: Vec<f64> = rates.windows(2).map(|pair| pair[1] - pair[0]).collect();
    Summary::of(&steps)?.stddev.map(|stddev| stddev / std::f64::consts::SQRT_2)
}

/// The slow variation: the standard deviation of the running mean over [`DRIFT_S`], or `None` for a series below twice
/// that length.
fn drift(rates: &[f64]) -> Option<f64> {
    if rates.len() < 2 * DRIFT_S {
        return None;
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / DRIFT_S as f64;
    let means: Vec<f64> = rates.windows(DRIFT_S).map(mean).collect();
    Summary::of(&means)?.stddev
}

/// Whether each of five equal parts of a series has its level, by the rule of the PTS.
fn keeps_level(rates: &[f64]) -> bool {
    let part =
        |at: usize| &rates[at * rates.len() / PTS_WINDOW..(at + 1) * rates.len() / PTS_WINDOW];
    let means = (0..PTS_WINDOW).filter_map(|at| Summary::of(part(at))).map(|part| part.mean);
    let means: Vec<f64> = means.collect();
    Window::last(&means, PTS_WINDOW).is_some_and(|window| window.is_pts_steady())
}

/// Marks the known steady figures of a load that never kept one level; those over two regimes have a mark that tells more.
fn unsettled(metrics: &Metrics, marks: &[Mark], seconds: usize) -> Vec<Mark> {
    let text = format!("the pace did not settle on one level within {seconds} s");
    let reason = Reason { kind: MarkKind::Unsettled, text };
    let is_mixed = |name: &String| {
        marks.iter().any(|mark| mark.metric == *name && mark.kind == MarkKind::TwoRegimes)
    };
    let known = metrics.iter().filter(|(_, value)| value.is_some()).map(|(name, _)| name);
    let steady = known.filter(|name| fresh_name(name).is_some() && !is_mixed(name));
    steady.map(|name| reason.mark(name)).collect()
}

/// Marks the known figures of single seconds of a window of few of them.
fn few_seconds(metrics: &Metrics, seconds: usize) -> Vec<Mark> {
    let text = format!("too few seconds ({seconds})");
    let reason = Reason { kind: MarkKind::FewSamples, text };
    let is_known = |name: &&&str| metrics.get(**name).is_some_and(Option::is_some);
    let few = OF_SECONDS.iter().filter(|_| seconds < SECONDS_MIN).filter(is_known);
    few.map(|name| reason.mark(name)).collect()
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

    fn judged(rows: &PhaseRows, steady_from_s: u32, complete: bool) -> Consistency {
        let before = Before { written_bytes: 0, span_bytes: Some(1) };
        let circumstances = Circumstances { before, complete };
        Consistency::of(rows, steady_from_s).judged(rows, circumstances)
    }

    /// The kinds and texts of the marks of a figure.
    fn marks_of(figures: &Consistency, name: &str) -> Vec<(MarkKind, String)> {
        let of_figure = figures.marks.iter().filter(|mark| mark.metric == name);
        of_figure.map(|mark| (mark.kind, mark.text.clone())).collect()
    }

    #[test]
    fn a_short_run_has_figures_of_a_drive_that_was_not_steady() {
        let figures = judged(&load(&levels(100, 10, 50_000, 5_000)), STEADY_FROM_S, true);
        assert_eq!(figures.steady_from_s, 70);
        assert!(figures.warnings[0].contains("last 30%"), "{:?}", figures.warnings);
        assert_eq!(figures.metric("iops_fresh_mean"), Some(5_100.0));
        assert_eq!(figures.metric("waf_fresh"), Some(3.0));
        assert!(figures.metric("latency_fresh_ns_p99").is_some());
        assert_eq!(figures.metric("last400_stddev"), None);
        for name in [
            "iops_steady_mean",
            "iops_steady_min",
            "latency_steady_ns_p99",
            "waf_steady",
            "steady_start_s",
            "seconds_below_half_mean_share",
        ] {
            assert_eq!(figures.metric(name), None, "{name}");
            let reason = (MarkKind::NotSteady, "the load ran for 100 s".to_owned());
            assert_eq!(marks_of(&figures, name), [reason], "{name}");
        }
        assert!(figures.marks.iter().all(|mark| mark.metric != "iops_peak_mean_first_60s"));
    }

    #[test]
    fn an_even_pace_without_cleaning_is_not_steady() {
        let mut rows = load(&[78_000; 60]);
        let figures = judged(&rows, 40, true);
        assert_eq!(figures.metric("iops_steady_mean"), None);
        assert_eq!(figures.metric("iops_fresh_mean"), Some(78_000.0));
        assert_eq!((figures.metric("steady_start_s"), figures.shape.steady_start), (None, Some(0)));
        let (kind, text) = &marks_of(&figures, "iops_steady_cv")[0];
        assert_eq!(*kind, MarkKind::NotSteady);
        assert_eq!(text, "garbage collection was not seen: 0 pages moved");
        let clean = |rows: &mut PhaseRows, from: usize| {
            for row in &mut rows.seconds[from..] {
                row.telemetry.as_mut().unwrap().gc_moved_pages = 9;
            }
        };
        clean(&mut rows, 7);
        let figures = judged(&rows, 40, true);
        assert_eq!(figures.metric("iops_steady_mean"), Some(78_000.0));
        assert_eq!(figures.metric("iops_fresh_mean"), None);
        assert_eq!(figures.metric("steady_start_s"), Some(7.0), "when cleaning begins");
        assert!(figures.marks.is_empty(), "{:?}", figures.marks);
    }

    #[test]
    fn an_interrupted_load_has_no_steady_figure() {
        let mut rows = load(&levels(2_000, 300, 71_000, 11_900));
        for row in &mut rows.seconds {
            row.telemetry.as_mut().unwrap().gc_moved_pages = 9;
        }
        assert!(judged(&rows, STEADY_FROM_S, true).metric("iops_steady_mean").is_some());
        let cut = judged(&rows, STEADY_FROM_S, false);
        assert_eq!(cut.metric("iops_steady_mean"), None);
        let reason = (MarkKind::Interrupted, "the load was interrupted after 2000 s".to_owned());
        assert_eq!(marks_of(&cut, "iops_steady_mean"), [reason]);
        assert_eq!(cut.metric("iops_fresh_mean"), Some(12_000.0));
        let early = judged(&load(&levels(100, 10, 50_000, 5_000)), STEADY_FROM_S, false);
        assert_eq!(early.warnings, Vec::<String>::new());
    }

    #[test]
    fn a_pace_that_falls_to_the_end_is_a_snapshot() {
        let ramp: Vec<u64> = (0..2_000).map(|second| 20_000 - 6 * second).collect();
        let mut rows = load(&ramp);
        for row in &mut rows.seconds {
            row.telemetry.as_mut().unwrap().gc_moved_pages = 9;
        }
        let figures = judged(&rows, STEADY_FROM_S, true);
        assert_eq!(figures.metric("steady_start_s"), None);
        let kinds = |name| marks_of(&figures, name).iter().map(|it| it.0).collect::<Vec<_>>();
        assert_eq!(kinds("iops_steady_mean"), [MarkKind::TwoRegimes], "tells more");
        let snapshot = "the pace did not settle on one level within 2000 s".to_owned();
        assert_eq!(marks_of(&figures, "waf_steady"), [(MarkKind::Unsettled, snapshot)]);
        assert_eq!(kinds("iops_peak_mean_first_60s"), []);
    }

    #[test]
    fn marks_of_a_window_go_with_its_figures() {
        let mut rows = load(&levels(2_000, 1_700, 71_000, 11_900));
        rows.latencies.retain(|bin| bin.second < 1_400 || bin.second % 500 == 0);
        for bin in &mut rows.latencies {
            bin.count = bin.count.min(50);
        }
        let figures = judged(&rows, STEADY_FROM_S, true);
        let kinds = |name| marks_of(&figures, name).iter().map(|it| it.0).collect::<Vec<_>>();
        assert_eq!(kinds("iops_fresh_mean"), [MarkKind::TwoRegimes]);
        assert_eq!(kinds("iops_steady_mean"), [MarkKind::NotSteady]);
        assert_eq!(kinds("latency_fresh_ns_p9999"), [MarkKind::FewSamples]);
    }

    #[test]
    fn figures_of_seconds_need_ten_of_them() {
        let figures = Consistency::of(&load(&[20_000; 100]), 93);
        assert_eq!(figures.steady_from_s, 93, "where it was requested");
        let (kind, text) = &marks_of(&figures, "iops_steady_cv")[0];
        assert_eq!((*kind, text.as_str()), (MarkKind::FewSamples, "too few seconds (7)"));
        assert!(marks_of(&figures, "iops_steady_mean").is_empty());
    }

    /// The curve of a drive that "no longer changes its level" from 860 s on, and then does.
    #[test]
    fn a_level_that_the_rest_of_the_curve_does_not_keep_is_not_steady_state() {
        let start_s = |levels: &[u64]| {
            let mut rates = vec![40_000; 860];
            let seconds = 1_140 / levels.len() as u64;
            for level in levels {
                rates.extend((0..seconds).map(|at| level + at % 2 * 300));
            }
            Consistency::of(&load(&rates), STEADY_FROM_S).metric("steady_start_s")
        };
        // Long waves have one level for the change points, and none for a reader of the curve.
        assert_eq!(start_s(&[12_000, 18_700, 13_400, 18_000, 12_500]), None);
        assert_eq!(start_s(&[12_000, 18_700, 13_400]), Some(1_620.0), "the last level is kept");
        assert_eq!(start_s(&[12_000]), Some(860.0));
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
    fn jitter_is_from_second_to_second_and_drift_is_slow() {
        let flip: Vec<f64> =
            (0..600).map(|second| 1_000.0 + 100.0 * f64::from(second % 2)).collect();
        let wave = |second: i32| {
            1_000.0 + 100.0 * (f64::from(second) * std::f64::consts::TAU / 600.0).sin()
        };
        let wave: Vec<f64> = (0..600).map(wave).collect();
        // Differences of 100 up and down: their deviation is 100, so the jitter is 100 / sqrt 2.
        assert!((jitter(&flip).unwrap() - 70.7).abs() < 0.2, "{:?}", jitter(&flip));
        assert!(drift(&flip).unwrap() < 1e-9, "{:?}", drift(&flip));
        assert!(jitter(&wave).unwrap() < 1.0, "{:?}", jitter(&wave));
        // A sine of 100 has a deviation of 70.7; the mean over a tenth of its period takes 2% of it.
        assert!((60.0..80.0).contains(&drift(&wave).unwrap()), "{:?}", drift(&wave));
        assert_eq!((jitter(&[1.0, 2.0]), drift(&[1.0; 119])), (None, None));
    }

    #[test]
    fn metric_names_are_those_scripts_rely_on() {
        let names: Vec<String> =
            judged(&PhaseRows::default(), 0, true).metrics.into_keys().collect();
        let want = "fall_start_s iops_fresh_cv iops_fresh_drift_share iops_fresh_jitter_share iops_fresh_max iops_fresh_mean iops_fresh_min iops_fresh_stddev iops_peak_mean_first_60s iops_steady_cv iops_steady_drift_share \
            iops_steady_jitter_share iops_steady_max \
            iops_steady_mean iops_steady_min iops_steady_stddev last400_mean_over_stddev \
            last400_stddev latency_fresh_ns_max latency_fresh_ns_mean latency_fresh_ns_p50 latency_fresh_ns_p99 \
            latency_fresh_ns_p999 latency_fresh_ns_p9999 latency_ns_max latency_ns_mean latency_ns_p50 latency_ns_p99 latency_ns_p999 \
            latency_ns_p9999 latency_steady_ns_max latency_steady_ns_mean latency_steady_ns_p50 latency_steady_ns_p99 \
            latency_steady_ns_p999 latency_steady_ns_p9999 seconds_below_half_mean_share \
            steady_start_s waf_fresh waf_steady";
        assert_eq!(names.join(" "), want);
    }
}
