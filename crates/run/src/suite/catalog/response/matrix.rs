//! A matrix of read rate and write rate: the latency of reads for every demand of both at once.
//!
//! Method (after diskplorer of ScyllaDB): purge; a sequential fill of the span; the rates of 4 KiB
//! random reads alone and of 128 KiB sequential writes alone, with full queues; then, for each cell,
//! reads at a share of the one rate at random times (Poisson) and, at the same time, writes at a
//! share of the other at equal intervals. A latency begins when its command is due. Cells whose
//! rates were not kept within 3% have no latency. Differences: diskplorer measures 21 x 21 cells of
//! 30 s, and fills with 2 MB writes.
//!
//! Interpretation: the border of the cells with latencies is what the drive can do at the same
//! time. A drive whose reads and writes only share its time has a border that is a straight line.

use base::OpKind;
use load::{Order, Pacing, Workload};
use result::schema::{Finding, Table, TableRow};
use result::stats::findings::{count, percent, time};

use crate::error::RunError;
use crate::jobs::{JobSpec, Jobs};
use crate::params::Param;
use crate::suite::keys::{
    Block, Content, Duration, Entry, Key, Reading, depths_of_two, entry, settings,
};
use crate::suite::{
    Action, Chapter, Chart, Conditions, Definition, Figures, Formula, Measurements, Notes, Part,
    PhaseSpec, ReviewEntry, Site, Step, TestSettings, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "matrix",
    heading: "Reads beside writes, by rate",
    question: "how long do reads take for every rate of reads and of writes at once?",
    reads_alone: true,
    closed_loop: Some("it sets the rates itself, as shares of those that it finds"),
    reviews: &[ReviewEntry::alone(
        "points=4 time=2s alone_time=5s",
        "six of ten rates of each kind, percentiles of slow drives, and cleaning: it has 4 GiB and a minute",
    )],
    charts: &[Chart::HeatMap { table: "mean" }, Chart::HeatMap { table: "p99" }],
    ..Definition::of::<Settings>(Chapter::Response, 5)
};

/// The most points: 100 x 101 cells take 14 hours.
const POINTS_MAX: u32 = 100;
/// A rate is kept if the commands that ended are at least this share of the expected ones, as in diskplorer.
const KEPT_SHARE: f64 = 0.97;
/// Names of the jobs.
const READS: &str = "reads";
const WRITES: &str = "writes";
const READS_ALONE: &str = "reads_alone";
const WRITES_ALONE: &str = "writes_alone";

/// A cell: shares of the rates alone, in steps of 1 / points.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cell {
    reads: u32,
    writes: u32,
}

settings! {
    /// Sizes and lengths.
    struct Settings {
        time: Duration = Param::new("time", "5s", "length of each cell");
        alone_time: Duration = Param::new(
            "alone_time",
            "10s",
            "length of the steps with full queues",
        );
        points: Points = Param::new("points", "10", "rates of each kind, in equal steps");
        read_block_bytes: Block = Param::new("read_block", "4KiB", "size of the random reads");
        write_block_bytes: Block = Param::new("write_block", "128KiB", "size of the writes");
        write_order: WriteOrder = Param::new("write_pattern", "sequential", "or uniform");
        depths: Depths = Param::new(
            "queue_depth",
            "256",
            "most commands outstanding, a quarter of them writes; the default is the target's limit if that is \
             less",
        );
        data: Content = steps::DATA;
    }
}

/// The number of rates of each kind.
enum Points {}

impl Key for Points {
    type Value = u32;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<u32, RunError> {
        let points = params.count(name)?;
        if points <= POINTS_MAX {
            return Ok(points);
        }
        Err(RunError::Usage(format!(
            "`--set {name}={points}` asks for {points} x {} cells; expected at most {POINTS_MAX}",
            points + 1
        )))
    }
}

/// The order of the writes.
enum WriteOrder {}

entry! { Order: |value| value.to_string() }

impl Key for WriteOrder {
    type Value = Order;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Order, RunError> {
        match params.text(name).as_str() {
            "sequential" => Ok(Order::Sequential),
            "uniform" => Ok(Order::Uniform),
            text => {
                Err(RunError::Usage(format!("`--set {name}={text}` must be sequential or uniform")))
            }
        }
    }
}

