//! Continuation of a run that ended early: its valid parts, and the next step.
//!
//! The figures of a phase depend on the state in which the preceding phases left the drive. A run
//! continues only where that state is known. One such place is before a purge, which makes the
//! state new. The other is before a phase that only reads, on a drive that has kept its data,
//! because an interrupted read has changed nothing. An interrupted phase that writes runs again
//! from the preceding purge. The earlier run directory stays unchanged; the valid parts are copied.

use std::collections::BTreeMap;

use base::HealthSnapshot;
use result::rows::PhaseRows;
use result::schema::{BESIDE, NONE_BESIDE, Phase, Purge, Resumed, Run, RunStatus, SCHEMA_VERSION};
use result::store::RunDir;
use target::Identity;
use target::TargetError;

use super::bare::{TOOL_VERSION, target_record};
use super::plan::Plan;
use super::request::Request;
use crate::error::RunError;
use crate::suite::{Action, PhaseSpec, SUITE_VERSION, Step};

/// The parts of an earlier run; empty for a new run.
#[derive(Default)]
pub(super) struct Continuation {
    /// The next step.
    pub(super) step: usize,
    /// The valid phases, with their rows.
    pub(super) kept: Vec<(Phase, PhaseRows)>,
    /// Number of phases with random addresses among them.
    pub(super) random_phases: u64,
    pub(super) purge: Option<Purge>,
    pub(super) health_before: Option<HealthSnapshot>,
    pub(super) resumed: Option<Resumed>,
    /// The kept parts, and the reason for their limit.
    pub(super) what: String,
    /// The run to continue, or `None` for a new run.
    pub(super) earlier: Option<RunDir>,
}

impl Continuation {
    /// Finds the valid parts of the run to continue.
    ///
    /// # Errors
    /// If it is another test, another target or another version of ssdlab, or cannot be read.
    pub(super) fn of(
        request: &Request,
        plan: &Plan,
        identity: &Identity,
    ) -> Result<Self, RunError> {
        let Some(earlier) = &request.resume else { return Ok(Self::default()) };
        check_continuation(request, plan, identity)?;
        let run = earlier.run();
        let keeps_data = identity.kind.outlives_the_run();
        let point = Point::find(&plan.procedure.steps, &run.phases, keeps_data);
        let kept = run.phases.iter().take(point.phases).enumerate();
        let kept = kept.map(|(index, phase)| Ok((phase.clone(), earlier.rows(index)?)));
        let kept = kept.collect::<Result<Vec<_>, RunError>>()?;
        let any = !kept.is_empty();
        let phases_kept = u32::try_from(point.phases).unwrap_or(u32::MAX);
        Ok(Self {
            step: point.step,
            what: point.what(&plan.procedure.steps, &run.phases),
            random_phases: point.random_phases,
            purge: run.purge.clone().filter(|_| any),
            health_before: run.health.clone().and_then(|health| health.before).filter(|_| any),
            earlier: Some(earlier.clone()),
            resumed: Some(Resumed { run_id: run.run_id.clone(), phases_kept }),
            kept,
        })
    }
}

/// Makes sure that the run of a request can be continued on this target, before any change. A
/// request without such a run always passes.
///
/// # Errors
/// [`TargetError::Refused`] if it is another target or the run is still in progress;
/// [`RunError::Usage`] if it is another test or another version of ssdlab.
pub fn check_continuation(
    request: &Request,
    plan: &Plan,
    identity: &Identity,
) -> Result<(), RunError> {
    let Some(earlier) = &request.resume else { return Ok(()) };
    refuse_unless_over(earlier.run())?;
    refuse_other_target(earlier.run(), identity)?;
    refuse_other_request(earlier.run(), request, plan)
}

/// Adds to the environment what was measured beside the kept phases, and the links that were shared then.
pub(super) fn keep_beside(
    environment: &mut BTreeMap<String, String>,
    earlier: &BTreeMap<String, String>,
) {
    for label in BESIDE {
        let Some(then) = earlier.get(label).filter(|then| *then != NONE_BESIDE) else { continue };
        let both = match environment.get(label).filter(|now| *now != NONE_BESIDE && *now != then) {
            None => then.clone(),
            Some(now) => format!("{then}; later {now}"),
        };
        environment.insert(label.to_owned(), both);
    }
}

