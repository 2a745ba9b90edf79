//! PTS cross-stimulus recovery: the time for which another kind of work affects a drive.
//!
//! Method (PTS 2.0, section "XSR"): purge; 1,024 KiB sequential writes for eight hours; 8 KiB
//! random writes for six hours; sequential writes for eight hours again; one point per minute of
//! rate, average and longest latency; no other preconditioning. Differences: on simulated drives,
//! hours and minutes are a tenth by default; the span is then written once in LBA order beforehand,
//! because a tenth of eight hours does not level it. Interpretation: the distance of the second
//! sequential group from the level of the first at its begin, and the time after which it is back
//! at nine tenths of that.

use base::{Histogram, Nanos, OpKind};
use load::{Order, Workload};
use result::schema::{Finding, Table, TableRow};

use crate::error::RunError;
use crate::params::Param;
use crate::suite::keys::{Duration, Key, QueueDepth, Reading, settings};
use crate::suite::pts::{self, Common};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Measurements, Notes, Part, ReviewEntry, Site, Step,
    TestSettings, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-xsr",
    heading: "SNIA PTS: cross-stimulus recovery",
    question: "how long do random writes slow down the sequential ones that follow?",
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    charts: &[Chart::Curves { table: "steps", units: &["MB/s"], log_rows: false }],
    ..Definition::of::<Settings>(Chapter::Pts, 6)
};

const SIMULATED_SHORTEN: u64 = 10;

/// A part with one kind of work: phase, words, size of its commands, order, full length.
type Group = (&'static str, &'static str, u32, Order, fn(&Settings) -> Nanos);
const GROUPS: [Group; 3] = [
    ("sequential", "sequential", 1 << 20, Order::Sequential, |settings| settings.sequential),
    ("random", "random", 8 << 10, Order::Uniform, |settings| settings.random),
    ("recovery", "sequential again", 1 << 20, Order::Sequential, |settings| settings.sequential),
];

/// The last points of a group, which define its level.
const LEVEL_POINTS: usize = 5;
/// A group that is back at this share of a level has recovered.
const RECOVERED_SHARE: f64 = 0.9;

settings! {
    /// Lengths of the groups.
    struct Settings {
        common: Tenths = Param::new(
            "shorten",
            "auto",
            "divides all times; auto: 10 for simulated drives, else 1",
        );
        sequential: Duration = Param::new("sequential", "8h", "sequential writes, before and after");
        random: Duration = Param::new("random", "6h", "random writes in between");
        queue_depth: QueueDepth = pts::QUEUE_DEPTH;
    }
}

/// The common settings, with a tenth of all times on simulated drives.
enum Tenths {}

impl Key for Tenths {
    type Value = Common;

    fn read(Reading { params, site, notes, .. }: Reading<'_>) -> Result<Common, RunError> {
        let queue_depth = params.queue_depth(pts::QUEUE_DEPTH.name)?;
        Common::of(params, site, SIMULATED_SHORTEN, queue_depth, notes)
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let (Common { step, shorten, .. }, depth) = (self.common, self.queue_depth);
        let group = |(name, _, block, order, length): Group| {
            let workload = Workload::new(OpKind::Write, order, block, depth, site.span_bytes);
            let length = Nanos((length(self).0 / shorten).max(step.0));
            steps::for_time(name, workload, length)
        };
        let mut list = self.common.beginning(site, false);
        list.extend(steps::once(GROUPS.map(group)));
        list
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let step = self.common.step;
        let points = |name| measured.part(name).map(|part| points(part, step));
        let groups = GROUPS.map(|(name, ..)| points(name).unwrap_or_default());
        let conditions = self.common.conditions(measured);
        for table in [summary(&groups), all_points(&groups)] {
            figures.tables.push(Table { conditions: conditions.clone(), ..table });
        }
        add_metrics(&mut figures, &groups);
        figures.findings.extend(finding(measured, &groups));
        figures
    }
}

/// The reported figures of each minute.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Time from the start of the group to the end of the minute.
    end: Nanos,
    mb_per_s: f64,
    latency_ns_mean: Option<f64>,
    latency_ns_max: Option<f64>,
}

/// The minutes of a group; an incomplete one at the end does not count.
fn points(part: Part<'_>, step: Nanos) -> Vec<Point> {
    let seconds_each = (step.0 / Nanos::SECOND.0).max(1) as usize;
    let rows = part.rows.seconds.chunks_exact(seconds_each);
    let mut latencies = vec![Histogram::new(); rows.len()];
    for row in part.rows.latencies.iter().filter(|row| row.op == OpKind::Write) {
        if let Some(histogram) = latencies.get_mut(row.second as usize / seconds_each) {
            histogram.record_bin(row.lower_ns, row.count);
        }
    }
    rows.zip(latencies)
        .filter_map(|(rows, latencies)| {
            let bytes: u64 = rows.iter().flat_map(|row| row.bytes).sum();
            let duration_ns: u64 = rows.iter().map(|row| row.duration_ns).sum();
            let last = rows.last().filter(|_| duration_ns > 0)?;
            let max = rows.iter().filter_map(|row| row.latency_ns_max).max().map(|ns| ns as f64);
            Some(Point {
                end: Nanos(last.start_ns + last.duration_ns),
                mb_per_s: bytes as f64 * 1e3 / duration_ns as f64,
                latency_ns_mean: latencies.mean().zip(max).map(|(mean, max)| mean.min(max)),
                latency_ns_max: max,
            })
        })
        .collect()
}

