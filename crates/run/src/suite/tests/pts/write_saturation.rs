//! PTS write saturation: random writes from the purged state on.
//!
//! Method (suite reference, section 9): purge, then 4 KiB random writes in steps of one minute until four
//! times the span has been written, six hours have passed, or the rate is steady. Steady state counts
//! (ours) once the span has been written twice, since the fast beginning is level, too. Nothing
//! is shortened here: the test ends by bytes. How to read it: one point for each minute; the fall, and the
//! level where it ends.

use base::{Nanos, OpKind};
use load::{Order, Workload};
use result::schema::TableRow;
use result::stats::findings::count;
use result::stats::steady::{PTS_WINDOW, Window};

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::pts::{self, conditions, of_rounds};
use crate::suite::{Definition, Figures, Measured, Procedure, Site, Step, rates, steps};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-write-saturation",
    question: "how do random writes evolve from the purged state until they are steady?",
    writes: true,
    params: &[
        Param { name: "step", default: "60s", help: "time for each point" },
        Param { name: "steps_max", default: "360", help: "most points" },
        Param { name: "span_writes", default: "4", help: "ends when the span is written so often" },
        pts::QUEUE_DEPTH,
    ],
    procedure,
    figures,
};

const STEP: &str = "load";
/// Spans written before steady state counts.
const SPAN_WRITES_MIN: u64 = 2;

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let step = params.duration("step")?;
    let steps_max = params.count("steps_max")?;
    let span_writes: u64 = params.get("span_writes")?;
    let depth = params.queue_depth("queue_depth")?;
    let workload = Workload::new(OpKind::Write, Order::Uniform, 4096, depth, site.span_bytes);
    let phases = vec![steps::for_time(STEP, workload, step)];
    let rounds = Step::Rounds { rounds_max: steps_max, phases, settled };
    let config = steps::config([
        ("step_ns", step.0.into()),
        ("steps_max", steps_max.into()),
        ("span_writes", span_writes.into()),
        ("queue_depth", depth.into()),
    ]);
    Ok(Procedure { config, steps: vec![steps::purge().into(), rounds], notes: Vec::new() })
}

fn written_bytes(measured: &Measured<'_>) -> u64 {
    measured.run.phases.iter().map(|phase| phase.bytes).sum()
}

fn steady(measured: &Measured<'_>) -> Option<Window> {
    let enough = SPAN_WRITES_MIN * measured.run.span.span_bytes;
    let values = of_rounds(measured, STEP, |part| part.iops());
    let window = Window::last(&values, PTS_WINDOW).filter(Window::is_pts_steady)?;
    (written_bytes(measured) >= enough).then_some(window)
}

fn settled(measured: &Measured<'_>) -> bool {
    let most = measured.config_u64("span_writes").saturating_mul(measured.run.span.span_bytes);
    written_bytes(measured) >= most || steady(measured).is_some()
}

fn figures(measured: &Measured<'_>) -> Figures {
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
    if let (Some(first), Some(window)) = (first, steady) {
        let text = format!(
            "writes {} IOPS in the first step and {} in steady state, after {} written",
            count(first),
            count(window.mean),
            steps::size(written_bytes(measured))
        );
        let metric = "pts-write-saturation.steady.iops";
        figures.findings.push(rates::finding(measured, metric, &text));
    }
    let most = measured.config_u64("span_writes").saturating_mul(measured.run.span.span_bytes);
    if steady.is_none() && written_bytes(measured) >= most {
        figures.warnings.push(format!(
            "the rate was not steady over {PTS_WINDOW} steps when the test ended, after {} written",
            steps::size(written_bytes(measured))
        ));
    }
    let step = Nanos(measured.config_u64("step_ns"));
    let columns = [("4 KiB random writes", "IOPS"), ("written so far", "bytes")];
    let mut table = rates::table("steps", "PTS write saturation", "step", &columns);
    let bytes = of_rounds(measured, STEP, |part| Some(part.phase.bytes as f64));
    let mut written = 0.0;
    for (number, (iops, bytes)) in (1..).zip(iops.iter().zip(bytes)) {
        written += bytes;
        let label = Nanos(step.0.saturating_mul(number)).to_string();
        table.rows.push(TableRow { label, values: vec![Some(*iops), Some(written)] });
    }
    table.conditions = conditions(measured);
    figures.tables.push(table);
    figures
}
