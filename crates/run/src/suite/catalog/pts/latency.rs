//! PTS latency: one command at a time.
//!
//! Method (SNIA PTS, latency): rounds of nine steps of one minute, 8, 4 and 0.5 KiB random at QD 1
//! in the mixes 100/0, 65/35 and 0/100; the tracked figure is the mean latency of 4 KiB all writes.
//! Interpretation: the mean over the five steady rounds, and the largest latency in them.

use load::Order;

use crate::suite::keys::settings;
use crate::suite::pts::matrix::{self, Cell};
use crate::suite::pts::rounds::{Rounds, TrackedFigure, of_rounds, until_steady};
use crate::suite::pts::{self, Common};
use crate::suite::{
    Chapter, Definition, Figures, Measurements, Notes, Part, ReviewEntry, Site, Step, TestSettings,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-latency",
    heading: "SNIA PTS: latency",
    question: "how long does one command take in steady state, on average and at most?",
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    ..Definition::of::<Settings>(Chapter::Pts, 3)
};

const READ_PERCENTS: [u8; 3] = [100, 65, 0];
const BLOCKS: [u32; 3] = [8 << 10, 4 << 10, 512];
const TRACKED: Cell = Cell { read_percent: 0, block_bytes: 4096 };

fn cells() -> Vec<Cell> {
    matrix::cells(&READ_PERCENTS, &BLOCKS)
}

settings! {
    /// The settings of the specification, which leaves no choice.
    struct Settings {
        common: Common = pts::SHORTEN, with pts::PRECONDITION;
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, notes: &mut Notes) -> Vec<Step> {
        let settled = until_steady(tracked);
        matrix::steps_of(&self.common, (&cells(), &Order::Uniform), settled, site, notes)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
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
        let conditions = self.common.conditions(measured);
        let average = ("average", "PTS average latency (read/write mix)", "ns");
        figures.tables.push(matrix::table(average, &cells, &conditions, mean));
        let maximum = ("maximum", "PTS maximum latency (read/write mix)", "ns");
        figures.tables.push(matrix::table(maximum, &cells, &conditions, max));
        let (words, unit) = ("4 KiB random write latency", "ns");
        let tracked = TrackedFigure { stage: "", words, unit, values: &tracked };
        tracked.add_to(&mut figures, measured, &conditions);
        figures
    }
}

fn tracked(measured: &Measurements<'_>) -> Vec<f64> {
    of_rounds(measured, &TRACKED.name(), |part| part.latency_ns_mean())
}
