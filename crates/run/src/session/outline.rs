//! A test in outline: its phases and the names of its figures on a target, without running it.

use result::metrics::{Metric, find};
use result::rows::{PhaseRows, SecondRow};
use result::schema::{Phase, Run};
use target::{Identity, Limits};

use super::bare::bare_run;
use super::plan::{Plan, plan};
use super::request::Request;
use crate::error::RunError;
use crate::replay::Meter;
use crate::suite::{Figures, Measurements};

/// The phases and figures of a test.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Name and description of each phase, in order; those of rounds once.
    pub phases: Vec<(String, String)>,
    /// The rows of the catalogue that its figures belong to, in the order of the catalogue.
    pub metrics: Vec<&'static Metric>,
}

impl Outline {
    /// The outline of this request on a target.
    ///
    /// # Errors
    /// As [`plan`]: the target cannot do the test, or a setting is missing.
    pub fn of(request: &Request, identity: &Identity, limits: &Limits) -> Result<Self, RunError> {
        let plan = plan(request, identity, limits)?;
        let figures = figures(&plan, &bare_run(request.test.name(), identity, 0));
        let mut metrics: Vec<_> = figures.metrics.keys().filter_map(|name| find(name)).collect();
        metrics.sort_by_key(|metric| std::ptr::from_ref(*metric));
        metrics.dedup_by(|a, b| std::ptr::eq(*a, *b));
        let phases = plan.phases().map(|phase| (phase.name.clone(), phase.what.clone())).collect();
        Ok(Self { phases, metrics })
    }
}

/// The figures of a plan whose phases have each run for a second. Their names are those of any run; their values mean
/// nothing.
pub fn figures(plan: &Plan, run: &Run) -> Figures {
    let (phases, rows): (_, Vec<_>) = plan.phases().map(|phase| second(&phase.name)).unzip();
    let run = Run { config: plan.procedure.config.clone(), phases, ..run.clone() };
    let meter = Meter::default();
    let measured = Measurements { run: &run, rows: &rows, replay: Some(&meter), jobs: &[] };
    plan.procedure.figures.of(&measured)
}

/// A complete phase of a second with some bytes.
fn second(name: &str) -> (Phase, PhaseRows) {
    const BYTES: u64 = 1 << 20;
    let phase = Phase {
        name: name.to_owned(),
        duration_ns: 1_000_000_000,
        ios: 256,
        bytes: BYTES,
        complete: true,
        ..Phase::default()
    };
    let row = SecondRow {
        duration_ns: phase.duration_ns,
        ios: [0, phase.ios, 0, 0],
        bytes: [0, BYTES, 0, 0],
        power_uw_mean: Some(1_000_000),
        power_uw_max: Some(1_000_000),
        ..SecondRow::default()
    };
    (phase, PhaseRows { seconds: vec![row], latencies: Vec::new() })
}
