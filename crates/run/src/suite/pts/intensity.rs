//! Demand variation: one kind of access at every number of outstanding commands. Shared by the
//! demand intensity and the composite workload.
//!
//! Method (PTS 2.0, sections "DIRTH" and "CBW"): purge; writes at the most commands until the first
//! minute of each half hour is steady; rounds of five minutes of writes and then the mix at every
//! point from the most commands to one, a minute each, until the deepest point is steady; then at
//! three points, *min* (one command), *max* (most IOPS with a mean response below 5 ms) and *mid*
//! (nearest to the middle between their IOPS, below 5 ms as well), an hour of writes and ten
//! minutes of the mix, whose response times are reported. Differences: the specification varies
//! threads and queue depth from 1 to 32 each; here one thread keeps their product outstanding, so
//! that each product is measured once and appears in every cell with that product. Points beyond
//! the limit of a target are reported as not supported. If minutes are shortened, the span is first
//! written once in LBA order and once at random.

use std::collections::{BTreeMap, BTreeSet};

use base::{Bytes, Histogram, Nanos, OpKind, Ratio};
use load::{Mix, Order, Workload};
use result::schema::{Mark, Table, TableRow};
use result::stats::findings::{count, time};
use result::stats::latency;
use result::stats::steady::PTS_ROUNDS_MAX;
use serde_json::Value;

use super::rounds::{Rounds, TrackedFigure, of_rounds, until_steady};
use super::{Common, SIMULATED_SHORTEN};
use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::keys::Entry;
use crate::suite::{
    Chart, Conditions, Figures, Formula, Measurements, Notes, Part, PhaseSpec, Site, Step, rates,
    steps,
};

/// Threads, and queue depths of each.
const COUNTS: [u32; 7] = [1, 2, 4, 6, 8, 16, 32];
/// Parameters of both tests: full lengths.
pub(crate) const ROUND: Param = Param {
    name: "saturation",
    default: "30m",
    help: "a round of writes; its first minute counts",
};
pub(crate) const PREWRITE: Param =
    Param { name: "prewrite", default: "5m", help: "writes before each round of the variation" };
pub(crate) const POINT_PREWRITE: Param = Param {
    name: "point_prewrite",
    default: "60m",
    help: "writes before each of the three points",
};
pub(crate) const POINT_TIME: Param =
    Param { name: "point_time", default: "10m", help: "the mix at each of the three points" };
/// The charts of both tests.
pub(crate) const CHARTS: [Chart; 2] = [
    Chart::Curves { table: "outstanding", units: &["IOPS", "ns"], log_rows: true },
    Chart::Curves { table: "histogram", units: &["%"], log_rows: false },
];
/// Limit of the mean response at the points of interest.
const RESPONSE_NS_MAX: f64 = 5e6;

const SATURATE: &str = "saturate";
const POINT_WRITE: &str = "prewrite_oio";
const POINT: &str = "response_oio";
/// Names of the three points with their words.
const POINTS: [(&str, &str); 3] =
    [("min", "one command"), ("mid", "middle"), ("max", "most IOPS below 5 ms")];

/// Percentiles by the end of their metric's name, with words.
const QUANTILES: [(&str, &str, u64, u64); 5] = [
    ("p50", "50%", 1, 2),
    ("p99", "99%", 99, 100),
    ("p999", "99.9%", 999, 1_000),
    ("p9999", "99.99%", 9_999, 10_000),
    ("p99999", "99.999%", 99_999, 100_000),
];

/// The varied access.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) order: Order,
    /// The longest command.
    pub(crate) block_bytes: u32,
    pub(crate) read_percent: u8,
}

/// Every product of threads and depth that a target supports, the largest first.
fn products(queue_depth_max: u32) -> Vec<u32> {
    let all = COUNTS.iter().flat_map(|threads| COUNTS.map(|depth| threads * depth));
    let possible: BTreeSet<u32> = all.filter(|product| *product <= queue_depth_max).collect();
    possible.into_iter().rev().collect()
}

fn oio_name(outstanding: u32) -> String {
    format!("oio{outstanding}")
}

/// One kind of access at every number of outstanding commands.
pub(crate) struct Variation {
    common: Common,
    access: Access,
    /// Numbers of outstanding commands, the largest first.
    outstanding: Vec<u32>,
    round: Nanos,
    prewrite: Nanos,
    point_prewrite: Nanos,
    point_time: Nanos,
}

