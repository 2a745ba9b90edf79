//! Performance consistency: the pace of a drive that must clean up after itself.
//!
//! Method (AnandTech 2012 to 2015): purge; a sequential fill of the whole tested span, so that
//! every LBA holds data (or a precondition in one pass, see [`crate::suite::precondition`]); then 4
//! KiB random writes over the span at QD 32 for 2,000 s, one sample per second. Interpretation: a
//! fast start while spare blocks last, a fall when every write needs cleaning first, then a band.
//! Its height is the steady state, and its thickness the inconsistency. The one-hour form of 2015
//! is `--set duration=3600s --set steady_from=3200s`. With a rate (`--set rate=1000`) the load is
//! an open loop: the graph then shows whether the drive keeps up with a demand. Latencies count
//! from the due time of a command, so that all commands that are due during a stall feel it.

use base::{Nanos, OpKind};
use load::{Order, Pacing, Workload};
use result::marks::SECONDS_MIN;
use result::marks::reading::circumstances;
use result::stats::notice::Notice;
use result::stats::{consistency::Consistency, findings, latency};
use serde_json::Value;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::keys::{
    Block, Content, Duration, Entry, Key, Plain, QueueDepth, Rate, Reading, settings,
};
use crate::suite::precondition::{self, OnePass};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Headline, Measurements, Notes, ReviewEntry, Site, Step,
    TestSettings, open_loop, steps,
};

/// Name of the measured phase.
const LOAD: &str = "load";
/// The shortest window of steady state at its usual place.
const WINDOW_MIN: Nanos = Nanos(SECONDS_MIN as u64 * Nanos::SECOND.0);
/// Its start in a shorter load.
const LATE_PERCENT: u64 = 70;
/// The word for a fill in LBA order.
const FILL: &str = "fill";

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "consistency",
    heading: "Performance consistency",
    question: "does the drive keep its pace once it must clean up after itself, or does it stall?",
    reviews: &[
        ReviewEntry::FULL,
        ReviewEntry { spare: Some("25%"), ..ReviewEntry::FULL },
        ReviewEntry::quick("duration=60s steady_from=40s"),
    ],
    headlines: &[
        Headline::column("iops_steady_mean", ("Pace", "Steady IOPS"), "Steady pace"),
        Headline::column(
            "iops_steady_jitter_share",
            ("Pace", "Jitter"),
            "Jitter from second to second",
        ),
        Headline::of_card("latency_ns_p99"),
        Headline::column("latency_ns_max", ("Pace", "Longest wait"), "Longest wait"),
        Headline::of_card("waf_steady"),
    ],
    charts: &[Chart::Seconds],
    ..Definition::of::<Settings>(Chapter::SteadyState, 1)
};

settings! {
    /// The load, and the steps before it.
    struct Settings {
        duration: Duration = Param::new("duration", "2000s", "length of the load");
        steady_from: SteadyFrom = Param::new("steady_from", "1400s", "where steady state begins");
        queue_depth: QueueDepth = Param::new(
            "queue_depth",
            "32",
            "commands kept outstanding by the load",
        );
        pacing: Rate = open_loop::RATE;
        block_bytes: Block = Param::new(
            "block",
            "4KiB",
            "size and alignment of the random writes",
        );
        fill_block_bytes: Block = Param::new(
            "fill_block",
            "128KiB",
            "size of the sequential writes of the fill",
        );
        data: Content = Param::new(
            "data",
            "incompressible",
            "content of fill (in LBA order) and load; or repeating, or e.g. 46%",
        );
        purge: Plain<bool> = Param::new(
            "purge",
            "true",
            "bring the target to its fresh state first",
        );
        fill: Plain<bool> = Param::new("fill", "true", "write the whole span before the load");
        /// The pass that replaces the fill, or `None` if there is none.
        one_pass: Precondition = Param::new(
            "precondition",
            FILL,
            "how: `fill` in LBA order, or `one-pass` into the steady state of random writes",
        ), with precondition::RAW_CAPACITY;
    }
}

/// The start of the measured steady state in the load: a load too short for the default has it in its last
/// 30%.
enum SteadyFrom {}

impl Key for SteadyFrom {
    type Value = Nanos;
    const UNIT: &'static str = "_s";

