//! PTS IOPS: random commands of eight sizes in seven mixes.
//!
//! Method (suite reference, section 9): rounds of 56 steps of one minute, mixes from all reads to all
//! writes, in each the sizes from 1,024 KiB down to 0.5 KiB; tracked is 4 KiB all writes. How to read
//! it: a table of means over the five steady rounds; along a row the price of writes, along a column that of
//! larger commands. Sizes below the logical block are reported as not supported.

use load::Order;

use crate::error::RunError;
use crate::params::Params;
use crate::suite::pts::{self, Cell, Matrix, Rounds, add_steady, matrix_table, of_rounds};
use crate::suite::{Definition, Figures, Measured, Part, Procedure, Site};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-iops",
    question: "how many random commands a second in steady state, for every size and mix?",
    writes: true,
    params: &[pts::SHORTEN, pts::PRECONDITION, pts::QUEUE_DEPTH],
    procedure,
    figures,
};

const READ_PERCENTS: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
const BLOCKS: [u32; 8] = [1 << 20, 128 << 10, 64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 512];
const TRACKED: Cell = Cell { read_percent: 0, block_bytes: 4096 };

fn cells() -> Vec<Cell> {
    let of_mix = |read_percent| BLOCKS.map(|block_bytes| Cell { read_percent, block_bytes });
    READ_PERCENTS.into_iter().flat_map(of_mix).collect()
}

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let cells = cells();
    let queue_depth = params.queue_depth("queue_depth")?;
    let matrix = Matrix { cells: &cells, order: Order::Uniform, queue_depth, settled };
    pts::procedure(params, site, &matrix)
}

fn tracked(measured: &Measured<'_>) -> Vec<f64> {
    of_rounds(measured, &TRACKED.name(), |part| part.iops())
}

fn settled(measured: &Measured<'_>) -> bool {
    Rounds::of(&tracked(measured)).steady.is_some()
}

fn figures(measured: &Measured<'_>) -> Figures {
    let mut figures = Figures::default();
    let tracked = tracked(measured);
    let rounds = Rounds::of(&tracked);
    let cells = cells();
    let mean = |cell: Cell, value: fn(&Part<'_>) -> Option<f64>| {
        rounds.mean(&of_rounds(measured, &cell.name(), |part| value(&part)))
    };
    for &cell in &cells {
        let name = format!("pts-iops.{}", cell.name());
        figures.metrics.insert(format!("{name}.iops"), mean(cell, |part| part.iops()));
        figures.metrics.insert(format!("{name}.mb_per_s"), mean(cell, |part| part.mb_per_s()));
    }
    let words = ("iops", "PTS IOPS (read/write mix)", "IOPS");
    figures
        .tables
        .push(matrix_table(measured, words, &cells, |cell| mean(cell, |part| part.iops())));
    add_steady(&mut figures, measured, ("4 KiB random writes", "IOPS"), &tracked, &rounds);
    figures
}
