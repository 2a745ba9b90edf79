//! PTS write saturation: random writes from the purged state on.
//!
//! Method (SNIA PTS, write saturation): purge, then 4 KiB random writes in steps of one minute
//! until four times the span has been written, six hours have passed, or the rate is steady.
//! Differences: steady state counts only after two writes of the span, because the fast beginning
//! is level, too; steps are never shortened, because the test ends by bytes. Interpretation: one
//! point for each minute; the fall, and the final level.

use base::{Nanos, OpKind};
use load::{Order, Workload};
use result::marks::Reason;
use result::schema::{Table, TableRow};
use result::stats::findings::count;
use result::stats::steady::{PTS_WINDOW, Window};

use crate::error::RunError;
use crate::params::Param;
use crate::suite::keys::{Count, Key, Plain, QueueDepth, Reading, settings};
use crate::suite::pts::rounds::of_rounds;
use crate::suite::pts::{self, Common};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Formula, Measurements, Notes, ReviewEntry, Site, Step,
    TestSettings, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-write-saturation",
    heading: "SNIA PTS: write saturation",
    question: "how do random writes evolve from the purged state until they are steady?",
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    charts: &[Chart::Curves { table: "steps", units: &["IOPS"], log_rows: false }],
    ..Definition::of::<Settings>(Chapter::Pts, 4)
};

const STEP: &str = "load";
/// Writes of the span before steady state counts.
const SPAN_WRITES_MIN: u64 = 2;

settings! {
    /// Length, number and end of the steps.
    struct Settings {
        step_ns: StepNs = Param::new("step", "60s", "time for each point");
        steps_max: Count = Param::new("steps_max", "360", "most points");
        /// Writes of the span at which the test ends.
        span_writes: Plain<u64> = Param::new(
            "span_writes",
            "4",
            "ends when the span is written so often",
        );
        queue_depth: QueueDepth = pts::QUEUE_DEPTH;
    }
}

/// The time for a point in ns.
enum StepNs {}

impl Key for StepNs {
    type Value = u64;
    const UNIT: &'static str = "_ns";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<u64, RunError> {
        params.duration(name).map(|time| time.0)
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let (depth, span_writes) = (self.queue_depth, self.span_writes);
        let workload = Workload::new(OpKind::Write, Order::Uniform, 4096, depth, site.span_bytes);
        let phases = vec![steps::for_time(STEP, workload, Nanos(self.step_ns))];
        let is_settled = move |measured: &Measurements<'_>| {
            is_written(measured, span_writes) || steady(measured).is_some()
        };
        let settled = Formula::new(is_settled);
        vec![steps::purge().into(), Step::Rounds { rounds_max: self.steps_max, phases, settled }]
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let iops = of_rounds(measured, STEP, |part| part.iops());
        let steady = steady(measured);
        let first = iops.first().copied();
        for (name, value) in [
            ("first.iops", first),
            ("steady.iops", steady.map(|window| window.mean)),
            ("written_bytes", Some(written_bytes(measured) as f64)),
            ("minutes", Some(iops.len() as f64)),
        ] {
            figures.metrics.insert(format!("pts-write-saturation.{name}"), value);
        }
        let written = steps::size(written_bytes(measured));
        if let (Some(first), Some(window)) = (first, steady) {
            let text = format!(
                "writes {} IOPS in the first step and {} in steady state, after {written} written",
                count(first),
                count(window.mean),
            );
            let metric = "pts-write-saturation.steady.iops";
            figures.findings.push(rates::finding(measured, metric, &text));
        }
        if steady.is_none() {
            let words = measured.obstacle_of_past();
            let words = words.unwrap_or_else(|| format!("not even over {PTS_WINDOW} steps"));
            let reason = Reason::not_steady(words);
            figures.marks.push(reason.mark("pts-write-saturation.steady.iops"));
        }
        if steady.is_none() && is_written(measured, self.span_writes) {
            figures.warnings.push(format!(
                "the rate was not steady over {PTS_WINDOW} steps when the test ended, after {written} \
                 written"
            ));
        }
        figures.tables.push(self.table(measured, &iops));
        figures
    }
}

impl Settings {
    /// One row per step.
    fn table(&self, measured: &Measurements<'_>, iops: &[f64]) -> Table {
        let columns = [("4 KiB random writes", "IOPS"), ("written so far", "bytes")];
        let mut table = rates::table("steps", "PTS write saturation", "step", &columns);
        let bytes = of_rounds(measured, STEP, |part| Some(part.phase.bytes as f64));
        let mut written = 0.0;
        for (number, (iops, bytes)) in (1..).zip(iops.iter().zip(bytes)) {
            written += bytes;
            let label = Nanos(self.step_ns.saturating_mul(number)).to_string();
            table.rows.push(TableRow { label, values: vec![Some(*iops), Some(written)] });
        }
        // Minutes are never shortened, and there is no precondition.
        let Self { step_ns, queue_depth, .. } = *self;
        let common = Common { step: Nanos(step_ns), shorten: 1, precondition: 0, queue_depth };
        table.conditions = common.conditions(measured);
        table
    }
}

fn written_bytes(measured: &Measurements<'_>) -> u64 {
    measured.run.phases.iter().map(|phase| phase.bytes).sum()
}

/// Whether the span has been written this number of times.
fn is_written(measured: &Measurements<'_>, span_writes: u64) -> bool {
    written_bytes(measured) >= span_writes.saturating_mul(measured.run.span.span_bytes)
}

/// The last steps, if they are steady.
fn steady(measured: &Measurements<'_>) -> Option<Window> {
    let values = of_rounds(measured, STEP, |part| part.iops());
    let window = Window::last(&values, PTS_WINDOW).filter(Window::is_pts_steady)?;
    let is_settled = is_written(measured, SPAN_WRITES_MIN) && measured.obstacle_of_past().is_none();
    is_settled.then_some(window)
}
