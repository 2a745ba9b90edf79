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
use crate::params::{Param, Params};
use crate::suite::pts;
use crate::suite::pts::intensity::{self, Access, Variation};
use crate::suite::{
    Chapter, Config, Definition, Figures, Keys, Measured, Notes, Procedure, ReviewEntry, Site,
    Step, TestSettings,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-dirth",
    heading: "SNIA PTS: demand intensity",
    question: "how many commands a second, and how soon, at every number of outstanding ones?",
    chapter: Chapter::Pts,
    place: 8,
    writes: true,
    params: &[
        pts::SHORTEN,
        intensity::ROUND,
        intensity::PREWRITE,
        intensity::POINT_PREWRITE,
        intensity::POINT_TIME,
        Param { name: "block", default: "8KiB", help: "size and alignment of the commands" },
        Param { name: "read_percent", default: "65", help: "share of reads" },
    ],
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    charts: &intensity::CHARTS,
    procedure: Procedure::of::<Settings>,
};

struct Settings(Variation);

impl Keys for Settings {
    fn read(params: &Params, site: &Site<'_>, notes: &mut Notes) -> Result<Self, RunError> {
        let access = Access {
            order: Order::Uniform,
            block_bytes: params.block_bytes("block")?,
            read_percent: params.get("read_percent")?,
        };
        Variation::read(params, site, access, notes).map(Self)
    }

    fn config(&self) -> Config {
        self.0.config()
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        self.0.steps(site)
    }

    fn figures(&self, measured: &Measured<'_>) -> Figures {
        self.0.figures(measured, "PTS demand intensity")
    }
}