/// The depths of reads and writes.
struct Depths {
    reads: u32,
    writes: u32,
}

impl Key for Depths {
    type Value = Self;

    fn read(reading: Reading<'_>) -> Result<Self, RunError> {
        let [writes, reads] = depths_of_two(reading, "reads and writes")?;
        Ok(Self { reads, writes })
    }
}

impl Entry for Depths {
    fn entries(&self, _: &str) -> Vec<(String, serde_json::Value)> {
        steps::entries([
            ("read_queue_depth", self.reads.into()),
            ("write_queue_depth", self.writes.into()),
        ])
    }
}

impl TestSettings for Settings {
    fn conditions(&self) -> Conditions {
        let rates = "reads at random times (Poisson), writes at equal intervals, at shares of the rates alone";
        [("commands a second".to_owned(), rates.to_owned())].into()
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let span = site.span_bytes;
        let (reads, writes) = (self.reads(span), self.writes(span));
        let mut list = steps::once([
            steps::purge(),
            site.fill("fill", span),
            steps::for_time(READS_ALONE, reads.clone(), self.alone_time),
            steps::for_time(WRITES_ALONE, writes.clone(), self.alone_time),
        ]);
        list.extend(self.cells().map(|cell| self.step(cell, [&reads, &writes])));
        list
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        for step in [READS_ALONE, WRITES_ALONE] {
            let (name, part) = (format!("matrix.{step}"), measured.complete(step));
            rates::add_rates(&mut figures, &name, part);
            rates::add_latencies(&mut figures, &name, part);
        }
        let kept: Vec<_> =
            self.cells().filter(|cell| self.kept(measured, *cell).is_some()).collect();
        let done = self.cells().filter(|cell| measured.complete(&self.name(*cell)).is_some());
        let done = done.count();
        let share = (done > 0).then(|| kept.len() as f64 / done as f64);
        figures.metrics.insert("matrix.both.kept_share".to_owned(), share);
        // The cell in the middle stands for the matrix where one figure must do.
        let middle = Cell { reads: self.points.div_ceil(2), writes: self.points / 2 };
        rates::add_latencies(&mut figures, "matrix.middle", self.kept(measured, middle));
        for (name, words, value) in TABLES {
            figures.tables.push(self.table(measured, (name, words), value));
        }
        figures.findings.extend(self.sentence(measured, middle, &kept));
        figures
    }
}

