//! A test resolved against a target, before any change.

use load::{Workload, WorkloadError};
use target::{Identity, Limits, TargetError};

use super::Request;
use crate::error::RunError;
use crate::jobs::Jobs;
use crate::params::Params;
use crate::suite::{Action, Definition, PhaseSpec, Procedure, Site, Step};

const REPLAYED_BY_ONE: &str =
    "one thread replays a trace, or its order would be lost: --workers and --cpu do nothing there";

const JOBS_BY_ONE: &str =
    "one thread issues the commands of all jobs of a phase: --workers and --cpu do nothing there";

/// A test resolved against a target, before any change.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its parameters.
    pub params: Params,
    /// Part of the LBA space.
    pub span: result::schema::Span,
    /// The test procedure.
    pub procedure: Procedure,
}

impl Plan {
    /// Every phase, those of rounds once.
    pub fn phases(&self) -> impl Iterator<Item = &PhaseSpec> {
        self.procedure.steps.iter().flat_map(Step::phases)
    }

    /// Whether no phase changes the data on the target.
    pub(super) fn only_reads(&self) -> bool {
        let rests =
            |phase: &PhaseSpec| matches!(phase.action, Action::Idle(_) | Action::SetRest(_));
        self.phases().any(PhaseSpec::only_reads)
            && self.phases().all(|phase| phase.only_reads() || rests(phase))
    }

    /// Whether a phase keeps at most one command outstanding.
    pub(super) fn has_single_commands(&self) -> bool {
        self.phases().any(|phase| match &phase.action {
            Action::Load { workload, .. } => workload.queue_depth == 1,
            _ => false,
        })
    }

    /// The most commands that any phase keeps outstanding, and the longest command of any.
    pub fn needs(&self) -> (u32, u32) {
        let workloads = self.phases().filter_map(|phase| match &phase.action {
            Action::Load { workload, .. } | Action::ManageZones { writes: workload, .. } => {
                Some((workload.queue_depth, workload.block_bytes))
            }
            Action::Replay(spec) => Some((spec.queue_depth_max, spec.transfer_bytes_max)),
            Action::Jobs(jobs) => Some((jobs.queue_depth(), jobs.longest_bytes())),
            Action::Purge
            | Action::PurgeToScale(_)
            | Action::Deallocate { .. }
            | Action::Idle(_)
            | Action::Age(_)
            | Action::SetRest(_) => None,
        });
        workloads.fold((1, 512), |(depth, bytes), (d, b)| (depth.max(d), bytes.max(b)))
    }
}

/// Resolves a request against a target without changing it.
///
/// # Errors
/// If a parameter, the span or a workload does not fit the target.
pub fn plan(request: &Request, identity: &Identity, limits: &Limits) -> Result<Plan, RunError> {
    let definition = request.test.definition();
    let params = request.test.params_with(&request.settings)?;
    check_zones(definition, identity, limits)?;
    let span = request.span.resolve(identity)?;
    let has_meter = request.meter.is_some();
    let site = Site { span_bytes: span.span_bytes, identity, limits, has_meter };
    crate::power::check(request.meter.as_ref(), identity)?;
    let mut procedure = (definition.procedure)(&params, &site)?;
    if request.read_only {
        procedure = procedure.reading(request.test)?;
    }
    procedure.config.extend(request.workers.config());
    let replays = |step: &Step| step.phases().iter().any(|p| matches!(p.action, Action::Replay(_)));
    if !request.workers.is_plain() && procedure.steps.iter().any(replays) {
        procedure.notes.push(REPLAYED_BY_ONE.to_owned());
    }
    let has_jobs = |step: &Step| step.phases().iter().any(|p| matches!(p.action, Action::Jobs(_)));
    if !request.workers.is_plain() && procedure.steps.iter().any(has_jobs) {
        procedure.notes.push(JOBS_BY_ONE.to_owned());
    }
    let plan = Plan { params, span, procedure };
    plan.phases().try_for_each(|phase| check_phase(phase, &plan.params, &site))?;
    Ok(plan)
}

/// Refuses a test that writes at any place on a drive with zones, and a test of zones on any other.
fn check_zones(
    definition: &Definition,
    identity: &Identity,
    limits: &Limits,
) -> Result<(), RunError> {
    let (test, target) = (definition.name, &identity.name);
    match (definition.zoned, limits.zones.is_some()) {
        (false, true) => Err(RunError::Usage(format!(
            "`{test}` writes at any place, and {target} has zones, which are written in order; `zones` is the test \
             for it"
        ))),
        (true, false) => {
            Err(RunError::Usage(format!("`{test}` is for drives with zones, not for {target}")))
        }
        _ => Ok(()),
    }
}

