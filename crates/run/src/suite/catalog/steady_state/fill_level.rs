//! Fill level: the speed of a drive that is nearly empty, half full and nearly full.
//!
//! Method: for each level a purge, and a sequential write of that share of the span, which is then
//! left alone (cold data). A region of `random_span` behind it is active: it is written once in
//! order. 128 KiB sequential and 4 KiB random reads of the cold data follow, then 4 KiB random
//! writes to the active region for `steady_time` before the measured ones, and at last single
//! commands (QD 1). Interpretation: free space is spare area that the host lends to the drive. With
//! little of it, fast caches shrink (`sequential write`) and cleaning moves more for each write
//! (`random write`). Reads should not change.

use base::OpKind;
use load::{Order, Workload};
use result::schema::{Finding, TableRow};
use result::stats::findings::count;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::amplification::Amplification;
use crate::suite::keys::{Content, Duration, Key, QueueDepth, Reading, Region, settings};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Measurements, Notes, PhaseSpec, ReviewEntry, Site, Step,
    TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "fill-level",
    heading: "Fill level",
    question: "what becomes of the drive's speed when it fills up?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[
        ReviewEntry::FULL,
        ReviewEntry {
            whole: true,
            ..ReviewEntry::alone(
                "levels=10,90 time=10s steady_time=30s random_span=1GiB",
                "the level between, and the steady state of the random writes. It fills the whole target to both levels",
            )
        },
    ],
    charts: &[Chart::Curves { table: "levels", units: &["IOPS", "MB/s", "ns"], log_rows: false }],
    ..Definition::of::<Settings>(Chapter::SteadyState, 4)
};

/// The most cold data: the rest has room for the active region.
const LEVEL_MAX: u64 = 98;
/// Cold data ends at a multiple of this, so that the commands of all steps are aligned.
const BOUNDARY_BYTES: u64 = 1 << 20;

settings! {
    /// Levels and lengths.
    struct Settings {
        levels: Levels = Param::new("levels", "10,50,90", "cold data in percent of the span");
        time: Duration = Param::new("time", "30s", "length of each measured step");
        steady_time: Duration = Param::new(
            "steady_time",
            "5m",
            "random writes before the measured ones",
        );
        random_span_bytes: Region = Param::new(
            "random_span",
            "8GiB",
            "active region behind the cold data",
        );
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands kept outstanding");
        data: Content = steps::DATA;
    }
}

/// Shares of the span with cold data.
enum Levels {}

impl Key for Levels {
    type Value = Vec<u64>;
    const UNIT: &'static str = "_percent";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<u64>, RunError> {
        let levels: Vec<u64> = params.list(name)?;
        match levels.iter().find(|level| !(1..=LEVEL_MAX).contains(level)) {
            None => Ok(levels),
            Some(level) => Err(RunError::Usage(format!(
                "`--set {name}={}` has {level}; expected percents of the span from 1 to {LEVEL_MAX}: something must \
                 be left to write to",
                params.text(name)
            ))),
        }
    }
}

impl TestSettings for Settings {
    fn check(&mut self, _: &Params, site: &Site<'_>, notes: &mut Notes) -> Result<(), RunError> {
        let fullest = self.levels.iter().copied().max().unwrap_or(0);
        let left = site.span_bytes - cold_bytes(site, fullest);
        if self.random_span_bytes > left {
            notes.push(format!(
                "{fullest}% of cold data leave {}, so the active region is no longer than that",
                steps::size(left)
            ));
        }
        self.random_span_bytes = self.random_span_bytes.min(left / BOUNDARY_BYTES * BOUNDARY_BYTES);
        Ok(())
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        steps::once(self.levels.iter().flat_map(|&level| self.at_level(site, level)))
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let mut table = rates::table("levels", "Speed by fill level", "cold data", &COLUMNS);
        for &level in &self.levels {
            table.rows.push(row(&mut figures, measured, level));
        }
        figures.findings.extend(self.sentence(measured, &figures));
        figures.tables.push(table);
        figures
    }
}

