//! Rounds over a matrix of cells, each a size and a share of reads, and their tables.

use base::OpKind;
use load::{Mix, Order, Workload};
use result::schema::{Table, TableRow};
use result::stats::steady::PTS_ROUNDS_MAX;

use super::Common;
use crate::suite::{Conditions, Formula, Notes, Site, Step, rates, steps};

/// A cell of a matrix: share of reads and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) read_percent: u8,
    pub(crate) block_bytes: u32,
}

impl Cell {
    /// The phase of a round without its number, and the step in metrics: `read65_8KiB`.
    pub(crate) fn name(self) -> String {
        format!("read{}_{}", self.read_percent, self.block())
    }

    fn block(self) -> String {
        base::Bytes(self.block_bytes.into()).to_string()
    }

    fn mix(self) -> Mix {
        match self.read_percent {
            100 => Mix::One(OpKind::Read),
            0 => Mix::One(OpKind::Write),
            percent => Mix::ReadPercent(percent),
        }
    }
}

/// Every size in every mix, mix by mix.
pub(crate) fn cells(read_percents: &[u8], blocks: &[u32]) -> Vec<Cell> {
    let of_mix = |read_percent: &u8| {
        let read_percent = *read_percent;
        blocks.iter().map(move |&block_bytes| Cell { read_percent, block_bytes })
    };
    read_percents.iter().flat_map(of_mix).collect()
}

/// The beginning of the specification, then rounds over the cells until they settle. Cells smaller
/// than the blocks of the target are omitted.
pub(crate) fn steps_of(
    common: &Common,
    (cells, order): (&[Cell], &Order),
    settled: Formula<bool>,
    site: &Site<'_>,
    notes: &mut Notes,
) -> Vec<Step> {
    let mut phases = Vec::new();
    for cell in cells {
        if cell.block_bytes < site.limits.logical_block_bytes {
            notes.push(site.too_small(cell.block_bytes));
        } else {
            let (block, depth) = (cell.block_bytes, common.queue_depth);
            let writes = Workload::new(OpKind::Write, order.clone(), block, depth, site.span_bytes);
            let workload = Workload { mix: cell.mix(), ..writes };
            phases.push(steps::for_time(&cell.name(), workload, common.step));
        }
    }
    notes.dedup();
    let mut steps = common.beginning(site, *order == Order::Uniform);
    steps.push(Step::Rounds { rounds_max: PTS_ROUNDS_MAX, phases, settled });
    steps
}

/// A matrix of values: one row per size, one column per share of reads.
pub(crate) fn table(
    (name, title, unit): (&str, &str, &str),
    cells: &[Cell],
    conditions: &Conditions,
    value: impl Fn(Cell) -> Option<f64>,
) -> Table {
    let mut sizes: Vec<u32> = cells.iter().map(|cell| cell.block_bytes).collect();
    let mut percents: Vec<u8> = cells.iter().map(|cell| cell.read_percent).collect();
    sizes.sort_unstable();
    sizes.dedup();
    percents.sort_unstable();
    percents.dedup();
    percents.reverse();
    let names: Vec<_> = percents.iter().map(|read| format!("{read}/{}", 100 - read)).collect();
    let columns: Vec<_> = names.iter().map(|name| (name.as_str(), unit)).collect();
    let mut table = rates::table(name, title, "block size", &columns);
    for block_bytes in sizes {
        let cell = |read_percent: &u8| Cell { read_percent: *read_percent, block_bytes };
        let values = percents.iter().map(|percent| value(cell(percent))).collect();
        let label = base::Bytes(block_bytes.into()).to_string();
        table.rows.push(TableRow { label, values });
    }
    table.conditions = conditions.clone();
    table
}