fn check_phase(phase: &PhaseSpec, params: &Params, site: &Site<'_>) -> Result<(), RunError> {
    let Site { identity, limits, .. } = site;
    let cannot_deallocate = || {
        Err(RunError::Target(TargetError::Unsupported(format!(
            "{} cannot deallocate (no TRIM, UNMAP or hole punching), which the phase `{}` needs",
            identity.name, phase.name
        ))))
    };
    match &phase.action {
        Action::Load { workload, .. } if workload.deallocates() && !limits.deallocate => {
            cannot_deallocate()
        }
        Action::Load { workload, .. } | Action::ManageZones { writes: workload, .. } => {
            check_workload(workload, params, site)
        }
        Action::Jobs(jobs)
            if jobs.jobs.iter().any(|job| job.workload.deallocates()) && !limits.deallocate =>
        {
            cannot_deallocate()
        }
        Action::Jobs(jobs) => check_jobs(jobs, params, site),
        Action::Deallocate { .. } if !limits.deallocate => cannot_deallocate(),
        Action::Age(past) => Ok(past.check(identity, limits.ages)?),
        Action::Purge
        | Action::PurgeToScale(_)
        | Action::Deallocate { .. }
        | Action::Idle(_)
        | Action::SetRest(_)
        | Action::Replay(_) => Ok(()),
    }
}

fn check_workload(workload: &Workload, params: &Params, site: &Site<'_>) -> Result<(), RunError> {
    let Site { identity, limits, .. } = site;
    workload.check(limits.logical_block_bytes).map_err(|error| asked_for(params, &error))?;
    if workload.queue_depth > limits.queue_depth_max {
        let (depth, most) = (workload.queue_depth, limits.queue_depth_max);
        let way_out = depth_parameter(params, depth).map_or_else(
            || "choose another test".to_owned(),
            |name| format!("lower it with --set {name}={most}"),
        );
        return Err(RunError::Usage(format!(
            "queue depth {depth} is more than the {most} commands that {} takes at a time; {way_out}",
            identity.name
        )));
    }
    if workload.block_bytes > limits.transfer_bytes_max {
        return Err(RunError::Usage(format!(
            "a block of {} bytes is longer than the {} bytes that {} takes in one command",
            workload.block_bytes, limits.transfer_bytes_max, identity.name
        )));
    }
    Ok(())
}

/// The relations between the jobs, each of them, and the depth of all together.
fn check_jobs(jobs: &Jobs, params: &Params, site: &Site<'_>) -> Result<(), RunError> {
    jobs.check().map_err(|error| RunError::Usage(error.to_string()))?;
    for job in &jobs.jobs {
        check_workload(&job.workload, params, site).map_err(|error| match error {
            RunError::Usage(text) => RunError::Usage(format!("job `{}`: {text}", job.name)),
            error => error,
        })?;
    }
    let (depth, most) = (jobs.queue_depth(), site.limits.queue_depth_max);
    if depth <= most {
        return Ok(());
    }
    Err(RunError::Usage(format!(
        "the jobs keep {depth} commands outstanding, more than the {most} that {} takes at a time; lower their \
         queue depths",
        site.identity.name
    )))
}

/// The error of a workload, with the settings that caused it.
fn asked_for(params: &Params, error: &WorkloadError) -> RunError {
    let set = params.iter().filter(|(name, _)| params.is_set(name));
    let set: Vec<_> = set.map(|(name, text)| format!("--set {name}={text}")).collect();
    if set.is_empty() {
        return RunError::Usage(error.to_string());
    }
    RunError::Usage(format!("{error} (asked for: {})", set.join(" ")))
}

/// The parameter with this queue depth: a test may have several.
fn depth_parameter(params: &Params, depth: u32) -> Option<&'static str> {
    let asks =
        |(name, text): &(&str, &str)| name.contains("queue_depth") && text.parse() == Ok(depth);
    let named = |is_set| params.iter().find(|pair| asks(pair) && params.is_set(pair.0) == is_set);
    named(true).or_else(|| named(false)).map(|(name, _)| name)
}
