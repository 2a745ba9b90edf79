//! PTS throughput: large sequential commands.
//!
//! Method (SNIA PTS, throughput): rounds of one minute of sequential reads and one of sequential
//! writes, 1,024 KiB, over the whole span; the tracked figure is the rate of writes.
//! Interpretation: means over the five steady rounds.

use load::Order;

use crate::error::RunError;
use crate::params::Params;
use crate::suite::pts::matrix::{self, Cell};
use crate::suite::pts::rounds::{Rounds, Tracked, of_rounds, until_steady};
use crate::suite::pts::{self, Common};
use crate::suite::{
    Chapter, Config, Definition, Figures, Measured, Notes, Part, Procedure, ReviewEntry, Site,
    Step, TestSettings,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-throughput",
    heading: "SNIA PTS: throughput",
    question: "how many megabytes a second in steady state, sequentially?",
    chapter: Chapter::Pts,
    place: 2,
    writes: true,
    params: &[pts::SHORTEN, pts::PRECONDITION, pts::QUEUE_DEPTH],
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    charts: &[],
    procedure: Procedure::of::<Settings>,
};

const BLOCK_BYTES: u32 = 1 << 20;
const TRACKED: Cell = Cell { read_percent: 0, block_bytes: BLOCK_BYTES };
const CELLS: [Cell; 2] = [Cell { read_percent: 100, block_bytes: BLOCK_BYTES }, TRACKED];

/// The settings of the specification, which leaves no choice.
struct Settings(Common);

impl TestSettings for Settings {
    fn read(params: &Params, site: &Site<'_>, notes: &mut Notes) -> Result<Self, RunError> {
        let queue_depth = params.queue_depth("queue_depth")?;
        Common::read(params, site, queue_depth, notes).map(Self)
    }

    fn config(&self) -> Config {
        self.0.config()
    }

    fn steps(&self, site: &Site<'_>, notes: &mut Notes) -> Vec<Step> {
        let settled = until_steady(tracked);
        matrix::steps_of(&self.0, (&CELLS, Order::Sequential), settled, site, notes)
    }

    fn figures(&self, measured: &Measured<'_>) -> Figures {
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
        let conditions = self.0.conditions(measured);
        let words = ("throughput", "PTS throughput (read/write)", "MB/s");
        let value = |cell| mean(cell, |part| part.mb_per_s());
        figures.tables.push(matrix::table(words, &CELLS, &conditions, value));
        let (words, unit) = ("1 MiB sequential writes", "MB/s");
        let tracked = Tracked { stage: "", words, unit, values: &tracked };
        tracked.add_to(&mut figures, measured, &conditions);
        figures
    }
}

fn tracked(measured: &Measured<'_>) -> Vec<f64> {
    of_rounds(measured, &TRACKED.name(), |part| part.mb_per_s())
}