impl Entry for Variation {
    fn entries(&self, name: &str) -> Vec<(String, Value)> {
        let own = steps::entries([
            ("block_bytes", self.access.block_bytes.into()),
            ("read_percent", self.access.read_percent.into()),
            ("outstanding", self.outstanding.clone().into()),
        ]);
        self.common.entries(name).into_iter().chain(own).collect()
    }
}

impl Variation {
    pub(crate) fn read(
        params: &Params,
        site: &Site<'_>,
        access: Access,
        notes: &mut Notes,
    ) -> Result<Self, RunError> {
        let outstanding = products(site.limits.queue_depth_max);
        let deepest = outstanding.first().copied().unwrap_or(1);
        let shorten = SIMULATED_SHORTEN;
        let common = Common::of(params, site, shorten, deepest, notes)?;
        if deepest < COUNTS[6] * COUNTS[6] {
            notes.push(format!(
                "points of more than {deepest} outstanding commands are not supported: the target takes {} \
                 at a time",
                site.limits.queue_depth_max
            ));
        }
        let length = |param: Param| -> Result<Nanos, RunError> {
            Ok(Nanos((params.duration(param.name)?.0 / common.shorten).max(common.step.0)))
        };
        Ok(Self {
            round: length(ROUND)?,
            prewrite: length(PREWRITE)?,
            point_prewrite: length(POINT_PREWRITE)?,
            point_time: length(POINT_TIME)?,
            common,
            access,
            outstanding,
        })
    }

    pub(crate) fn steps(&self, site: &Site<'_>) -> Vec<Step> {
        let deepest = self.common.queue_depth;
        let outstanding = self.outstanding.clone();
        let wanted =
            move |measured: &Measurements<'_>| wanted(&variation(measured, deepest, &outstanding));
        let mut list = self.common.beginning(site, true);
        list.extend([
            Step::Rounds {
                rounds_max: PTS_ROUNDS_MAX,
                phases: self.saturation_phases(site),
                settled: until_steady(saturation),
            },
            Step::Rounds {
                rounds_max: PTS_ROUNDS_MAX,
                phases: self.variation_phases(site),
                settled: until_steady(move |measured| iops_at(measured, deepest)),
            },
            Step::Chosen {
                phases: self.point_phases(site),
                phases_max: 2 * POINTS.len() as u32,
                wanted: Formula::new(wanted),
            },
        ]);
        list
    }

    fn saturation_phases(&self, site: &Site<'_>) -> Vec<PhaseSpec> {
        let Common { step, queue_depth: deepest, .. } = self.common;
        let rest = Nanos((self.round.0 - step.0).max(Nanos::SECOND.0));
        vec![
            self.writes(SATURATE, deepest, step, site),
            self.writes("saturate_more", deepest, rest, site),
        ]
    }

    fn variation_phases(&self, site: &Site<'_>) -> Vec<PhaseSpec> {
        let Common { step, queue_depth: deepest, .. } = self.common;
        let mut phases = vec![self.writes("prewrite", deepest, self.prewrite, site)];
        let point = |&oio: &u32| self.mix(&oio_name(oio), oio, step, site);
        phases.extend(self.outstanding.iter().map(point));
        phases
    }

    fn point_phases(&self, site: &Site<'_>) -> Vec<PhaseSpec> {
        let of_point = |&oio: &u32| {
            let [write, respond] = point_names(oio);
            [
                self.writes(&write, oio, self.point_prewrite, site),
                self.mix(&respond, oio, self.point_time, site),
            ]
        };
        self.outstanding.iter().flat_map(of_point).collect()
    }

    fn writes(&self, name: &str, outstanding: u32, time: Nanos, site: &Site<'_>) -> PhaseSpec {
        steps::for_time(name, self.workload(outstanding, site), time)
    }

    fn mix(&self, name: &str, outstanding: u32, time: Nanos, site: &Site<'_>) -> PhaseSpec {
        let mix = Mix::ReadPercent(self.access.read_percent);
        steps::for_time(name, Workload { mix, ..self.workload(outstanding, site) }, time)
    }

    /// Writes of the access.
    fn workload(&self, outstanding: u32, site: &Site<'_>) -> Workload {
        let Access { order, block_bytes, .. } = &self.access;
        Workload::new(OpKind::Write, order.clone(), *block_bytes, outstanding, site.span_bytes)
    }

