//! Latency under load: the wait at a part of the rate that a drive can do, up to saturation.
//!
//! Method: purge; a fill of the span and random writes until cleaning is steady (`precondition`);
//! then, for reads, for a mix and for writes of 4 KiB, first the rate with a full queue (the
//! *saturated* rate), and then an open loop at rising shares of it, 10 s each. Commands are due at
//! random times (Poisson), and a latency begins when its command is due. Each command is therefore
//! a probe that sees the drive at a random moment (Wolff 1982), and a stall is felt by all commands
//! that are due meanwhile. SSD-iq (PVLDB 18(11), 2025) offers rates downwards, to writes beside a
//! probe of 10,000 commands a second, and counts from the issue.
//!
//! Interpretation: latency rises slowly up to the *knee*, and steeply from there on. The knee is
//! the load with the largest power, which is rate over mean latency (Kleinrock 1979): below it more
//! load costs less time than it brings work. A drive with one server and a fixed service time S
//! waits S rho / (2 (1 - rho)) at the share rho (M/D/1), and its knee is at 59%; many dies move
//! it up, and cleaning moves it down.

use base::OpKind;
use load::{Mix, Order, Pacing, Workload};
use result::schema::{Finding, Table, TableRow};
use result::stats::findings::{count, percent, time};

use crate::error::RunError;
use crate::params::Param;
use crate::suite::keys::{Block, Duration, Key, Plain, Reading, settings};
use crate::suite::precondition::{self, Preparation};
use crate::suite::{
    Chapter, Chart, Conditions, Definition, Figures, Formula, Measurements, Notes, Part, PhaseSpec,
    ReviewEntry, Site, Step, TestSettings, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "load-latency",
    heading: "Latency under load",
    question: "how long do commands take at a part of the rate that the drive can do?",
    closed_loop: Some("it sets the rates itself, as shares of the one that it finds"),
    reviews: &[ReviewEntry::FULL, ReviewEntry::quick("time=2s kinds=reads,mixed loads=20,60,90")],
    charts: &[
        Chart::Curves { table: "reads", units: &["ns"], log_rows: false },
        Chart::Curves { table: "mixed", units: &["ns"], log_rows: false },
        Chart::Curves { table: "writes", units: &["ns"], log_rows: false },
    ],
    ..Definition::of::<Settings>(Chapter::Response, 4)
};

/// Default depth where the target takes so many.
const QUEUE_DEPTH: u32 = 256;
/// Names of the kinds.
const KINDS: [&str; 3] = ["reads", "mixed", "writes"];

settings! {
    /// Loads and kinds.
    struct Settings {
        time: Duration = Param::new("time", "10s", "length of each step");
        loads: Loads = Param::new(
            "loads",
            "5,10,20,30,40,50,60,70,75,80,85,90,95,100",
            "offered rates in percent of the saturated one, rising",
        );
        kinds: Kinds = Param::new("kinds", "reads,mixed,writes", "commands, in order");
        read_percent: Plain<u8> = Param::new("read_percent", "70", "share of reads in the mix");
        block_bytes: Block = Param::new("block", "4KiB", "size and alignment of the commands");
        queue_depth: LimitedDepth = Param::new(
            "queue_depth",
            "256",
            "most commands outstanding; the default is the target's limit if that is less",
        );
        preparation: DrivePreparation = precondition::PRECONDITION, with precondition::RAW_CAPACITY;
    }
}

/// Offered shares, at least one, rising.
enum Loads {}

impl Key for Loads {
    type Value = Vec<u32>;
    const UNIT: &'static str = "_percent";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<u32>, RunError> {
        let loads: Vec<u32> = params.list(name)?;
        if loads.iter().any(|load| !(1..=200).contains(load)) || !loads.is_sorted() {
            return Err(RunError::Usage(format!(
                "`--set {name}={}` cannot be used: expected rising shares of the saturated rate from 1 to 200 \
                 percent, such as 10,50,90",
                params.text(name)
            )));
        }
        Ok(loads)
    }
}

/// Kinds of commands, in order.
enum Kinds {}

impl Key for Kinds {
    type Value = Vec<String>;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<String>, RunError> {
        params.words(name, &KINDS)
    }
}