/// The measured steps with the ends of the figures in the table.
const STEPS: [(&str, &[&str]); 6] = [
    ("sequential_write", &["mb_per_s"]),
    ("sequential_read", &["mb_per_s"]),
    ("random_read", &["iops"]),
    ("random_write", &["iops", "waf"]),
    ("single_read", &["latency_ns_mean", "latency_ns_p99"]),
    ("single_write", &["latency_ns_mean", "latency_ns_p99"]),
];
const COLUMNS: [(&str, &str); 9] = [
    ("sequential write", "MB/s"),
    ("sequential read", "MB/s"),
    ("random read", "IOPS"),
    ("random write", "IOPS"),
    ("random write", "WAF"),
    ("read, QD 1, mean", "ns"),
    ("read, QD 1, p99", "ns"),
    ("write, QD 1, mean", "ns"),
    ("write, QD 1, p99", "ns"),
];

fn cold_bytes(site: &Site<'_>, level: u64) -> u64 {
    let exact = u128::from(site.span_bytes) * u128::from(level) / 100;
    let bytes = u64::try_from(exact).unwrap_or(site.span_bytes) / BOUNDARY_BYTES * BOUNDARY_BYTES;
    bytes.max(BOUNDARY_BYTES)
}

fn at(step: &str, level: u64) -> String {
    format!("{step}_{level}")
}

impl Settings {
    fn at_level(&self, site: &Site<'_>, level: u64) -> Vec<PhaseSpec> {
        let cold = cold_bytes(site, level);
        let depth = self.queue_depth;
        let random = |kind, depth| self.workload(kind, Order::Uniform, 4096, depth, cold);
        let linear =
            |kind, order| self.workload(kind, order, steps::LINEAR_BLOCK_BYTES, depth, cold);
        let timed = |step, workload| steps::for_time(&at(step, level), workload, self.time);
        let (read, write) = (OpKind::Read, OpKind::Write);
        vec![
            steps::purge(),
            site.fill(&at("fill", level), cold),
            steps::to_its_end(&at("sequential_write", level), linear(write, Order::SequentialOnce)),
            timed("sequential_read", linear(read, Order::Sequential)),
            timed("random_read", random(read, depth)),
            steps::for_time(&at("precondition", level), random(write, depth), self.steady_time),
            timed("random_write", random(write, depth)),
            timed("single_read", random(read, 1)),
            timed("single_write", random(write, 1)),
        ]
    }

    /// Reads of the first `cold` bytes, or writes to the active region behind them.
    fn workload(
        &self,
        kind: OpKind,
        order: Order,
        block_bytes: u32,
        queue_depth: u32,
        cold: u64,
    ) -> Workload {
        let (span_offset_bytes, span_bytes) = match kind {
            OpKind::Read => (0, cold),
            _ => (cold, self.random_span_bytes),
        };
        let workload = Workload::new(kind, order, block_bytes, queue_depth, span_bytes);
        Workload { span_offset_bytes, data: self.data.kind, ..workload }
    }

    /// Random writes at the lowest level and at the highest.
    fn sentence(&self, measured: &Measurements<'_>, figures: &Figures) -> Option<Finding> {
        let metric = |level: u64| format!("fill-level.{}.iops", at("random_write", level));
        let iops = |level: u64| figures.metrics.get(&metric(level)).copied().flatten();
        let (low, high) = (*self.levels.iter().min()?, *self.levels.iter().max()?);
        let text = format!(
            "does {} random writes a second with {low}% of cold data, and {} with {high}%",
            count(iops(low)?),
            count(iops(high)?)
        );
        (low < high).then(|| rates::finding(measured, &metric(high), &text))
    }
}

/// The figures at one level, and their row.
fn row(figures: &mut Figures, measured: &Measurements<'_>, level: u64) -> TableRow {
    let mut values = Vec::new();
    for (step, ends) in STEPS {
        let part = measured.complete(&at(step, level));
        let name = format!("fill-level.{}", at(step, level));
        rates::add_rates(figures, &name, part);
        rates::add_latencies(figures, &name, part);
        if step == "random_write" {
            let settling = measured.complete(&at("precondition", level));
            let found = settling.zip(part);
            let found = found.map(|(before, part)| {
                Amplification::of(measured, measured.run.span.span_bytes, before, part)
            });
            Amplification::add_to(found, figures, &name);
            rates::mark_unsteady(figures, measured, &name, part);
        }
        let value = |end: &&str| figures.metrics.get(&format!("{name}.{end}")).copied().flatten();
        values.extend(ends.iter().map(value));
    }
    TableRow { label: format!("{level}%"), values }
}
