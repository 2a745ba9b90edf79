//! PTS latency: one command at a time.
//!
//! Method (suite reference, section 9): rounds of nine steps of one minute, 8, 4 and 0.5 KiB random at
//! QD 1 in the mixes 100/0, 65/35 and 0/100; tracked is the mean latency of 4 KiB all writes. How to
//! read it: the mean over the five steady rounds, and the largest latency seen in them.

use load::Order;

use crate::error::RunError;
use crate::params::Params;
use crate::suite::pts::{self, Cell, Matrix, Rounds, add_steady, matrix_table, of_rounds};
use crate::suite::{Definition, Figures, Measured, Part, Procedure, Site};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-latency",
    question: "how long does one command take in steady state, on average and at most?",
    writes: true,
    params: &[pts::SHORTEN, pts::PRECONDITION],
    procedure,
    figures,
};

const READ_PERCENTS: [u8; 3] = [100, 65, 0];
const BLOCKS: [u32; 3] = [8 << 10, 4 << 10, 512];
const TRACKED: Cell = Cell { read_percent: 0, block_bytes: 4096 };

fn cells() -> Vec<Cell> {
    let of_mix = |read_percent| BLOCKS.map(|block_bytes| Cell { read_percent, block_bytes });
    READ_PERCENTS.into_iter().flat_map(of_mix).collect()
}

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let cells = cells();
    let matrix = Matrix { cells: &cells, order: Order::Uniform, queue_depth: 1, settled };
    pts::procedure(params, site, &matrix)
}

fn tracked(measured: &Measured<'_>) -> Vec<f64> {
    of_rounds(measured, &TRACKED.name(), |part| part.latency_ns_mean())
}

fn settled(measured: &Measured<'_>) -> bool {
    Rounds::of(&tracked(measured)).steady.is_some()
}

fn figures(measured: &Measured<'_>) -> Figures {
    let mut figures = Figures::default();
    let tracked = tracked(measured);
    let rounds = Rounds::of(&tracked);
    let cells = cells();
    let values = |cell: Cell, value: fn(&Part<'_>) -> Option<f64>| {
        of_rounds(measured, &cell.name(), |part| value(&part))
    };
    let mean = |cell: Cell| rounds.mean(&values(cell, |part| part.latency_ns_mean()));
    let max = |cell: Cell| rounds.max(&values(cell, |part| part.latency_ns_max()));
    for &cell in &cells {
        let name = format!("pts-latency.{}", cell.name());
        figures.metrics.insert(format!("{name}.latency_ns_mean"), mean(cell));
        figures.metrics.insert(format!("{name}.latency_ns_max"), max(cell));
    }
    let average = ("average", "PTS average latency (read/write mix)", "ns");
    figures.tables.push(matrix_table(measured, average, &cells, mean));
    let maximum = ("maximum", "PTS maximum latency (read/write mix)", "ns");
    figures.tables.push(matrix_table(measured, maximum, &cells, max));
    add_steady(&mut figures, measured, ("4 KiB random write latency", "ns"), &tracked, &rounds);
    figures
}