/// Commands outstanding; only the default adapts to a target with a lower limit.
enum LimitedDepth {}

impl Key for LimitedDepth {
    type Value = u32;

    fn read(Reading { name, params, site, .. }: Reading<'_>) -> Result<u32, RunError> {
        if params.is_set(name) {
            return params.queue_depth(name);
        }
        Ok(QUEUE_DEPTH.min(site.limits.queue_depth_max))
    }
}

/// Writes before the measurement, of the size of its commands.
enum DrivePreparation {}

impl Key for DrivePreparation {
    type Value = Preparation;

    fn read(Reading { params, site, notes, .. }: Reading<'_>) -> Result<Preparation, RunError> {
        Preparation::read(params, site, params.block_bytes("block")?, notes)
    }
}

impl TestSettings for Settings {
    fn conditions(&self) -> Conditions {
        let rates = "random times (Poisson), at the share of the saturated rate".to_owned();
        [("commands a second".to_owned(), rates)].into()
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let mut list = steps::once([steps::purge(), site.fill("fill", site.span_bytes)]);
        list.extend(self.preparation.phases().map(Step::Phase));
        for kind in &self.kinds {
            let workload = self.workload(kind, site.span_bytes);
            let full = steps::for_time(&saturated(kind), workload.clone(), self.time);
            list.push(full.into());
            list.extend(self.loads.iter().map(|&load| self.at_load(kind, &workload, load)));
        }
        list
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        for kind in KINDS {
            if self.kinds.iter().any(|asked| asked == kind) {
                self.add_kind(&mut figures, measured, kind);
            }
        }
        rates::mark_unprepared(&mut figures, measured);
        figures
    }
}

fn saturated(kind: &str) -> String {
    format!("{kind}_saturated")
}

fn loaded(kind: &str, load: u32) -> String {
    format!("{kind}_at{load}")
}

impl Settings {
    fn workload(&self, kind: &str, span_bytes: u64) -> Workload {
        let (block, depth) = (self.block_bytes, self.queue_depth);
        let workload = Workload::new(OpKind::Read, Order::Uniform, block, depth, span_bytes);
        let mix = match kind {
            "reads" => Mix::One(OpKind::Read),
            "writes" => Mix::One(OpKind::Write),
            _ => Mix::ReadPercent(self.read_percent),
        };
        Workload { mix, ..workload }
    }

    /// The step at a share of the saturated rate, which is known when it begins.
    fn at_load(&self, kind: &str, workload: &Workload, load: u32) -> Step {
        let (name, base) = (loaded(kind, load), saturated(kind));
        let phase = {
            let (workload, time) = (workload.clone(), self.time);
            move |iops: f64| -> PhaseSpec {
                let rate_iops = (iops * f64::from(load) / 100.0).round().max(1.0) as u64;
                let pacing = Pacing::Poisson { rate_iops };
                steps::for_time(&name, Workload { pacing, ..workload.clone() }, time)
            }
        };
        let planned = PhaseSpec {
            what: format!(
                "{} at {load}% of the rate of `{base}`, at random times",
                phase(1.0).what
            ),
            ..phase(1.0)
        };
        let iops = move |measured: &Measurements<'_>| {
            measured.complete(&base).and_then(|part| part.iops()).unwrap_or(1.0)
        };
        let actual = Formula::new(move |measured: &Measurements<'_>| phase(iops(measured)));
        Step::Adapted { planned, actual }
    }

    fn add_kind(&self, figures: &mut Figures, measured: &Measurements<'_>, kind: &str) {
        let full = measured.complete(&saturated(kind));
        let name = format!("load-latency.{}", saturated(kind));
        rates::add_rates(figures, &name, full);
        rates::add_latencies(figures, &name, full);
        let points = self.points(measured, kind);
        figures.tables.push(self.table(kind, &points));
        let knee = knee(&points);
        for (step, point) in [("unloaded", points.first()), ("knee", knee)] {
            let part = point.map(|point| point.part);
            let name = format!("load-latency.{kind}_{step}");
            rates::add_rates(figures, &name, part);
            rates::add_latencies(figures, &name, part);
        }
        let share = knee.map(|point| f64::from(point.load) / 100.0);
        figures.metrics.insert(format!("load-latency.{kind}.knee_share"), share);
        let (first, last) = (points.first(), points.last());
        figures.findings.extend(knee.zip(first).zip(last).zip(full).and_then(
            |(((knee, first), last), full)| sentence(measured, kind, knee, [first, last], full),
        ));
    }

