//! PTS composite block size workload: the sizes and places of a server's day, mixed into one.
//!
//! Method (PTS 2.0, section "CBW"): 40% reads, twelve sizes from 0.5 to 64 KiB with 4 KiB at 67%, half
//! of the commands within the first 5% of the span, 30% within the next 15%, the rest beyond; order of
//! steps as in [`crate::suite::pts::intensity`]. Ours: on targets with 4 KiB blocks the seven smaller sizes (a tenth
//! of the commands) are left out. How to read it: as [`super::demand`]; the hot 5% show what a drive
//! makes of skew.

use load::Order;
use load::composite::{PTS_COMPOSITE, PTS_COMPOSITE_4K};

use crate::error::RunError;
use crate::params::Params;
use crate::suite::pts;
use crate::suite::pts::intensity::{self, Access};
use crate::suite::{Definition, Figures, Measured, Procedure, Site};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-cbw",
    question: "how does the drive take a mix of sizes in hot and cold places?",
    writes: true,
    params: &[
        pts::SHORTEN,
        intensity::ROUND,
        intensity::PREWRITE,
        intensity::POINT_PREWRITE,
        intensity::POINT_TIME,
    ],
    procedure,
    figures,
};

const READ_PERCENT: u8 = 40;
const SMALL_LOGICAL_BLOCK_BYTES: u32 = 512;

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let mut notes = Vec::new();
    let composite = if site.limits.logical_block_bytes <= SMALL_LOGICAL_BLOCK_BYTES {
        PTS_COMPOSITE
    } else {
        let block = base::Bytes(site.limits.logical_block_bytes.into());
        notes.push(format!(
            "the composite's sizes below 4KiB (a tenth of its commands) are left out: the target's blocks \
             are {block}"
        ));
        PTS_COMPOSITE_4K
    };
    let order = Order::Composite(composite);
    let access =
        Access { order, block_bytes: composite.largest_bytes(), read_percent: READ_PERCENT };
    intensity::procedure(params, site, access, notes)
}

fn figures(measured: &Measured<'_>) -> Figures {
    intensity::figures(measured, "PTS composite workload")
}