type Value = fn(&Part<'_>) -> Option<f64>;

/// The tables: name, title, and the figure of a cell.
const TABLES: [(&str, &str, Value); 2] = [
    ("mean", "Mean latency of reads", |part| part.latency_ns_mean()),
    ("p99", "99th percentile of read latency", |part| {
        part.latencies().percentile_ns(base::Ratio::new(99, 100)?)
    }),
];

impl Settings {
    /// Row by row: from no writes to all.
    fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let points = self.points;
        (0..=points).flat_map(move |writes| (1..=points).map(move |reads| Cell { reads, writes }))
    }

    fn percent(&self, point: u32) -> String {
        let percent = (1000.0 * f64::from(point) / f64::from(self.points)).round() / 10.0;
        format!("{percent}%")
    }

    fn name(&self, Cell { reads, writes }: Cell) -> String {
        let percent = |point| self.percent(point).trim_end_matches('%').replace('.', "_");
        format!("read{}_write{}", percent(reads), percent(writes))
    }

    fn reads(&self, span_bytes: u64) -> Workload {
        let (block, depth) = (self.read_block_bytes, self.depths.reads);
        Workload::new(OpKind::Read, Order::Uniform, block, depth, span_bytes)
    }

    fn writes(&self, span_bytes: u64) -> Workload {
        let (order, block, depth) =
            (self.write_order.clone(), self.write_block_bytes, self.depths.writes);
        let workload = Workload::new(OpKind::Write, order, block, depth, span_bytes);
        Workload { data: self.data.kind, ..workload }
    }

    /// A cell, whose rates are known when it begins.
    fn step(&self, cell: Cell, [reads, writes]: [&Workload; 2]) -> Step {
        let (points, time, name) = (f64::from(self.points), self.time, self.name(cell));
        let what = format!(
            "random reads at {} of `{READS_ALONE}` and writes at {} of `{WRITES_ALONE}`, for {time}",
            self.percent(cell.reads),
            self.percent(cell.writes)
        );
        let (reads, writes) = (reads.clone(), writes.clone());
        let phase = move |read_iops: f64, write_iops: f64| {
            let rate =
                |iops: f64, point: u32| (iops * f64::from(point) / points).round().max(1.0) as u64;
            let pacing = Pacing::Poisson { rate_iops: rate(read_iops, cell.reads) };
            let mut jobs = vec![JobSpec::new(READS, Workload { pacing, ..reads.clone() })];
            if cell.writes > 0 {
                let pacing = Pacing::Fixed { rate_iops: rate(write_iops, cell.writes) };
                jobs.push(JobSpec::new(WRITES, Workload { pacing, ..writes.clone() }));
            }
            let action = Action::Jobs(Jobs { jobs, duration: Some(time) });
            PhaseSpec { name: name.clone(), what: what.clone(), action }
        };
        let planned = phase(1.0, 1.0);
        let actual = Formula::new(move |measured: &Measurements<'_>| {
            let iops = |step| measured.complete(step).and_then(|part| part.iops()).unwrap_or(1.0);
            phase(iops(READS_ALONE), iops(WRITES_ALONE))
        });
        Step::Adapted { planned, actual }
    }

    /// The reads of a cell whose rates were kept; `None` if they were not, or without measurements.
    fn kept<'a>(&self, measured: &Measurements<'a>, cell: Cell) -> Option<Part<'a>> {
        let name = self.name(cell);
        let is_kept = |job: &str, alone: &str, point: u32| {
            let done = measured.complete_job(&name, job).and_then(|part| part.iops());
            let most = measured.complete(alone).and_then(|part| part.iops());
            let due = most.map(|most| most * f64::from(point) / f64::from(self.points));
            done.zip(due).is_some_and(|(done, due)| done >= KEPT_SHARE * due)
        };
        let both = is_kept(READS, READS_ALONE, cell.reads)
            && (cell.writes == 0 || is_kept(WRITES, WRITES_ALONE, cell.writes));
        measured.complete_job(&name, READS).filter(|_| both)
    }

    /// One row for each rate of writes, one column for each rate of reads.
    fn table(
        &self,
        measured: &Measurements<'_>,
        (name, title): (&str, &str),
        value: Value,
    ) -> Table {
        let names: Vec<_> = (1..=self.points).map(|point| self.percent(point)).collect();
        let columns: Vec<_> = names.iter().map(|name| (name.as_str(), "ns")).collect();
        let mut table = rates::table(name, title, "writes \\ reads", &columns);
        for writes in 0..=self.points {
            let cell = |reads| self.kept(measured, Cell { reads, writes });
            let values = (1..=self.points).map(|reads| value(&cell(reads)?)).collect();
            table.rows.push(TableRow { label: self.percent(writes), values });
        }
        table
    }

    fn sentence(
        &self,
        measured: &Measurements<'_>,
        middle: Cell,
        kept: &[Cell],
    ) -> Option<Finding> {
        let (reads, writes) = (measured.complete(READS_ALONE)?, measured.complete(WRITES_ALONE)?);
        let alone = format!(
            "does {} reads a second or writes {}",
            count(reads.iops()?),
            rates::mb_per_s(writes.mb_per_s()?)
        );
        let most = kept.iter().filter(|cell| cell.reads == middle.reads).map(|cell| cell.writes);
        let most = f64::from(most.max().unwrap_or(0)) / f64::from(self.points);
        let half = percent(f64::from(middle.reads) / f64::from(self.points));
        let text = match self.kept(measured, middle).and_then(|part| part.latency_ns_mean()) {
            Some(mean) => format!(
                "{alone}; at {half} of the reads it also takes {} of the writes, and at half of both a read takes {}",
                percent(most),
                time(mean)
            ),
            None => format!(
                "{alone}; at {half} of the reads it takes no more than {} of the writes",
                percent(most)
            ),
        };
        Some(rates::finding(measured, "matrix.both.kept_share", &text))
    }
}
