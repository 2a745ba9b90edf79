//! A full-drive write: how long does the drive keep its speed, and is the second pass as fast as the
//! first?
//!
//! Method (ours): purge; the whole span is written in LBA order, 128 KiB, QD 32, and then once more
//! over the data of the first pass; one point for each 1/500. How to read it: a fall in the first pass is the
//! end of a cache; a second pass below the first is the price of cleaning up behind sequential data.

use base::OpKind;
use load::{Order, Workload};

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::{Definition, Figures, Measured, Procedure, Site, steps, zones};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "full-write",
    question: "how fast is a write of the whole drive, and is the second as fast as the first?",
    writes: true,
    params: &[
        Param { name: "queue_depth", default: "32", help: "commands kept outstanding" },
        steps::DATA,
    ],
    procedure,
    figures,
};

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let depth = params.queue_depth("queue_depth")?;
    let data = steps::data(params, "data")?;
    let block = steps::LINEAR_BLOCK_BYTES;
    let workload =
        Workload::new(OpKind::Write, Order::SequentialOnce, block, depth, site.span_bytes);
    let workload = Workload { data, ..workload };
    let pass = |name| steps::by_zone(name, workload.clone(), steps::ZONES);
    let phases = [steps::purge(), pass("first"), pass("second")];
    let config =
        steps::config([("queue_depth", depth.into()), ("data", params.text("data").into())]);
    Ok(Procedure { config, steps: phases.map(Into::into).into(), notes: Vec::new() })
}

fn figures(measured: &Measured<'_>) -> Figures {
    zones::figures(measured, "Full-drive writes", &["first", "second"])
}
