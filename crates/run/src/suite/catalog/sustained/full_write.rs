//! A full-drive write: the time for which a drive keeps its speed, and the speed of the second
//! pass.
//!
//! Method: purge; the whole span is written in LBA order, 128 KiB, QD 32, and then once more over
//! the data of the first pass; one point for each 1/500. Interpretation: a fall in the first pass
//! is the end of a cache; a second pass below the first is the price of cleaning up behind
//! sequential data.

use base::OpKind;
use load::{Order, Workload};

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::{
    Chapter, Config, Definition, Figures, Measured, Notes, Procedure, Site, Step, TestSettings,
    open_loop, steps, zones,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "full-write",
    heading: "Full-drive writes",
    question: "how fast is a write of the whole drive, and is the second as fast as the first?",
    chapter: Chapter::Sustained,
    place: 1,
    writes: true,
    params: &[
        Param { name: "queue_depth", default: "32", help: "commands kept outstanding" },
        steps::DATA,
    ],
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[],
    charts: &[],
    procedure: Procedure::of::<Settings>,
};

/// Depth and data of the passes.
struct Settings {
    queue_depth: u32,
    data: steps::AskedData,
}

impl TestSettings for Settings {
    fn read(params: &Params, _: &Site<'_>, _: &mut Notes) -> Result<Self, RunError> {
        let queue_depth = params.queue_depth("queue_depth")?;
        Ok(Self { queue_depth, data: steps::data(params, "data")? })
    }

    fn config(&self) -> Config {
        let data = self.data.text.clone();
        steps::config([("queue_depth", self.queue_depth.into()), ("data", data.into())])
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let (block, order) = (steps::LINEAR_BLOCK_BYTES, Order::SequentialOnce);
        let workload =
            Workload::new(OpKind::Write, order, block, self.queue_depth, site.span_bytes);
        let workload = Workload { data: self.data.kind, ..workload };
        let pass = |name| steps::by_zone(name, workload.clone(), steps::ZONES);
        steps::once([steps::purge(), pass("first"), pass("second")])
    }

    fn figures(&self, measured: &Measured<'_>) -> Figures {
        zones::figures(measured, "Full-drive writes", &["first", "second"])
    }
}
