//! PTS throughput: large sequential commands.
//!
//! Method (suite reference, section 9): rounds of one minute of sequential reads and one of sequential
//! writes, 1,024 KiB, over the whole span; tracked are the writes. How to read it: means over the
//! five steady rounds.

use load::Order;

use crate::error::RunError;
use crate::params::Params;
use crate::suite::pts::{self, Cell, Matrix, Rounds, add_steady, matrix_table, of_rounds};
use crate::suite::{Definition, Figures, Measured, Part, Procedure, Site};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-throughput",
    question: "how many megabytes a second in steady state, sequentially?",
    writes: true,
    params: &[pts::SHORTEN, pts::PRECONDITION, pts::QUEUE_DEPTH],
    procedure,
    figures,
};

const BLOCK_BYTES: u32 = 1 << 20;
const TRACKED: Cell = Cell { read_percent: 0, block_bytes: BLOCK_BYTES };
const CELLS: [Cell; 2] = [Cell { read_percent: 100, block_bytes: BLOCK_BYTES }, TRACKED];

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let queue_depth = params.queue_depth("queue_depth")?;
    let matrix = Matrix { cells: &CELLS, order: Order::Sequential, queue_depth, settled };
    pts::procedure(params, site, &matrix)
}

fn tracked(measured: &Measured<'_>) -> Vec<f64> {
    of_rounds(measured, &TRACKED.name(), |part| part.mb_per_s())
}

fn settled(measured: &Measured<'_>) -> bool {
    Rounds::of(&tracked(measured)).steady.is_some()
}

fn figures(measured: &Measured<'_>) -> Figures {
    let mut figures = Figures::default();
    let tracked = tracked(measured);
    let rounds = Rounds::of(&tracked);
    let mean = |cell: Cell, value: fn(&Part<'_>) -> Option<f64>| {
        rounds.mean(&of_rounds(measured, &cell.name(), |part| value(&part)))
    };
    for cell in CELLS {
        let name = format!("pts-throughput.{}", cell.name());
        figures.metrics.insert(format!("{name}.iops"), mean(cell, |part| part.iops()));
        figures.metrics.insert(format!("{name}.mb_per_s"), mean(cell, |part| part.mb_per_s()));
    }
    let words = ("throughput", "PTS throughput (read/write)", "MB/s");
    let value = |cell| mean(cell, |part| part.mb_per_s());
    figures.tables.push(matrix_table(measured, words, &CELLS, value));
    add_steady(&mut figures, measured, ("1 MiB sequential writes", "MB/s"), &tracked, &rounds);
    figures
}