    pub(crate) fn figures(&self, measured: &Measurements<'_>, title: &str) -> Figures {
        let mut figures = Figures::default();
        let deepest = self.common.queue_depth;
        let variation = variation(measured, deepest, &self.outstanding);
        let conditions = self.conditions(measured);
        add_variation(&mut figures, measured, &variation);
        let points = chosen(&variation);
        let parts = points.map(|oio| {
            let [_, respond] = point_names(oio?);
            measured.complete(&respond)
        });
        add_points(&mut figures, measured, title, (points, parts));
        let matrix = |name, title: String, unit, value: fn(&Point) -> Option<f64>| {
            matrix_table((name, &title, unit), |oio| value(variation.get(&oio)?))
        };
        figures.tables.extend([
            matrix("iops", format!("{title}: IOPS by threads and queue depth"), "IOPS", |p| p.iops),
            matrix("average", format!("{title}: average response"), "ns", |p| p.latency_ns_mean),
        ]);
        for table in &mut figures.tables {
            table.conditions = conditions.clone();
        }
        let words = format!("QD {deepest}");
        for (stage, values) in
            [("saturation", saturation(measured)), ("variation", iops_at(measured, deepest))]
        {
            let tracked = TrackedFigure { stage, words: &words, unit: "IOPS", values: &values };
            tracked.add_to(&mut figures, measured, &conditions);
        }
        figures
    }

    /// The common conditions, with the variation and the kind of access.
    fn conditions(&self, measured: &Measurements<'_>) -> Conditions {
        let Access { order, block_bytes, read_percent } = &self.access;
        let block = Bytes((*block_bytes).into());
        let sizes = match order {
            Order::Composite(_) => format!("composite, up to {block}"),
            _ => format!("{block} random"),
        };
        let access = format!("{sizes}, {read_percent}/{}", 100 - read_percent);
        let outstanding = format!("1 to {}", self.common.queue_depth);
        let own = [("outstanding commands", outstanding), ("access", access)];
        let own = own.map(|(label, value)| (label.to_owned(), value));
        self.common.conditions(measured).into_iter().chain(own).collect()
    }
}

/// The phases at one of the three points: writes, and the mix whose responses are reported.
fn point_names(outstanding: u32) -> [String; 2] {
    [POINT_WRITE, POINT].map(|name| format!("{name}{outstanding}"))
}

fn saturation(measured: &Measurements<'_>) -> Vec<f64> {
    of_rounds(measured, SATURATE, |part| part.iops())
}

/// IOPS with this number of outstanding commands, in every round so far.
fn iops_at(measured: &Measurements<'_>, outstanding: u32) -> Vec<f64> {
    of_rounds(measured, &oio_name(outstanding), |part| part.iops())
}

/// Means over the steady rounds at one number of outstanding commands.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    iops: Option<f64>,
    mb_per_s: Option<f64>,
    latency_ns_mean: Option<f64>,
    latency_ns_max: Option<f64>,
}

fn variation(
    measured: &Measurements<'_>,
    deepest: u32,
    outstanding: &[u32],
) -> BTreeMap<u32, Point> {
    let rounds = Rounds::of(&iops_at(measured, deepest));
    let point = |oio: u32| {
        let name = oio_name(oio);
        let values = |value: fn(Part<'_>) -> Option<f64>| of_rounds(measured, &name, value);
        Point {
            iops: rounds.mean(&values(|part| part.iops())),
            mb_per_s: rounds.mean(&values(|part| part.mb_per_s())),
            latency_ns_mean: rounds.mean(&values(|part| part.latency_ns_mean())),
            latency_ns_max: rounds.max(&values(|part| part.latency_ns_max())),
        }
    };
    outstanding.iter().map(|&oio| (oio, point(oio))).collect()
}

/// Outstanding commands of the points *min*, *mid* and *max*, as far as these exist.
fn chosen(variation: &BTreeMap<u32, Point>) -> [Option<u32>; 3] {
    let swift = |point: &Point| point.latency_ns_mean.is_some_and(|ns| ns < RESPONSE_NS_MAX);
    let candidates: Vec<(u32, f64)> = variation
        .iter()
        .filter(|(_, point)| swift(point))
        .filter_map(|(oio, point)| Some((*oio, point.iops?)))
        .collect();
    let min = variation.get(&1).and_then(|point| Some((1, point.iops?)));
    // Of points with the same IOPS the one with the fewest commands responds soonest.
    let max = candidates.iter().rev().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    let mid = min.zip(max).and_then(|((_, low), (_, high))| {
        let distance = |iops: f64| (iops - (low + high) / 2.0).abs();
        candidates.iter().copied().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))
    });
    [min, mid, max].map(|point| point.map(|(oio, _)| oio))
}

