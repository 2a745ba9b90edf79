//! A linear pass in the manner of HD Tach: evenness over the address space.
//!
//! Method (after HD Tach): the whole span is written and then read in LBA order, 128 KiB, QD 1, one
//! point for each 1/500. Interpretation: a level line is a fast drive; a step is the end of a cache
//! or of a fast mode, a comb is garbage collection.

use base::OpKind;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::{
    Chapter, Config, Definition, Figures, Measured, Notes, Procedure, ReviewEntry, Site, Step,
    TestSettings, open_loop, steps, zones,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "linear",
    heading: "Linear passes",
    question: "is the drive equally fast over its whole address space?",
    chapter: Chapter::Speed,
    place: 4,
    writes: true,
    params: &[
        Param { name: "purge", default: "true", help: "bring the target to its fresh state first" },
        steps::DATA,
    ],
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[ReviewEntry::FULL, ReviewEntry::quick("")],
    charts: &[],
    procedure: Procedure::of::<Settings>,
};

/// State and data of the passes.
struct Settings {
    purge: bool,
    data: steps::AskedData,
}

impl TestSettings for Settings {
    fn read(params: &Params, _: &Site<'_>, _: &mut Notes) -> Result<Self, RunError> {
        Ok(Self { purge: params.get("purge")?, data: steps::data(params, "data")? })
    }

    fn config(&self) -> Config {
        let data = self.data.text.clone();
        steps::config([("purge", self.purge.into()), ("data", data.into())])
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let pass = |name, kind| steps::linear_pass(name, kind, self.data.kind, site.span_bytes);
        let passes = [pass("write", OpKind::Write), pass("read", OpKind::Read)];
        steps::once(self.purge.then(steps::purge).into_iter().chain(passes))
    }

    fn figures(&self, measured: &Measured<'_>) -> Figures {
        zones::figures(measured, "Linear passes", &["write", "read"])
    }
}
