//! PTS demand intensity and response time histogram: rate and response at every number of
//! outstanding commands.
//!
//! Method (PTS 2.0, section "DIRTH"): order of steps as in [`crate::suite::pts::intensity`]. The
//! operator chooses the access pattern; the default is 8 KiB random with 65% reads, as in a
//! database. Interpretation: IOPS rise with the outstanding commands while the response stays
//! level, then the response rises alone. The three points show both ends and the middle, with the
//! rare responses.

use load::Order;

use crate::error::RunError;
use crate::params::Param;
use crate::suite::keys::{Key, Reading, settings};
use crate::suite::pts;
use crate::suite::pts::intensity::{self, Access, Variation};
use crate::suite::{
    Chapter, Definition, Figures, Measurements, Notes, ReviewEntry, Site, Step, TestSettings,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-dirth",
    heading: "SNIA PTS: demand intensity",
    question: "how many commands a second, and how soon, at every number of outstanding ones?",
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    charts: &intensity::CHARTS,
    ..Definition::of::<Settings>(Chapter::Pts, 8)
};

settings! {
    /// The access, and the lengths of its steps.
    struct Settings {
        variation: Demand = pts::SHORTEN,
            with intensity::ROUND,
            intensity::PREWRITE,
            intensity::POINT_PREWRITE,
            intensity::POINT_TIME,
            Param::new("block", "8KiB", "size and alignment of the commands"),
            Param::new("read_percent", "65", "share of reads");
    }
}

/// Random commands of one size.
enum Demand {}

impl Key for Demand {
    type Value = Variation;

    fn read(Reading { params, site, notes, .. }: Reading<'_>) -> Result<Variation, RunError> {
        let access = Access {
            order: Order::Uniform,
            block_bytes: params.block_bytes("block")?,
            read_percent: params.get("read_percent")?,
        };
        Variation::read(params, site, access, notes)
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        self.variation.steps(site)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        self.variation.figures(measured, "PTS demand intensity")
    }
}
