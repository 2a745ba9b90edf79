//! Transfer sizes in the manner of ATTO: the size that reaches full speed.
//!
//! Method (ATTO): powers of two from 0.5 KiB to 8 MiB, sequential, QD 4, within 256 MiB, written
//! and then read once for each size, on a purged drive after a write of the same range; repeating
//! data unless `data` says otherwise. Difference: each size moves the whole 256 MiB once.
//! Interpretation: two curves that rise with the size and flatten at the speed of the link; the
//! knee shows the cost of a command. Sizes below the logical block or above the longest command of
//! a target are reported as not supported.

use base::{Bytes, OpKind};
use load::{Order, Workload};
use result::schema::{Finding, Table, TableRow};

use crate::params::Param;
use crate::suite::keys::{Content, QueueDepth, Region, settings};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Measurements, Notes, PhaseSpec, ReviewEntry, Site, Step,
    TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "sweep",
    heading: "Transfer sizes",
    question: "how large must a transfer be for full speed?",
    reads_alone: true,
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[ReviewEntry::FULL, ReviewEntry::quick("sweep_span=64MiB")],
    charts: &[Chart::Curves { table: "sizes", units: &["MB/s"], log_rows: true }],
    ..Definition::of::<Settings>(Chapter::Speed, 3)
};

const SMALLEST_BYTES: u32 = 512;
const LARGEST_BYTES: u32 = 8 << 20;

fn sizes() -> impl Iterator<Item = u32> {
    std::iter::successors(Some(SMALLEST_BYTES), |size| Some(size * 2))
        .take_while(|size| *size <= LARGEST_BYTES)
}

/// Name of a step: `write_4KiB`.
fn step(kind: OpKind, block_bytes: u32) -> String {
    format!("{}_{}", kind.name(), Bytes(block_bytes.into()))
}

settings! {
    /// Span, depth and data of every size.
    struct Settings {
        sweep_span_bytes: Region = Param::new("sweep_span", "256MiB", "bytes moved for each size");
        queue_depth: QueueDepth = Param::new("queue_depth", "4", "commands kept outstanding");
        data: Content = Param::new("data", "repeating", "repeating, incompressible or e.g. 46%");
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, notes: &mut Notes) -> Vec<Step> {
        let mut phases = Vec::new();
        for block in sizes() {
            if let Some(note) = self.unsupported(block, site) {
                notes.push(note);
                continue;
            }
            let write = self.once(OpKind::Write, block);
            phases.extend(site.from_filled(self.sweep_span_bytes, write));
            phases.push(self.once(OpKind::Read, block));
        }
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let columns = [("read", "MB/s"), ("write", "MB/s")];
        let mut table = rates::table("sizes", "Transfer sizes", "transfer size", &columns);
        for block in sizes() {
            let mut values = Vec::new();
            for kind in [OpKind::Read, OpKind::Write] {
                let name = step(kind, block);
                let part = measured.complete(&name);
                rates::add_rates(&mut figures, &format!("sweep.{name}"), part);
                values.push(part.and_then(|part| part.mb_per_s()));
            }
            table.rows.push(TableRow { label: Bytes(block.into()).to_string(), values });
        }
        for (column, verb) in [(0, "reads"), (1, "writes")] {
            figures.findings.extend(knee(measured, &table, column, verb));
        }
        figures.tables.push(table);
        figures
    }
}

impl Settings {
    /// The reason why the target cannot do this size, or `None` if it can.
    fn unsupported(&self, block_bytes: u32, site: &Site<'_>) -> Option<String> {
        if block_bytes < site.limits.logical_block_bytes {
            return Some(site.too_small(block_bytes));
        }
        let (largest, span) = (site.limits.transfer_bytes_max, self.sweep_span_bytes);
        let is_too_large = block_bytes > largest || u64::from(block_bytes) > span;
        is_too_large.then(|| {
            let [block, largest, span] = [block_bytes.into(), largest.into(), span].map(Bytes);
            format!(
                "transfers of {block} are not supported: the target takes {largest} in one command \
                 and the span is {span}"
            )
        })
    }

    /// The span, moved once in commands of this size.
    fn once(&self, kind: OpKind, block_bytes: u32) -> PhaseSpec {
        let span = self.sweep_span_bytes;
        let workload = Workload::new(kind, Order::Sequential, block_bytes, self.queue_depth, span);
        let workload = Workload { data: self.data.kind, limit_bytes: Some(span), ..workload };
        steps::to_its_end(&step(kind, block_bytes), workload)
    }
}

/// The smallest size with nine tenths of the best rate, in a sentence, or `None` if nothing moved.
fn knee(measured: &Measurements<'_>, table: &Table, column: usize, verb: &str) -> Option<Finding> {
    let rates = table.rows.iter().filter_map(|row| Some((&row.label, row.values[column]?)));
    let best = rates.clone().map(|(_, rate)| rate).fold(0.0, f64::max);
    let (label, _) = rates.into_iter().find(|(_, rate)| *rate >= 0.9 * best && best > 0.0)?;
    let text = format!(
        "{verb} at up to {} and needs transfers of {label} for nine tenths of that",
        rates::mb_per_s(best)
    );
    let metric = format!("sweep.{}_{label}.mb_per_s", verb.trim_end_matches('s'));
    Some(rates::finding(measured, &metric, &text))
}
