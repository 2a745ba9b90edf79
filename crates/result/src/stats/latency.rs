//! Latencies as figures: mean, percentiles, maximum, and their marks.
//!
//! A percentile needs at least ten commands beyond it ([`Histogram::percentile`]): p99 needs 1,000
//! commands, p99.99 100,000. With fewer it would only show where these few happened to fall; it is
//! then missing and marked.

use std::ops::Range;

use base::{Histogram, OpKind, Ratio};

use super::words::count;
use crate::rows::PhaseRows;
use crate::schema::{Mark, MarkKind, Metrics, Phase};

/// A person feels waits from this length on.
pub const WAIT_NS: u64 = 100_000_000;

/// A percentile in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile {
    /// End of its metric's name.
    pub end: &'static str,
    /// The share of commands within it, in words.
    pub words: &'static str,
    /// The commands beyond it, in sentences.
    pub cases: &'static str,
    /// The share of commands within it, as a fraction.
    pub of: (u64, u64),
}

const fn percentile(
    end: &'static str,
    words: &'static str,
    cases: &'static str,
    of: (u64, u64),
) -> Percentile {
    Percentile { end, words, cases, of }
}

/// The percentiles of every result, in rising order.
pub const PERCENTILES: [Percentile; 4] = [
    percentile("p50", "50%", "half the time", (1, 2)),
    percentile("p99", "99%", "in 99 of 100 cases", (99, 100)),
    percentile("p999", "99.9%", "in 999 of 1,000 cases", (999, 1_000)),
    percentile("p9999", "99.99%", "in 9,999 of 10,000 cases", (9_999, 10_000)),
];

impl Percentile {
    /// The share of commands within it.
    pub fn share(self) -> Ratio {
        Ratio::new(self.of.0, self.of.1).unwrap_or(Ratio::ONE)
    }
}

/// The latencies of commands, in ns.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    histogram: Histogram,
    /// Largest latency, exact; or `None` if nothing ended.
    max_ns: Option<u64>,
}

impl Latencies {
    /// The latencies of all kinds of commands over a range of seconds.
    pub fn of(rows: &PhaseRows, seconds: Range<u32>) -> Self {
        let mut histogram = Histogram::new();
        for bin in rows.latencies.iter().filter(|bin| seconds.contains(&bin.second)) {
            histogram.record_bin(bin.lower_ns, bin.count);
        }
        // The rows know the largest latency exactly, the histogram to within its bin.
        let within = rows.seconds.iter().filter(|row| seconds.contains(&row.second));
        let exact = within.filter_map(|row| row.latency_ns_max).max();
        let max_ns = exact.or_else(|| histogram.max());
        Self { histogram, max_ns }
    }

    /// The latencies of one kind of command in a whole phase; the largest is exact if it is also
    /// the largest of all kinds.
    pub fn of_kind(rows: &PhaseRows, op: OpKind) -> Self {
        let histogram = rows.histogram(op, 0..u32::MAX);
        let exact = rows.seconds.iter().filter_map(|row| row.latency_ns_max).max();
        let max_ns = histogram.max().map(|max| exact.map_or(max, |exact| max.min(exact)));
        Self { histogram, max_ns }
    }

    /// The latencies of a histogram, such as the lateness of commands.
    pub fn of_histogram(histogram: Histogram) -> Self {
        let max_ns = histogram.max();
        Self { histogram, max_ns }
    }

    /// Number of commands.
    pub fn commands(&self) -> u64 {
        self.histogram.count()
    }

    /// The distribution.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// The largest, in ns; or `None` if there is no command.
    pub fn max_ns(&self) -> Option<f64> {
        self.max_ns.map(|ns| ns as f64)
    }

    /// The mean in ns to within a bin, never above the largest; or `None` if there is no command.
    pub fn mean_ns(&self) -> Option<f64> {
        self.histogram.mean().map(|mean| self.max_ns().map_or(mean, |max| mean.min(max)))
    }

    /// The latency that `share` of the commands stay within, in ns (upper edge of the bin, never
    /// above the largest); or `None` if fewer than ten commands lie beyond it.
    pub fn percentile_ns(&self, share: Ratio) -> Option<f64> {
        self.at_most_max(self.histogram.percentile(share))
    }

    /// A percentile without a minimum of commands, for a standard that demands the figure; or `None` if
    /// there is no command.
    pub fn demanded_percentile_ns(&self, share: Ratio) -> Option<f64> {
        self.at_most_max(self.histogram.quantile(share))
    }

    fn at_most_max(&self, ns: Option<u64>) -> Option<f64> {
        ns.map(|ns| self.max_ns.map_or(ns, |max| ns.min(max)) as f64)
    }

    /// Adds `<prefix>_mean<suffix>`, `_p50`, `_p99`, `_p999`, `_p9999` and `_max`, and marks the percentiles
    /// that have too few commands.
    pub fn add_to(&self, metrics: &mut Metrics, marks: &mut Vec<Mark>, prefix: &str, suffix: &str) {
        metrics.insert(format!("{prefix}_mean{suffix}"), self.mean_ns());
        metrics.insert(format!("{prefix}_max{suffix}"), self.max_ns());
        for percentile in PERCENTILES {
            let metric = format!("{prefix}_{}{suffix}", percentile.end);
            let value = self.percentile_ns(percentile.share());
            if value.is_none() && self.commands() > 0 {
                marks.push(too_few(&metric, self.commands()));
            }
            metrics.insert(metric, value);
        }
    }
}

