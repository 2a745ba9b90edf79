//! Queue depth: the gain from more commands at a time, and its cost.
//!
//! Method: 4 KiB random reads, then writes, within 8 GiB after a sequential write, at QD 1, 2, 4 …
//! 256; reads for 10 s each. Writes change the drive: at each depth they begin on a purged and
//! filled drive and move the same number of bytes, so that no depth has more of the fresh spare
//! area than another. Interpretation: IOPS rise while dies are idle and flatten when all are busy;
//! from there on only the latency rises. Depths above the limit of a target are reported as not
//! supported.

use base::OpKind;
use load::{Order, Workload};
use result::schema::{Finding, Table, TableRow};
use result::stats::findings::count;

use crate::error::RunError;
use crate::params::Param;
use crate::suite::keys::{Block, Content, Duration, Key, Reading, Region, entry, settings};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Measurements, Notes, ReviewEntry, Site, Step,
    TestSettings, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "qd-sweep",
    heading: "Queue depth",
    question: "how much does the drive gain from more commands at a time?",
    reads_alone: true,
    closed_loop: Some("the number of commands outstanding is what it varies"),
    reviews: &[
        ReviewEntry::FULL,
        ReviewEntry::quick("time=3s random_span=1GiB write_bytes=256MiB"),
    ],
    charts: &[Chart::Curves { table: "depths", units: &["IOPS", "ns"], log_rows: true }],
    ..Definition::of::<Settings>(Chapter::Response, 2)
};

const KINDS: [OpKind; 2] = [OpKind::Read, OpKind::Write];

fn step(kind: OpKind, depth: u32) -> String {
    format!("{}_qd{depth}", kind.name())
}

settings! {
    /// Depths and lengths of the steps.
    struct Settings {
        time: Duration = Param::new("time", "10s", "length of each step of reads");
        write_bytes: Region = Param::new("write_bytes", "1GiB", "written in each step of writes");
        random_span_bytes: Region = Param::new(
            "random_span",
            "8GiB",
            "span of the commands, from LBA 0",
        );
        block_bytes: Block = Param::new("block", "4KiB", "size and alignment of the commands");
        queue_depths: Depths = Param::new(
            "queue_depths",
            "1,2,4,8,16,32,64,128,256",
            "depths, in order",
        );
        data: Content = steps::DATA;
    }
}

/// Depths that the user asked for.
struct AskedDepths {
    asked: Vec<u32>,
    /// Depths that the target supports.
    possible: Vec<u32>,
}

entry! { AskedDepths: |value| value.asked.clone() }

/// Queue depths, in order.
enum Depths {}

impl Key for Depths {
    type Value = AskedDepths;

    fn read(Reading { name, params, site, notes }: Reading<'_>) -> Result<AskedDepths, RunError> {
        Ok(AskedDepths { asked: params.list(name)?, possible: site.depths(params, name, notes)? })
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let span = self.random_span_bytes;
        let mut phases = vec![steps::purge(), site.fill("prepare", span)];
        for &depth in &self.queue_depths.possible {
            let reads = self.random(OpKind::Read, depth);
            phases.push(steps::for_time(&step(OpKind::Read, depth), reads, self.time));
        }
        for &depth in &self.queue_depths.possible {
            let writes = self.random(OpKind::Write, depth);
            let writes = Workload { limit_bytes: Some(self.write_bytes), ..writes };
            let writes = steps::to_its_end(&step(OpKind::Write, depth), writes);
            phases.extend(site.from_filled(span, writes));
        }
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let columns =
            [("read", "IOPS"), ("write", "IOPS"), ("read p99", "ns"), ("write p99", "ns")];
        let mut table = rates::table("depths", "Queue depth", "queue depth", &columns);
        for &depth in &self.queue_depths.asked {
            table.rows.push(row(&mut figures, measured, depth));
        }
        for (column, verb) in [(0, "reads"), (1, "writes")] {
            figures.findings.extend(enough(measured, &table, column, verb));
        }
        figures.tables.push(table);
        figures
    }
}

impl Settings {
    fn random(&self, kind: OpKind, depth: u32) -> Workload {
        let (block, span) = (self.block_bytes, self.random_span_bytes);
        let workload = Workload::new(kind, Order::Uniform, block, depth, span);
        Workload { data: self.data.kind, ..workload }
    }
}

/// The figures of one depth, and their row.
fn row(figures: &mut Figures, measured: &Measurements<'_>, depth: u32) -> TableRow {
    let parts = KINDS.map(|kind| (step(kind, depth), measured.complete(&step(kind, depth))));
    for (name, part) in &parts {
        rates::add_rates(figures, &format!("qd-sweep.{name}"), *part);
        rates::add_latencies(figures, &format!("qd-sweep.{name}"), *part);
    }
    let iops = parts.iter().map(|(_, part)| part.and_then(|part| part.iops()));
    let p99 = |name: &str| {
        let metric = format!("qd-sweep.{name}.latency_ns_p99");
        figures.value(&metric)
    };
    let latency = parts.iter().map(|(name, _)| p99(name));
    TableRow { label: depth.to_string(), values: iops.chain(latency).collect() }
}

/// The smallest depth with nine tenths of the most IOPS, in a sentence, or `None` without
/// measurements.
fn enough(
    measured: &Measurements<'_>,
    table: &Table,
    column: usize,
    verb: &str,
) -> Option<Finding> {
    let mut values = table.rows.iter().filter_map(|row| Some((&row.label, row.values[column]?)));
    let best = values.clone().map(|(_, iops)| iops).fold(0.0, f64::max);
    let (depth, _) = values.clone().find(|(_, iops)| *iops >= 0.9 * best && best > 0.0)?;
    let (first, low) = values.next()?;
    let text = format!(
        "does {} random {verb} a second at QD {first} and up to {}; QD {depth} is enough for nine \
         tenths of that",
        count(low),
        count(best)
    );
    let metric = format!("qd-sweep.{}_qd{depth}.iops", verb.trim_end_matches('s'));
    Some(rates::finding(measured, &metric, &text))
}