    fn read(Reading { name, params, notes, .. }: Reading<'_>) -> Result<Nanos, RunError> {
        let duration = params.duration("duration")?;
        let steady_from: Nanos = params.get(name)?;
        if params.is_set(name) && steady_from >= duration {
            return Err(RunError::Usage(format!(
                "`--set {name}={steady_from}` leaves nothing of the {duration} that are measured; expected less than \
                 that, or a longer --set duration="
            )));
        }
        let is_room = steady_from.0.saturating_add(WINDOW_MIN.0) <= duration.0;
        if params.is_set(name) || is_room {
            return Ok(steady_from);
        }
        let late = Nanos(duration.0 / 100 * LATE_PERCENT / Nanos::SECOND.0 * Nanos::SECOND.0);
        notes.push(format!(
            "a load of {duration} has no steady state from {steady_from} on; it is looked for from {late} on"
        ));
        Ok(late)
    }
}

/// The way to a full drive.
enum Precondition {}

impl Key for Precondition {
    type Value = Option<OnePass>;

    fn read(
        Reading { name, params, site, notes }: Reading<'_>,
    ) -> Result<Option<OnePass>, RunError> {
        let precondition = params.text(name);
        match precondition.as_str() {
            FILL => precondition::raw_capacity(params).map(|_| None),
            precondition::ONE_PASS => {
                OnePass::new(params, site, params.block_bytes("block")?, notes).map(Some)
            }
            _ => Err(RunError::Usage(format!(
                "`--set {name}={precondition}` must be {FILL} or {}",
                precondition::ONE_PASS
            ))),
        }
    }
}

impl Entry for Option<OnePass> {
    fn entries(&self, name: &str) -> Vec<(String, Value)> {
        let precondition = self.as_ref().map_or(FILL, |_| precondition::ONE_PASS);
        let mut entries = steps::entries([(name, precondition.into())]);
        let pass = self.iter();
        entries.extend(pass.map(|pass| ("log_bytes".to_owned(), pass.log_bytes.into())));
        entries
    }
}

impl TestSettings for Settings {
    fn check(&mut self, _: &Params, _: &Site<'_>, _: &mut Notes) -> Result<(), RunError> {
        self.fill &= self.one_pass.is_none();
        Ok(())
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let write = |order, block_bytes, queue_depth| {
            let write = OpKind::Write;
            let workload = Workload::new(write, order, block_bytes, queue_depth, site.span_bytes);
            Workload { data: self.data.kind, ..workload }
        };
        let fill = || {
            let fill = write(Order::SequentialOnce, self.fill_block_bytes, site.fill_depth());
            steps::to_its_end("fill", fill)
        };
        let purge = self.purge.then(steps::purge);
        let prepare = match &self.one_pass {
            Some(pass) => Some(pass.phase.clone()),
            None => self.fill.then(fill),
        };
        let load = write(Order::Uniform, self.block_bytes, self.queue_depth);
        let load = Workload { pacing: self.pacing, ..load };
        let load = steps::for_time(LOAD, load, self.duration);
        steps::once(purge.into_iter().chain(prepare).chain([load]))
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let Some(load) = measured.part(LOAD) else { return Figures::default() };
        let place = measured.run.phases.iter().rposition(|phase| phase.name == LOAD);
        let circumstances = circumstances(measured.run, place.unwrap_or_default());
        let steady_from_s = u32::try_from(steps::seconds(self.steady_from)).unwrap_or(u32::MAX);
        let mut figures = Consistency::of(load.rows, steady_from_s)
            .with_busy_shares(load.rows, &measured.run.target.details)
            .judged(load.rows, circumstances);
        figures.metrics.insert("iops_mean".to_owned(), load.iops());
        let mut findings = findings::consistency(measured.run, load.rows, &figures);
        let notice = Notice::of(load.rows, self.pacing != Pacing::ClosedLoop);
        findings.extend(notice.finding());
        let obstacle = notice.obstacle();
        for (name, value) in notice.metrics() {
            figures.metrics.insert(name.to_owned(), value);
            let few = obstacle.iter().filter(|_| value.is_some());
            figures.marks.extend(few.map(|reason| reason.mark(name)));
        }
        let Consistency { metrics, mut marks, warnings, .. } = figures;
        marks.extend(latency::marks_of_end(load.phase, &metrics, "latency_"));
        Figures { metrics, marks, findings, warnings, ..Figures::default() }
    }
}