/// The mark of a percentile with too few commands.
pub fn too_few(metric: &str, commands: u64) -> Mark {
    Mark {
        metric: metric.to_owned(),
        kind: MarkKind::FewSamples,
        text: too_few_words(commands),
        levels: None,
    }
}

/// The reason for a missing percentile.
pub fn too_few_words(commands: u64) -> String {
    let digits = if commands < 1_000 { commands.to_string() } else { count(commands as f64) };
    format!("too few commands ({digits})")
}

/// The effects of the end of a phase on its latencies, which are the `metrics` whose names begin
/// with `prefix`: all are "at least" if commands were cut short, and the longest may belong to a
/// command that ended late.
pub fn marks_of_end(phase: &Phase, metrics: &Metrics, prefix: &str) -> Vec<Mark> {
    let known = metrics.iter().filter_map(|(name, value)| Some((name, (*value)?)));
    let of_phase = known.filter(|(name, _)| name.starts_with(prefix) && name.contains("latency_"));
    let (cut, late) =
        (cut_words(phase), phase.latency_ns_max_after_end.filter(|ns| *ns >= WAIT_NS));
    let marks = of_phase.flat_map(|(metric, value)| {
        let is_late = late.is_some_and(|ns| ns as f64 == value);
        let late = is_late.then(|| (MarkKind::LateEnd, LATE_WORDS.to_owned()));
        let cut = cut.clone().map(|text| (MarkKind::AtLeast, text));
        let mark = |(kind, text)| Mark { metric: metric.clone(), kind, text, levels: None };
        [cut, late].into_iter().flatten().map(mark)
    });
    marks.collect()
}

/// The marks of the `metrics` of a phase with reads of blocks without data, writes apart; none
/// without such reads.
pub fn marks_of_unwritten(phase: Option<&Phase>, metrics: &Metrics) -> Vec<Mark> {
    const TIMED: [&str; 5] = ["latency_ns", "mb_per_s", "iops", "busy_time", "service_time"];
    let reads = phase.and_then(|phase| phase.reads_unwritten).unwrap_or_default();
    let known = metrics.iter().filter(|(_, value)| reads > 0 && value.is_some());
    let of_reads = known.map(|(metric, _)| metric).filter(|metric| {
        TIMED.iter().any(|timed| metric.contains(timed)) && !metric.ends_with("_write")
    });
    let mark = |metric: &String| Mark {
        metric: metric.clone(),
        kind: MarkKind::Unwritten,
        text: format!("reads of blocks without data: {reads}"),
        levels: None,
    };
    of_reads.map(mark).collect()
}

const LATE_WORDS: &str = "outstanding at the end of the phase: in no rate";

fn cut_words(phase: &Phase) -> Option<String> {
    let causes = [
        ("commands without an answer", phase.ios_unanswered),
        ("due commands without room in the queue", phase.ios_not_issued),
    ];
    let causes = causes.into_iter().filter(|(_, commands)| *commands > 0);
    let causes: Vec<_> = causes.map(|(what, commands)| format!("{what}: {commands}")).collect();
    (!causes.is_empty()).then(|| format!("at least ({})", causes.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(commands: u64) -> Latencies {
        let mut histogram = Histogram::new();
        histogram.record_bin(1_000, commands);
        Latencies::of_histogram(histogram)
    }

    #[test]
    fn what_is_missing_says_why() {
        let (mut metrics, mut marks) = (Metrics::new(), Vec::new());
        of(440).add_to(&mut metrics, &mut marks, "latency.random_read.latency_ns", "");
        let known: Vec<_> = metrics.iter().filter(|(_, value)| value.is_some()).collect();
        let ends =
            ["max", "mean", "p50"].map(|end| format!("latency.random_read.latency_ns_{end}"));
        assert!(known.into_iter().map(|(name, _)| name).eq(&ends), "{metrics:?}");
        let marked: Vec<_> = marks.iter().map(|mark| mark.metric.as_str()).collect();
        let ends = ["p99", "p999", "p9999"];
        assert_eq!(marked, ends.map(|end| format!("latency.random_read.latency_ns_{end}")));
        assert!(marks.iter().all(|mark| mark.text == "too few commands (440)"), "{marks:?}");
        let (mut metrics, mut marks) = (Metrics::new(), Vec::new());
        of(0).add_to(&mut metrics, &mut marks, "latency_ns", "_read");
        assert_eq!((marks.len(), metrics.len()), (0, 6), "nothing to say where nothing was done");
    }

    #[test]
    fn a_standard_has_its_figure_from_any_command() {
        let share = PERCENTILES[3].share();
        assert_eq!(of(440).percentile_ns(share), None);
        assert!(of(440).demanded_percentile_ns(share).is_some());
        assert!(of(100_000).percentile_ns(share).is_some());
    }
}
