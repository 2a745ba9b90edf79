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

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::precondition::{self, OnePass};
use crate::suite::{
    Chapter, Chart, Config, Definition, Figures, Keys, Measured, Notes, Procedure, ReviewEntry,
    Site, Step, TestSettings, open_loop, steps,
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
    chapter: Chapter::SteadyState,
    place: 1,
    writes: true,
    params: &[
        Param { name: "duration", default: "2000s", help: "length of the load" },
        Param { name: "steady_from", default: "1400s", help: "where steady state begins" },
        Param { name: "queue_depth", default: "32", help: "commands kept outstanding by the load" },
        open_loop::RATE,
        Param { name: "block", default: "4KiB", help: "size and alignment of the random writes" },
        Param {
            name: "fill_block",
            default: "128KiB",
            help: "size of the sequential writes of the fill",
        },
        Param {
            name: "data",
            default: "incompressible",
            help: "content of fill (in LBA order) and load; or repeating, or e.g. 46%",
        },
        Param { name: "purge", default: "true", help: "bring the target to its fresh state first" },
        Param { name: "fill", default: "true", help: "write the whole span before the load" },
        Param {
            name: "precondition",
            default: FILL,
            help: "how: `fill` in LBA order, or `one-pass` into the steady state of random writes",
        },
        precondition::RAW_CAPACITY,
    ],
    closed_loop: None,
    reviews: &[
        ReviewEntry::FULL,
        ReviewEntry { spare: Some("25%"), ..ReviewEntry::FULL },
        ReviewEntry::quick("duration=60s steady_from=40s"),
    ],
    charts: &[Chart::Seconds],
    procedure: Procedure::of::<Settings>,
};

/// The load, and the steps before it.
struct Settings {
    duration: Nanos,
    steady_from: Nanos,
    queue_depth: u32,
    pacing: Pacing,
    block_bytes: u32,
    fill_block_bytes: u32,
    data: steps::AskedData,
    purge: bool,
    fill: bool,
    /// The pass that replaces the fill, or `None` if there is none.
    one_pass: Option<OnePass>,
}

impl Keys for Settings {
    fn read(params: &Params, site: &Site<'_>, notes: &mut Notes) -> Result<Self, RunError> {
        let (duration, steady_from) = times(params, notes)?;
        let queue_depth = params.queue_depth("queue_depth")?;
        let pacing = params.get("rate")?;
        let block_bytes = params.block_bytes("block")?;
        Ok(Self {
            duration,
            steady_from,
            queue_depth,
            pacing,
            block_bytes,
            fill_block_bytes: params.block_bytes("fill_block")?,
            purge: params.get("purge")?,
            fill: params.get("fill")?,
            data: steps::data(params, "data")?,
            one_pass: one_pass(params, site, block_bytes, notes)?,
        })
    }

    fn config(&self) -> Config {
        let (is_filled, precondition) = match self.one_pass {
            None => (self.fill, FILL),
            Some(_) => (false, precondition::ONE_PASS),
        };
        let mut config = steps::config([
            ("duration_s", steps::seconds(self.duration).into()),
            ("steady_from_s", steps::seconds(self.steady_from).into()),
            ("queue_depth", self.queue_depth.into()),
            ("rate", self.pacing.to_string().into()),
            ("block_bytes", self.block_bytes.into()),
            ("fill_block_bytes", self.fill_block_bytes.into()),
            ("data", self.data.text.clone().into()),
            ("purge", self.purge.into()),
            ("fill", is_filled.into()),
            ("precondition", precondition.into()),
        ]);
        let pass = self.one_pass.iter();
        config.extend(pass.map(|pass| ("log_bytes".to_owned(), pass.log_bytes.into())));
        config
    }
}

impl TestSettings for Settings {
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

    fn figures(&self, measured: &Measured<'_>) -> Figures {
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

/// The length of the load, and the start of the measured steady state in it: a load too short for the
/// default has it in its last 30%.
fn times(params: &Params, notes: &mut Notes) -> Result<(Nanos, Nanos), RunError> {
    let duration = params.duration("duration")?;
    let steady_from: Nanos = params.get("steady_from")?;
    if params.is_set("steady_from") && steady_from >= duration {
        return Err(RunError::Usage(format!(
            "`--set steady_from={steady_from}` leaves nothing of the {duration} that are measured; expected less than \
             that, or a longer --set duration="
        )));
    }
    let is_room = steady_from.0.saturating_add(WINDOW_MIN.0) <= duration.0;
    if params.is_set("steady_from") || is_room {
        return Ok((duration, steady_from));
    }
    let late = Nanos(duration.0 / 100 * LATE_PERCENT / Nanos::SECOND.0 * Nanos::SECOND.0);
    notes.push(format!(
        "a load of {duration} has no steady state from {steady_from} on; it is looked for from {late} on"
    ));
    Ok((duration, late))
}

/// The pass into steady state, if it is requested.
fn one_pass(
    params: &Params,
    site: &Site<'_>,
    block_bytes: u32,
    notes: &mut Notes,
) -> Result<Option<OnePass>, RunError> {
    let precondition = params.text("precondition");
    match precondition.as_str() {
        FILL => precondition::raw_capacity(params).map(|_| None),
        precondition::ONE_PASS => OnePass::new(params, site, block_bytes, notes).map(Some),
        _ => Err(RunError::Usage(format!(
            "`--set precondition={precondition}` must be {FILL} or {}",
            precondition::ONE_PASS
        ))),
    }
}