/// The point at which a run continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Point {
    /// The next step.
    step: usize,
    /// Phases of the earlier run before it.
    phases: usize,
    /// Number of phases with random addresses among them.
    random_phases: u64,
    /// Phases of the earlier run that ran to their end.
    ended: usize,
}

impl Point {
    /// The last point of the steps that `recorded` has reached and from which the figures equal
    /// those of an uninterrupted run.
    fn find(steps: &[Step], recorded: &[Phase], keeps_data: bool) -> Self {
        let (mut here, mut purge) = (Self::default(), Self::default());
        for step in steps {
            if starts_anew(step) {
                purge = here;
            }
            let rest = &recorded[here.phases..];
            let ended = rest.iter().take_while(|phase| phase.complete && owns(step, &phase.name));
            let ended = ended.count();
            if !is_over(step, ended, rest.get(ended)) {
                let untouched = keeps_data && only_reads(step);
                let point = if untouched { here } else { purge };
                return Self { ended: here.phases + ended, ..point };
            }
            here.step += 1;
            here.phases += ended;
            here.ended = here.phases;
            here.random_phases += random_phases(step, ended);
        }
        here
    }

    /// The kept parts, the parts that run again, and the reason, as a sentence.
    fn what(self, steps: &[Step], recorded: &[Phase]) -> String {
        let names = |phases: &[Phase]| {
            let names: Vec<_> = phases.iter().map(|phase| phase.name.as_str()).collect();
            names.join(", ")
        };
        let kept = match self.phases {
            0 => "none of its phases is kept".to_owned(),
            _ => format!("kept: {}", names(&recorded[..self.phases])),
        };
        let Some(step) = steps.get(self.step) else {
            return format!("{kept}; nothing was missing but the end");
        };
        let next = step.phases().first().map_or("", |phase| phase.name.as_str());
        if self.ended == self.phases {
            return format!("{kept}; goes on with `{next}`");
        }
        format!(
            "{kept}; what was cut off needs the state in which the phases before it left the drive, so \
             that it is done again from `{next}` on, including {}",
            names(&recorded[self.phases..self.ended])
        )
    }
}

/// Whether the step sets the state of the target itself.
fn starts_anew(step: &Step) -> bool {
    step.phases()
        .first()
        .is_some_and(|phase| matches!(phase.action, Action::Purge | Action::PurgeToScale(_)))
}

/// Whether the step leaves the data unchanged. A rest of the drive is a treatment: after a pause of
/// unknown length, it cannot be repeated.
fn only_reads(step: &Step) -> bool {
    let reads = |phase: &PhaseSpec| match &phase.action {
        Action::Load { workload, .. } => !workload.mix.writes(),
        Action::Jobs(jobs) => !jobs.writes(),
        Action::Purge
        | Action::PurgeToScale(_)
        | Action::Deallocate { .. }
        | Action::ManageZones { .. }
        | Action::Idle(_)
        | Action::Age(_)
        | Action::SetRest(_)
        | Action::Replay(_) => false,
    };
    step.phases().iter().all(reads)
}

/// Whether a phase of this name belongs to the step.
fn owns(step: &Step, name: &str) -> bool {
    match step {
        Step::Phase(phase) | Step::Adapted { planned: phase, .. } => phase.name == name,
        Step::Rounds { phases, .. } => {
            let is_of_round = |phase: &PhaseSpec| {
                name.strip_prefix(&phase.name).is_some_and(|end| end.starts_with(".r"))
            };
            phases.iter().any(is_of_round)
        }
        Step::Chosen { phases, .. } => phases.iter().any(|phase| phase.name == name),
    }
}

/// Whether a step with `ended` recorded phases was complete before `next`. Rounds and chosen phases
/// are, if something else came after them. State that ends with the process never is: the counts of
/// a replay and the figures of single jobs, which are not in the rows, and the settings that the host has
/// switched.
fn is_over(step: &Step, ended: usize, next: Option<&Phase>) -> bool {
    match step {
        Step::Phase(phase) | Step::Adapted { planned: phase, .. } => {
            ended == 1 && !ends_with_the_process(phase)
        }
        Step::Rounds { phases, .. } | Step::Chosen { phases, .. } => {
            let was_left = next.is_some_and(|next| !owns(step, &next.name));
            ended > 0 && was_left && !phases.iter().any(ends_with_the_process)
        }
    }
}

