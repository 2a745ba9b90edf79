//! PTS composite block size workload: the sizes and places of a server's day, mixed into one.
//!
//! Method (PTS 2.0, section "CBW"): 40% reads, twelve sizes from 0.5 to 64 KiB with 4 KiB at 67%,
//! half of the commands within the first 5% of the span, 30% within the next 15%, the rest beyond;
//! order of steps as in [`crate::suite::pts::intensity`]. Difference: on targets with 4 KiB blocks,
//! the seven smaller sizes (a tenth of the commands) are omitted. Interpretation: as for
//! [`super::demand`]; the hot 5% show the effect of skew.

use base::Bytes;
use load::composite::{PTS_COMPOSITE, PTS_COMPOSITE_4K};
use load::{Composite, Order};

use crate::error::RunError;
use crate::suite::keys::{Key, Reading, settings};
use crate::suite::pts;
use crate::suite::pts::intensity::{self, Access, Variation};
use crate::suite::{
    Chapter, Definition, Figures, Measurements, Notes, ReviewEntry, Site, Step, TestSettings,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-cbw",
    heading: "SNIA PTS: composite workload",
    question: "how does the drive take a mix of sizes in hot and cold places?",
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    charts: &intensity::CHARTS,
    ..Definition::of::<Settings>(Chapter::Pts, 7)
};

const READ_PERCENT: u8 = 40;
const SMALL_LOGICAL_BLOCK_BYTES: u32 = 512;

settings! {
    /// The lengths of the steps.
    struct Settings {
        variation: ServerDay = pts::SHORTEN,
            with intensity::ROUND,
            intensity::PREWRITE,
            intensity::POINT_PREWRITE,
            intensity::POINT_TIME;
    }
}

/// The sizes and places of a server's day.
enum ServerDay {}

impl Key for ServerDay {
    type Value = Variation;

    fn read(Reading { params, site, notes, .. }: Reading<'_>) -> Result<Variation, RunError> {
        let composite = composite(site, notes);
        let (order, block_bytes) = (Order::Composite(composite), composite.largest_bytes());
        let access = Access { order, block_bytes, read_percent: READ_PERCENT };
        Variation::read(params, site, access, notes)
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        self.variation.steps(site)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        self.variation.figures(measured, "PTS composite workload")
    }
}

/// The sizes and places that the target supports.
fn composite(site: &Site<'_>, notes: &mut Notes) -> Composite {
    let block_bytes = site.limits.logical_block_bytes;
    if block_bytes <= SMALL_LOGICAL_BLOCK_BYTES {
        return PTS_COMPOSITE;
    }
    notes.push(format!(
        "the composite's sizes below 4KiB (a tenth of its commands) are left out: the target's blocks \
         are {}",
        Bytes(block_bytes.into())
    ));
    PTS_COMPOSITE_4K
}
