//! A linear pass in the manner of HD Tach: evenness over the address space.
//!
//! Method (after HD Tach): the whole span is written and then read in LBA order, 128 KiB, QD 1, one
//! point for each 1/500. Interpretation: a level line is a fast drive; a step is the end of a cache
//! or of a fast mode, a comb is garbage collection.

use base::OpKind;

use crate::params::Param;
use crate::suite::keys::{Content, Plain, settings};
use crate::suite::{
    Chapter, Definition, Figures, Headline, Measurements, Notes, ReviewEntry, Site, Step,
    TestSettings, open_loop, steps, zones,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "linear",
    heading: "Linear passes",
    question: "is the drive equally fast over its whole address space?",
    reads_alone: true,
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[ReviewEntry::FULL, ReviewEntry::quick("")],
    headlines: &[
        Headline::column(
            "linear.write.mb_per_s",
            ("Sus\u{ad}tained, MB/s", "Write"),
            "One write of the whole drive",
        ),
        Headline::of_card("linear.read.mb_per_s"),
    ],
    ..Definition::of::<Settings>(Chapter::Speed, 4)
};

settings! {
    /// State and data of the passes.
    struct Settings {
        purge: Plain<bool> = Param::new(
            "purge",
            "true",
            "bring the target to its fresh state first",
        );
        data: Content = steps::DATA;
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let pass = |name, kind| steps::linear_pass(name, kind, self.data.kind, site.span_bytes);
        let passes = [pass("write", OpKind::Write), pass("read", OpKind::Read)];
        steps::once(self.purge.then(steps::purge).into_iter().chain(passes))
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        zones::figures(measured, "Linear passes", &["write", "read"])
    }
}