/// Mean of the last points.
fn level(points: &[Point]) -> Option<f64> {
    let last = &points[points.len().saturating_sub(LEVEL_POINTS)..];
    (!last.is_empty()).then(|| last.iter().map(|p| p.mb_per_s).sum::<f64>() / last.len() as f64)
}

/// One row per minute.
fn all_points(groups: &[Vec<Point>; 3]) -> Table {
    let columns = [("rate", "MB/s"), ("average latency", "ns"), ("longest", "ns")];
    let mut table = rates::table("steps", "PTS cross-stimulus recovery", "time", &columns);
    for ((_, words, ..), points) in GROUPS.iter().zip(groups) {
        for point in points {
            let values = vec![Some(point.mb_per_s), point.latency_ns_mean, point.latency_ns_max];
            let label = format!("{words}, {:.0} s", point.end.0 as f64 / 1e9);
            table.rows.push(TableRow { label, values });
        }
    }
    table
}

/// One row per group, with its begin and its end.
fn summary(groups: &[Vec<Point>; 3]) -> Table {
    let columns = [("first step", "MB/s"), ("level at the end", "MB/s"), ("longest", "ns")];
    let title = "PTS cross-stimulus recovery: the three groups";
    let mut table = rates::table("groups", title, "writes", &columns);
    for ((_, words, ..), points) in GROUPS.iter().zip(groups) {
        let longest = points.iter().filter_map(|point| point.latency_ns_max).reduce(f64::max);
        let first = points.first().map(|point| point.mb_per_s);
        let values = vec![first, level(points), longest];
        table.rows.push(TableRow { label: (*words).to_owned(), values });
    }
    table
}

fn add_metrics(figures: &mut Figures, groups: &[Vec<Point>; 3]) {
    for ((name, ..), points) in GROUPS.iter().zip(groups) {
        let first = points.first().map(|point| point.mb_per_s);
        figures.metrics.insert(format!("pts-xsr.{name}.first_mb_per_s"), first);
        figures.metrics.insert(format!("pts-xsr.{name}.mb_per_s"), level(points));
    }
    let recovery_s = recovered_at(groups).map(|at| at.0 as f64 / 1e9);
    figures.metrics.insert("pts-xsr.recovery_s".to_owned(), recovery_s);
}

/// The end of the first point of the second sequential group that is back at nine tenths of the level of
/// the first, counted from the change.
fn recovered_at(groups: &[Vec<Point>; 3]) -> Option<Nanos> {
    let wanted = RECOVERED_SHARE * level(&groups[0])?;
    groups[2].iter().find(|point| point.mb_per_s >= wanted).map(|point| point.end)
}

fn finding(measured: &Measurements<'_>, groups: &[Vec<Point>; 3]) -> Option<Finding> {
    let (before, after) = (level(&groups[0])?, groups[2].first()?.mb_per_s);
    let (before_text, after_text) = (rates::mb_per_s(before), rates::mb_per_s(after));
    let begins = format!(
        "writes sequentially at {before_text}, and after random writes at {after_text} at first"
    );
    match recovered_at(groups) {
        Some(at) => {
            let text =
                format!("{begins}; within {:.0} s it is back at nine tenths", at.0 as f64 / 1e9);
            Some(rates::finding(measured, "pts-xsr.recovery_s", &text))
        }
        None => {
            let part = measured.complete(GROUPS[2].0)?;
            let hours = part.phase.duration_ns as f64 / 3.6e12;
            let text = format!("{begins}; it is not back at nine tenths within {hours:.1} h");
            Some(rates::finding(measured, "pts-xsr.recovery.mb_per_s", &text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(rates: &[f64]) -> Vec<Point> {
        let point = |(at, rate): (u64, &f64)| Point {
            end: Nanos(at * 60 * Nanos::SECOND.0),
            mb_per_s: *rate,
            latency_ns_mean: None,
            latency_ns_max: None,
        };
        (1..).zip(rates).map(point).collect()
    }

    #[test]
    fn recovery_is_the_first_minute_at_nine_tenths_of_the_level_before() {
        let before = group(&[900.0, 500.0, 500.0, 500.0, 500.0, 500.0]);
        let groups = [before.clone(), group(&[80.0]), group(&[120.0, 400.0, 455.0, 500.0])];
        assert_eq!(recovered_at(&groups), Some(Nanos(180 * Nanos::SECOND.0)));
        assert_eq!(recovered_at(&[before.clone(), Vec::new(), group(&[120.0, 449.0])]), None);
        assert_eq!(level(&before), Some(500.0), "the fast beginning does not count");
        assert_eq!(recovered_at(&[Vec::new(), Vec::new(), group(&[1.0])]), None);
    }
}