    fn points<'a>(&self, measured: &Measurements<'a>, kind: &str) -> Vec<Point<'a>> {
        let point = |&load: &u32| {
            let part = measured.complete(&loaded(kind, load))?;
            Some(Point { load, part, mean_ns: part.latency_ns_mean()? })
        };
        self.loads.iter().filter_map(point).collect()
    }

    /// One row for each load.
    fn table(&self, kind: &str, points: &[Point<'_>]) -> Table {
        let ops: &[OpKind] = match kind {
            "reads" => &[OpKind::Read],
            "writes" => &[OpKind::Write],
            _ => &[OpKind::Read, OpKind::Write],
        };
        let mut columns = vec![("done".to_owned(), "IOPS")];
        for op in ops {
            let column = |end: &str| (format!("{} {end}", op.name()), "ns");
            columns.extend(LATENCIES.map(|(words, _)| column(words)));
        }
        let columns: Vec<_> = columns.iter().map(|(name, unit)| (name.as_str(), *unit)).collect();
        let title = match kind {
            "mixed" => format!("Latency under load, {}% reads", self.read_percent),
            kind => format!("Latency under load, {kind}"),
        };
        let mut table = rates::table(kind, &title, "share of the saturated rate", &columns);
        table.rows.extend(self.loads.iter().map(|load| {
            let point = points.iter().find(|point| point.load == *load);
            let latencies = ops.iter().flat_map(|op| latencies(point, *op));
            let done = point.and_then(|point| point.part.iops());
            let values = std::iter::once(done).chain(latencies).collect();
            TableRow { label: format!("{load}%"), values }
        }));
        table
    }
}

/// A measured load.
#[derive(Clone, Copy)]
struct Point<'a> {
    /// Percent of the saturated rate.
    load: u32,
    part: Part<'a>,
    /// Mean latency of all commands.
    mean_ns: f64,
}

/// Latencies of the tables: words, and the share of the percentile or `None` for the mean.
const LATENCIES: [(&str, Option<(u64, u64)>); 4] = [
    ("mean", None),
    ("median", Some((1, 2))),
    ("p99", Some((99, 100))),
    ("p99.9", Some((999, 1_000))),
];

fn latencies(point: Option<&Point<'_>>, op: OpKind) -> [Option<f64>; 4] {
    let Some(point) = point else { return [None; 4] };
    let of_kind = point.part.latencies_of(op);
    LATENCIES.map(|(_, share)| match share {
        None => of_kind.mean_ns(),
        Some((part, of)) => {
            base::Ratio::new(part, of).and_then(|share| of_kind.percentile_ns(share))
        }
    })
}

/// The load with the largest ratio of rate to mean latency; `None` without measurements.
fn knee<'a, 'b>(points: &'b [Point<'a>]) -> Option<&'b Point<'a>> {
    let power = |point: &Point<'_>| point.part.iops().unwrap_or(0.0) / point.mean_ns.max(1.0);
    points.iter().max_by(|a, b| power(a).total_cmp(&power(b)))
}

fn sentence(
    measured: &Measurements<'_>,
    kind: &str,
    knee: &Point<'_>,
    [first, last]: [&Point<'_>; 2],
    full: Part<'_>,
) -> Option<Finding> {
    let words = if kind == "mixed" { "mixed commands" } else { kind };
    let text = format!(
        "does {} {words} a second at most; its knee is at {} of that, {} a second, where a command takes {} on \
         average ({} at {}, {} at {})",
        count(full.iops()?),
        percent(f64::from(knee.load) / 100.0),
        count(knee.part.iops()?),
        time(knee.mean_ns),
        time(first.mean_ns),
        percent(f64::from(first.load) / 100.0),
        time(last.mean_ns),
        percent(f64::from(last.load) / 100.0),
    );
    Some(rates::finding(measured, &format!("load-latency.{kind}.knee_share"), &text))
}