/// Whether the record of a phase does not contain everything that later steps and figures need.
const fn ends_with_the_process(phase: &PhaseSpec) -> bool {
    matches!(phase.action, Action::Replay(_) | Action::Jobs(_) | Action::SetRest(_))
}

/// Number of phases with random addresses among the first `ended` ones of a step.
fn random_phases(step: &Step, ended: usize) -> u64 {
    let phases = step.phases().iter().cycle().take(ended);
    let is_random = |phase: &&PhaseSpec| match &phase.action {
        Action::Load { workload, .. } => workload.order.is_random(),
        _ => false,
    };
    phases.filter(is_random).count() as u64
}

fn refuse_unless_over(run: &Run) -> Result<(), RunError> {
    match run.status {
        RunStatus::Interrupted | RunStatus::Failed => Ok(()),
        RunStatus::Running => Err(refused(
            "still-running",
            format!("{} is still being written; wait for its end, or stop it first", run.run_id),
        )),
        RunStatus::Complete => Err(RunError::Usage(format!(
            "{} is complete; there is nothing to continue",
            run.run_id
        ))),
    }
}

fn refuse_other_request(run: &Run, request: &Request, plan: &Plan) -> Result<(), RunError> {
    let version = TOOL_VERSION;
    let config = |config: &std::collections::BTreeMap<_, _>| serde_json::json!(config).to_string();
    let pairs = [
        ("version", run.tool_version.clone(), version.to_owned()),
        ("schema version", run.schema_version.to_string(), SCHEMA_VERSION.to_string()),
        ("suite version", run.suite_version.to_string(), SUITE_VERSION.to_string()),
        ("test", run.test.clone(), request.test.name().to_owned()),
        ("seed", run.seed.to_string(), request.seed.to_string()),
        ("span", run.span.span_bytes.to_string(), plan.span.span_bytes.to_string()),
        ("configuration", config(&run.config), config(&plan.procedure.config)),
    ];
    let Some((what, then, now)) = pairs.into_iter().find(|(_, then, now)| then != now) else {
        return Ok(());
    };
    Err(RunError::Usage(format!(
        "{} cannot be continued: its {what} was {then} and now is {now}; run it anew: {}",
        run.run_id, run.command
    )))
}

/// A block device may have another name since then; name and values define a simulated drive.
fn refuse_other_target(run: &Run, identity: &Identity) -> Result<(), RunError> {
    let (then, now) = (&run.target, target_record(identity));
    let or_none = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let mut pairs = vec![
        ("kind", then.kind.name().to_owned(), now.kind.name().to_owned()),
        ("serial number", or_none(&then.serial), or_none(&now.serial)),
        ("firmware", or_none(&then.firmware), or_none(&now.firmware)),
        ("size in bytes", then.capacity_bytes.to_string(), now.capacity_bytes.to_string()),
    ];
    // All namespaces of a drive have its serial number.
    if let (Some(then), Some(now)) = (then.details.get("wwid"), now.details.get("wwid")) {
        pairs.push(("world-wide name", then.clone(), now.clone()));
    }
    if identity.kind.is_simulated() {
        pairs.push(("model", then.spec.clone(), now.spec));
        pairs.push(("model's values", format!("{:?}", then.details), format!("{:?}", now.details)));
    }
    let Some((what, then, now)) = pairs.into_iter().find(|(_, then, now)| then != now) else {
        return Ok(());
    };
    Err(refused(
        "other-target",
        format!(
            "{} cannot be continued on this target: the {what} was {then} and now is {now}; attach the \
             one that was measured, or run the test anew",
            run.run_id
        ),
    ))
}

fn refused(code: &'static str, message: String) -> RunError {
    RunError::Target(TargetError::Refused { code, message })
}

#[cfg(test)]
mod each_check;
#[cfg(test)]
mod tests;
