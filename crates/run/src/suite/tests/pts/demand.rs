//! PTS demand intensity and response time histogram: what does the drive give, and how soon, at every
//! number of outstanding commands?
//!
//! Method (PTS 2.0, section "DIRTH"): order of steps as in [`crate::suite::pts::intensity`]. The access pattern is
//! the operator's choice; 8 KiB random with 65% reads unless set, as in a database. How to read it: IOPS
//! rise with the outstanding commands while the response stays level, then the response rises alone; the
//! three points say what is to be had at either end and in between, with the rare responses.

use load::Order;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::pts;
use crate::suite::pts::intensity::{self, Access};
use crate::suite::{Definition, Figures, Measured, Procedure, Site};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-dirth",
    question: "how many commands a second, and how soon, at every number of outstanding ones?",
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
    procedure,
    figures,
};

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let access = Access {
        order: Order::Uniform,
        block_bytes: params.block_bytes("block")?,
        read_percent: params.get("read_percent")?,
    };
    intensity::procedure(params, site, access, Vec::new())
}

fn figures(measured: &Measured<'_>) -> Figures {
    intensity::figures(measured, "PTS demand intensity")
}
