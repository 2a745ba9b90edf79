//! PTS IOPS: random commands of eight sizes in seven mixes.
//!
//! Method (SNIA PTS, IOPS): rounds of 56 steps of one minute, mixes from all reads to all writes,
//! in each the sizes from 1,024 KiB down to 0.5 KiB; the tracked figure is 4 KiB all writes.
//! Interpretation: in the table of means over the five steady rounds, a row shows the price of
//! writes, a column that of larger commands. Sizes below the logical block are reported as not
//! supported.

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
    name: "pts-iops",
    heading: "SNIA PTS: IOPS",
    question: "how many random commands a second in steady state, for every size and mix?",
    chapter: Chapter::Pts,
    place: 1,
    writes: true,
    params: &[pts::SHORTEN, pts::PRECONDITION, pts::QUEUE_DEPTH],
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    charts: &[],
    procedure: Procedure::of::<Settings>,
};

const READ_PERCENTS: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
const BLOCKS: [u32; 8] = [1 << 20, 128 << 10, 64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 512];
const TRACKED: Cell = Cell { read_percent: 0, block_bytes: 4096 };

fn cells() -> Vec<Cell> {
    matrix::cells(&READ_PERCENTS, &BLOCKS)
}

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
        matrix::steps_of(&self.0, (&cells(), Order::Uniform), settled, site, notes)
    }

    fn figures(&self, measured: &Measured<'_>) -> Figures {
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
        let conditions = self.0.conditions(measured);
        let words = ("iops", "PTS IOPS (read/write mix)", "IOPS");
        let value = |cell| mean(cell, |part| part.iops());
        figures.tables.push(matrix::table(words, &cells, &conditions, value));
        let (words, unit) = ("4 KiB random writes", "IOPS");
        let tracked = Tracked { stage: "", words, unit, values: &tracked };
        tracked.add_to(&mut figures, measured, &conditions);
        figures
    }
}

fn tracked(measured: &Measured<'_>) -> Vec<f64> {
    of_rounds(measured, &TRACKED.name(), |part| part.iops())
}
