//! PTS throughput: large sequential commands.
//!
//! Method (SNIA PTS, throughput): rounds of one minute of sequential reads and one of sequential
//! writes, 1,024 KiB, over the whole span; the tracked figure is the rate of writes.
//! Interpretation: means over the five steady rounds.

use load::Order;

use crate::suite::keys::settings;
use crate::suite::pts::matrix::{self, Cell};
use crate::suite::pts::rate_matrix::RateMatrix;
use crate::suite::pts::{self, Common};
use crate::suite::{
    Chapter, Definition, Figures, Measurements, Notes, ReviewEntry, Site, Step, TestSettings,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-throughput",
    heading: "SNIA PTS: throughput",
    question: "how many megabytes a second in steady state, sequentially?",
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    ..Definition::of::<Settings>(Chapter::Pts, 2)
};

const BLOCK_BYTES: u32 = 1 << 20;

static MATRIX: RateMatrix = RateMatrix {
    test: DEFINITION.name,
    cells: || matrix::cells(&[100, 0], &[BLOCK_BYTES]),
    order: Order::Sequential,
    tracked: Cell { read_percent: 0, block_bytes: BLOCK_BYTES },
    tracked_words: "1 MiB sequential writes",
    table: ("throughput", "PTS throughput (read/write)"),
    rate: |part| part.mb_per_s(),
    unit: "MB/s",
};

settings! {
    /// The settings of the specification, which leaves no choice.
    struct Settings {
        common: Common = pts::SHORTEN, with pts::PRECONDITION, pts::QUEUE_DEPTH;
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, notes: &mut Notes) -> Vec<Step> {
        MATRIX.steps(&self.common, site, notes)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        MATRIX.figures(&self.common, measured)
    }
}