/// The phases at the chosen points.
fn wanted(variation: &BTreeMap<u32, Point>) -> Vec<String> {
    chosen(variation).into_iter().flatten().flat_map(point_names).collect()
}

/// One row for each number of outstanding commands.
fn add_variation(
    figures: &mut Figures,
    measured: &Measurements<'_>,
    variation: &BTreeMap<u32, Point>,
) {
    let columns = [("commands", "IOPS"), ("rate", "MB/s"), ("average", "ns"), ("longest", "ns")];
    let title = "Demand variation: by outstanding commands";
    let mut table = rates::table("outstanding", title, "outstanding", &columns);
    for (oio, point) in variation {
        let Point { iops, mb_per_s, latency_ns_mean, latency_ns_max } = *point;
        let name = format!("{}.{}", measured.run.test, oio_name(*oio));
        figures.metrics.insert(format!("{name}.iops"), iops);
        figures.metrics.insert(format!("{name}.mb_per_s"), mb_per_s);
        figures.metrics.insert(format!("{name}.latency_ns_mean"), latency_ns_mean);
        let values = vec![iops, mb_per_s, latency_ns_mean, latency_ns_max];
        table.rows.push(TableRow { label: oio.to_string(), values });
    }
    figures.tables.push(table);
}

type Points<'a> = ([Option<u32>; 3], [Option<Part<'a>>; 3]);

/// The response times at the three points: percentiles, a histogram, and a sentence.
fn add_points(figures: &mut Figures, measured: &Measurements<'_>, title: &str, points: Points<'_>) {
    let test = &measured.run.test;
    let mut columns = vec![("outstanding", ""), ("commands", "IOPS"), ("average", "ns")];
    columns.extend(QUANTILES.map(|(_, words, ..)| (words, "ns")));
    columns.push(("longest", "ns"));
    let title = format!("{title}: response times at three points");
    let mut table = rates::table("points", &title, "point", &columns);
    for ((name, words), (oio, part)) in POINTS.iter().zip(points.0.into_iter().zip(points.1)) {
        let metric = format!("{test}.{name}");
        let latencies = part.map(|part| part.latencies()).unwrap_or_default();
        let max = latencies.max_ns();
        let mut values = vec![oio.map(f64::from), part.and_then(|part| part.iops())];
        values.push(part.and_then(|part| part.latency_ns_mean()));
        figures.metrics.insert(format!("{metric}.outstanding"), values[0]);
        figures.metrics.insert(format!("{metric}.iops"), values[1]);
        figures.metrics.insert(format!("{metric}.latency_ns_mean"), values[2]);
        for (end, _, numerator, denominator) in QUANTILES {
            let share = Ratio::new(numerator, denominator).unwrap_or(Ratio::ONE);
            let value = latencies.demanded_percentile_ns(share);
            let end = format!("{metric}.latency_ns_{end}");
            if value.is_some() && latencies.percentile_ns(share).is_none() {
                figures.marks.push(demanded(&end, latencies.commands()));
            }
            figures.metrics.insert(end, value);
            values.push(value);
        }
        figures.metrics.insert(format!("{metric}.latency_ns_max"), max);
        values.push(max);
        table.rows.push(TableRow { label: format!("{name}: {words}"), values });
    }
    let commands = points.1[2].map_or(0, |part| part.latencies().commands());
    let five_nines = table.rows[2].values[QUANTILES.len() + 2];
    let [_, _, (most, within)] = [0, 1, 2].map(|at| (table.rows[at].values[1], five_nines));
    if let (Some(one), Some(most), Some(within), Some(oio)) =
        (table.rows[0].values[1], most, within, points.0[2])
    {
        let mut rare = format!(
            ", where 99.999% of {} respond within {}",
            count(commands as f64),
            time(within)
        );
        if !measured.holds(&format!("{test}.max.latency_ns_p99999")) {
            rare.clear();
        }
        let text = format!(
            "does {} IOPS with {oio} commands outstanding{rare}, and {} one at a time",
            count(most),
            count(one)
        );
        figures.findings.push(rates::finding(measured, &format!("{test}.max.iops"), &text));
    }
    figures.tables.push(table);
    figures.tables.push(histogram_table(points.1));
}

