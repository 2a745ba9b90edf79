//! A full-drive write: the time for which a drive keeps its speed, and the speed of the second
//! pass.
//!
//! Method: purge; the whole span is written in LBA order, 128 KiB, QD 32, and then once more over
//! the data of the first pass; one point for each 1/500. Interpretation: a fall in the first pass
//! is the end of a cache; a second pass below the first is the price of cleaning up behind
//! sequential data.

use base::OpKind;
use load::{Order, Workload};

use crate::params::Param;
use crate::suite::keys::{Content, QueueDepth, settings};
use crate::suite::{
    Chapter, Definition, Figures, Measurements, Notes, Site, Step, TestSettings, open_loop, steps,
    zones,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "full-write",
    heading: "Full-drive writes",
    question: "how fast is a write of the whole drive, and is the second as fast as the first?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    ..Definition::of::<Settings>(Chapter::Sustained, 1)
};

settings! {
    /// Depth and data of the passes.
    struct Settings {
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands kept outstanding");
        data: Content = steps::DATA;
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let (block, order) = (steps::LINEAR_BLOCK_BYTES, Order::SequentialOnce);
        let workload =
            Workload::new(OpKind::Write, order, block, self.queue_depth, site.span_bytes);
        let workload = Workload { data: self.data.kind, ..workload };
        let pass = |name| steps::by_zone(name, workload.clone(), steps::ZONES);
        steps::once([steps::purge(), pass("first"), pass("second")])
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        zones::figures(measured, "Full-drive writes", &["first", "second"])
    }
}
