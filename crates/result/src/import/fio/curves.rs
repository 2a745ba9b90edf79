//! Curves over the queue depth, where jobs differ in nothing else.

use std::collections::{BTreeMap, BTreeSet};

use base::OpKind;

use super::job::Job;
use crate::schema::{Table, TableColumn, TableRow};

/// The table of the test `qd-sweep`: 4 KiB at random places, one job.
const DEPTHS: &str = "depths";
const DEPTHS_BLOCK_BYTES: u64 = 4 << 10;
/// The depths of that test; a table with other ones would have plots of its own.
const LADDER: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Equal for jobs of one curve.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Curve {
    /// Kind of the load without the direction: `random`, `sequential`, `randrw70`.
    kind: String,
    block: String,
    jobs: u32,
    is_like_qd_sweep: bool,
}

impl Curve {
    fn of(job: &Job) -> Self {
        let shape = &job.shape;
        let pure = if shape.is_random() { "random" } else { "sequential" };
        let is_pure = shape.read_percent.is_none();
        let kind = if is_pure { pure.to_owned() } else { shape.kind() };
        let is_4k = shape.block_bytes == Some(DEPTHS_BLOCK_BYTES);
        let is_like_qd_sweep = is_pure && shape.is_random() && is_4k && shape.jobs == 1;
        Self { kind, block: shape.block_text(), jobs: shape.jobs, is_like_qd_sweep }
    }

    fn table(&self, rows: Vec<TableRow>) -> Table {
        let jobs = if self.jobs > 1 { format!(", {} jobs", self.jobs) } else { String::new() };
        let name = format!("{DEPTHS}_{}_{}_jobs{}", self.kind, self.block, self.jobs);
        let columns =
            [("read", "IOPS"), ("write", "IOPS"), ("read p99", "ns"), ("write p99", "ns")];
        Table {
            name: if self.is_like_qd_sweep { DEPTHS.to_owned() } else { name },
            title: format!("Queue depth, {} {}{jobs}", self.kind, self.block),
            row_name: "queue depth".to_owned(),
            columns: columns
                .map(|(name, unit)| TableColumn { name: name.to_owned(), unit: unit.to_owned() })
                .to_vec(),
            rows,
            conditions: BTreeMap::new(),
        }
    }
}

/// A table for each load that was measured at two depths or more.
pub(super) fn tables(jobs: &[Job]) -> Vec<Table> {
    let mut curves: BTreeMap<Curve, Vec<&Job>> = BTreeMap::new();
    for job in jobs.iter().filter(|job| job.shape.depth > 0) {
        curves.entry(Curve::of(job)).or_default().push(job);
    }
    let of_curve = |(curve, jobs): (Curve, Vec<&Job>)| {
        let depths: BTreeSet<_> = jobs.iter().map(|job| job.shape.depth).collect();
        (depths.len() > 1).then(|| curve.table(rows(&depths, &jobs)))
    };
    curves.into_iter().filter_map(of_curve).collect()
}

fn rows(depths: &BTreeSet<u32>, jobs: &[&Job]) -> Vec<TableRow> {
    let is_on_ladder = depths.iter().all(|depth| LADDER.contains(depth));
    let all: Vec<_> = if is_on_ladder { LADDER.to_vec() } else { depths.iter().copied().collect() };
    all.into_iter().map(|depth| row(depth, jobs)).collect()
}

/// The last measurement at a depth is the one that counts.
fn row(depth: u32, jobs: &[&Job]) -> TableRow {
    let last = |of: fn(&Job, OpKind) -> Option<f64>, op| {
        let at_depth = jobs.iter().rev().filter(|job| job.shape.depth == depth);
        at_depth.filter_map(|job| of(job, op)).next()
    };
    let of_kinds = |of| [OpKind::Read, OpKind::Write].map(|op| last(of, op));
    let values = [of_kinds(Job::iops), of_kinds(Job::p99_ns)].concat();
    TableRow { label: depth.to_string(), values }
}
