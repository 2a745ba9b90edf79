//! PTS IOPS: random commands of eight sizes in seven mixes.
//!
//! Method (SNIA PTS, IOPS): rounds of 56 steps of one minute, mixes from all reads to all writes,
//! in each the sizes from 1,024 KiB down to 0.5 KiB; the tracked figure is 4 KiB all writes.
//! Interpretation: in the table of means over the five steady rounds, a row shows the price of
//! writes, a column that of larger commands. Sizes below the logical block are reported as not
//! supported.

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
    name: "pts-iops",
    heading: "SNIA PTS: IOPS",
    question: "how many random commands a second in steady state, for every size and mix?",
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    ..Definition::of::<Settings>(Chapter::Pts, 1)
};

const READ_PERCENTS: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
const BLOCKS: [u32; 8] = [1 << 20, 128 << 10, 64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 512];

static MATRIX: RateMatrix = RateMatrix {
    test: DEFINITION.name,
    cells: || matrix::cells(&READ_PERCENTS, &BLOCKS),
    order: Order::Uniform,
    tracked: Cell { read_percent: 0, block_bytes: 4096 },
    tracked_words: "4 KiB random writes",
    table: ("iops", "PTS IOPS (read/write mix)"),
    rate: |part| part.iops(),
    unit: "IOPS",
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