/// A percentile that the specification demands although there are too few commands.
fn demanded(metric: &str, commands: u64) -> Mark {
    let mark = latency::too_few(metric, commands);
    Mark { text: format!("{}, given because the SNIA PTS demands it", mark.text), ..mark }
}

/// Share of the commands in each class of response time, 1, 2 and 5 per decade.
fn histogram_table(parts: [Option<Part<'_>>; 3]) -> Table {
    let columns = POINTS.map(|(name, _)| (name, "%"));
    let title = "Response time histogram";
    let mut table = rates::table("histogram", title, "up to", &columns);
    let histograms = parts.map(|part| part.map(|part| part.latencies().histogram().clone()));
    let longest = histograms.iter().flatten().filter_map(Histogram::max).max().unwrap_or(0);
    let mut below = [0; 3];
    for edge_ns in edges() {
        let values = histograms.iter().zip(&mut below).map(|(histogram, below)| {
            let histogram = histogram.as_ref()?;
            let upto: u64 =
                histogram.bins().filter(|(ns, _)| *ns < edge_ns).map(|(_, count)| count).sum();
            let within = upto - std::mem::replace(below, upto);
            Some(100.0 * within as f64 / histogram.count().max(1) as f64)
        });
        let values: Vec<_> = values.collect();
        let started = !table.rows.is_empty();
        if started || values.iter().flatten().any(|share| *share > 0.0) {
            table.rows.push(TableRow { label: Nanos(edge_ns).to_string(), values });
        }
        if edge_ns > longest {
            break;
        }
    }
    table
}

/// 1, 2, 5, 10, 20 ... microseconds, up to a day.
fn edges() -> impl Iterator<Item = u64> {
    let decades = (0..12).map(|decade| 1_000 * 10_u64.pow(decade));
    decades.flat_map(|decade| [decade, 2 * decade, 5 * decade])
}

/// Rows are threads, columns queue depths.
fn matrix_table(
    (name, title, unit): (&str, &str, &str),
    value: impl Fn(u32) -> Option<f64>,
) -> Table {
    let names = COUNTS.map(|depth| format!("QD {depth}"));
    let columns: Vec<_> = names.iter().map(|name| (name.as_str(), unit)).collect();
    let mut table = rates::table(name, title, "threads", &columns);
    for threads in COUNTS {
        let values = COUNTS.map(|depth| value(threads * depth)).to_vec();
        table.rows.push(TableRow { label: threads.to_string(), values });
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_threads_and_depth_come_once_and_deepest_first() {
        assert_eq!(products(32), [32, 24, 16, 12, 8, 6, 4, 2, 1]);
        let all = products(65_536);
        assert_eq!((all.len(), all[0]), (18, 1024));
        assert!(all.is_sorted_by(|a, b| a > b));
    }

    fn point(iops: f64, ms: f64) -> Point {
        let latency_ns_mean = Some(ms * 1e6);
        Point { iops: Some(iops), latency_ns_mean, ..Point::default() }
    }

    #[test]
    fn points_of_interest_respond_within_5_ms() {
        let variation: BTreeMap<u32, Point> = [
            (1, point(1_000.0, 1.0)),
            (4, point(3_900.0, 1.0)),
            (8, point(5_500.0, 1.5)),
            (16, point(10_000.0, 1.6)),
            (32, point(10_000.0, 3.2)),
            (64, point(12_000.0, 5.3)),
        ]
        .into();
        assert_eq!(chosen(&variation), [Some(1), Some(8), Some(16)]);
        let slow: BTreeMap<u32, Point> = [(1, point(100.0, 10.0)), (2, point(110.0, 18.0))].into();
        assert_eq!(chosen(&slow), [Some(1), None, None]);
        assert_eq!(chosen(&BTreeMap::new()), [None; 3]);
    }

    #[test]
    fn classes_of_response_time_are_1_2_5() {
        let first: Vec<_> = edges().take(5).collect();
        assert_eq!(first, [1_000, 2_000, 5_000, 10_000, 20_000]);
    }
}
