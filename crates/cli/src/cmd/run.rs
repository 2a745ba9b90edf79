//! `ssdlab run`: one run for each target and each span.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use ::target::TargetSpec;
use ::target::Testable;
use io::OpenOptions;
use io::open::{Described, Visitor};
use result::schema::{self, Invocation, VerdictOutcome};
use result::store::RunDir;
use run::session::Plan;
use run::{Control, Event, Outcome, Request, RunError, SpanRequest};

use crate::args::{Format, RunArgs};
use crate::cmd::{plan, show};
use crate::failure::{EXIT_DONE, EXIT_INTERRUPTED, EXIT_IO, EXIT_VERDICT, Failure};
use crate::pool::{self, Demand};
use crate::prepare::{self, Looked, Prepared, Wish};
use crate::request;
use crate::stop;
use crate::ui::live::Live;
use crate::ui::out::{data, talk};
use crate::ui::progress::Progress;

/// One run to do.
#[derive(Clone)]
pub struct Job {
    /// Its target.
    pub spec: TargetSpec,
    /// Its part of the target.
    pub span: SpanRequest,
    /// The deepest queue of the test.
    queue_depth: u32,
    /// The longest command of the test.
    transfer_bytes_max: u32,
    /// Its demands beside other runs.
    demand: Demand,
}

impl Job {
    /// A job for a plan, with the queue depth and command length of the plan.
    pub fn new(spec: TargetSpec, span: SpanRequest, plan: &Plan, described: &Described) -> Self {
        let (queue_depth, transfer_bytes_max) = plan.needs();
        let demand = Demand {
            is_simulated: spec.kind().is_simulated(),
            memory_bytes: described.memory_bytes,
            length: plan::total_cost(plan, 0).time.unwrap_or_default().0,
            batch: 0,
        };
        Self { spec, span, queue_depth, transfer_bytes_max, demand }
    }

    /// Puts the job into a batch of runs.
    pub fn set_batch(&mut self, batch: usize) {
        self.demand.batch = batch;
    }

    /// Its demands beside other runs.
    pub fn demand(&self) -> Demand {
        self.demand
    }
}

/// The origin of a run.
#[derive(Clone)]
pub struct Origin {
    /// Its request.
    pub request: schema::Request,
    /// The call that contains it.
    pub invocation: Option<Invocation>,
    /// The run that it continues, or `None` if it begins by itself.
    pub earlier: Option<RunDir>,
    /// The omissions of its review.
    pub left_out: Vec<String>,
}

/// One run of a call.
pub enum Task {
    /// Completed by an earlier call.
    Complete(Box<RunDir>),
    /// Still to do.
    Open(Job, Box<Origin>),
}

/// The outcome of a task.
pub type Done = Result<Outcome, anyhow::Error>;

pub fn run(args: &RunArgs) -> anyhow::Result<u8> {
    let looked = prepare::look(prepare::parse(&args.test.targets)?, Wish::of(args))?;
    let jobs = jobs(args, &looked)?;
    let requests: Vec<_> = jobs.iter().map(|job| request::of(args, &job.spec, job.span)).collect();
    let id = format!("{:x}-{:x}", unix_ns(), std::process::id());
    let commands = requests.iter().map(request::command).collect();
    let invocation = Some(Invocation { id, commands, requests: requests.clone() });
    let origin =
        |request| Box::new(Origin { invocation: invocation.clone(), ..Origin::of(request) });
    let origins = requests.into_iter().map(origin);
    let tasks: Vec<_> = jobs.into_iter().zip(origins).map(|(job, o)| Task::Open(job, o)).collect();
    carry_out(args, &tasks, &looked.hold()?)
}

/// Does every remaining run, and prints the outcome.
pub fn carry_out(args: &RunArgs, tasks: &[Task], prepared: &Prepared) -> anyhow::Result<u8> {
    let interrupted = stop::button()?;
    let progress = Progress::new(args.drive.quiet);
    let call = Call { args, prepared, interrupted: &interrupted, progress: &progress };
    let mut done: Vec<Option<Done>> = tasks.iter().map(complete).collect();
    let open = tasks.iter().enumerate().filter_map(|(index, task)| match task {
        Task::Complete(_) => None,
        Task::Open(job, origin) => Some((job.demand, (index, job, &**origin))),
    });
    let open: Vec<_> = open.collect();
    let limits = pool::Limits::new(args.jobs.jobs);
    let tally = progress.tally(&open.iter().map(|(demand, _)| *demand).collect::<Vec<_>>());
    let outcomes = pool::carry_out(&open, limits, &interrupted, |(_, job, origin)| {
        let outcome = one_of(&call, job, origin);
        tally.ended(&job.demand);
        outcome
    });
    for ((_, (index, ..)), outcome) in open.iter().zip(outcomes) {
        done[*index] = outcome;
    }
    drop(tally);
    progress.finish();
    report(args, done, interrupted.load(Ordering::Relaxed))
}

/// The completed run.
fn complete(task: &Task) -> Option<Done> {
    let Task::Complete(earlier) = task else { return None };
    Some(Ok(Outcome::of(earlier)))
}

/// Every target with every span, planned before the first one starts.
fn jobs(args: &RunArgs, looked: &Looked) -> Result<Vec<Job>, RunError> {
    let mut jobs = Vec::new();
    for target in looked.targets() {
        for span in args.test.spans() {
            let (request, described) = (plan::request(&args.test, span), &target.described);
            let plan = run::session::plan(&request, &described.identity, &described.limits)?;
            jobs.push(Job::new(target.spec.clone(), span, &plan, described));
        }
    }
    Ok(jobs)
}

/// The common parts of all runs of a call.
pub struct Call<'a> {
    /// The arguments.
    pub args: &'a RunArgs,
    /// Their targets.
    pub prepared: &'a Prepared,
    /// The stop button.
    pub interrupted: &'a AtomicBool,
    /// Their progress lines.
    pub progress: &'a Progress,
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl Origin {
    /// A single run, from its beginning.
    pub fn of(request: schema::Request) -> Self {
        Self { request, invocation: None, earlier: None, left_out: Vec::new() }
    }
}

/// One single run.
pub fn one(call: &Call<'_>, job: &Job) -> Done {
    one_of(call, job, &Origin::of(request::of(call.args, &job.spec, job.span)))
}

/// One run from opening to the finished directory.
pub fn one_of(call: &Call<'_>, job: &Job, origin: &Origin) -> Done {
    let Call { args, prepared, interrupted, progress } = *call;
    let options = OpenOptions {
        queue_depth: job.queue_depth,
        transfer_bytes_max: job.transfer_bytes_max,
        write: args.test.test.writes(),
        seed: args.test.common.seed,
        ..prepared.options().clone()
    };
    let mut opened = prepared.open(&job.spec, &options)?;
    let request = Request {
        command: request::command(&origin.request),
        recorded: Some(origin.request.clone()),
        invocation: origin.invocation.clone(),
        resume: origin.earlier.clone(),
        environment: device::host::environment::environment(),
        facts: prepared.described(&job.spec)?.identity.facts.clone(),
        warnings: opened.warnings(),
        left_out: origin.left_out.clone(),
        workers: args.drive.engine.workers(),
        ..plan::request(&args.test, job.span)
    };
    let line = progress.line(args.test.test.name());
    let mut live = Live::new(&args.test.common.library);
    let mut observer = |event: &Event| {
        line.event(event);
        live.event(event);
    };
    let control = Control { interrupted, observer: &mut observer, unix_ns };
    Ok(opened.visit(RunTest { request: &request, control })?)
}

struct RunTest<'a, 'b> {
    request: &'a Request,
    control: Control<'b>,
}

impl Visitor for RunTest<'_, '_> {
    type Output = Result<Outcome, RunError>;

    fn visit<T: Testable>(mut self, target: &mut T) -> Self::Output {
        run::run(target, self.request, &mut self.control)
    }
}

/// Prints the outcome and returns the exit code: the first failure decides.
fn report(args: &RunArgs, done: Vec<Option<Done>>, interrupted: bool) -> anyhow::Result<u8> {
    let mut failures = Vec::new();
    let mut outcomes = Vec::new();
    let mut rescued: Vec<PathBuf> = Vec::new();
    for done in done.into_iter().flatten() {
        match done {
            Ok(mut outcome) => {
                let failure = outcome.failure.take().map(anyhow::Error::from);
                failures.extend(failure.map(|error| Failure::from_error(&error)));
                outcomes.push(outcome);
            }
            Err(error) => {
                if let Some(
                    RunError::Rescued { rescued: dir, .. } | RunError::NotRescued { kept: dir, .. },
                ) = error.downcast_ref()
                {
                    rescued.push(dir.clone());
                }
                failures.push(Failure::from_error(&error));
            }
        }
    }
    for failure in &failures {
        talk!("error: {}", failure.message);
    }
    let dirs = outcomes.iter().map(|outcome| &outcome.dir).chain(&rescued);
    match args.test.common.format {
        Format::Json => data!("{}", document(&outcomes, dirs, &failures)),
        Format::Text => {
            for outcome in &outcomes {
                show::print_summary(&outcome.run, &outcome.dir);
            }
            dirs.for_each(|dir| data!("{}", dir.display()));
        }
    }
    let failed = |outcome: &Outcome| {
        outcome.run.verdict.as_ref().is_some_and(|v| v.outcome == VerdictOutcome::Fail)
    };
    let code = exit_code(&failures, interrupted);
    let verdict_failed = code == EXIT_DONE && outcomes.iter().any(failed);
    Ok(if verdict_failed { EXIT_VERDICT } else { code })
}

fn document<'a>(
    outcomes: &[Outcome],
    dirs: impl Iterator<Item = &'a PathBuf>,
    failures: &[Failure],
) -> serde_json::Value {
    let runs: Vec<_> = outcomes
        .iter()
        .map(|Outcome { dir, run, .. }| {
            serde_json::json!({
                "run_dir": dir, "run_id": run.run_id, "test": run.test, "status": run.status,
                "target": run.target.spec, "simulated": run.target.is_simulated(),
                "resumed": run.resumed,
                "variant": run.span.variant, "metrics": run.metrics, "verdict": run.verdict,
                "warnings": run.warnings,
            })
        })
        .collect();
    serde_json::json!({
        "run_dirs": dirs.collect::<Vec<_>>(), "runs": runs,
        "error": failures.first(), "errors": failures,
    })
}

/// The first failure decides.
pub fn exit_code(failures: &[Failure], interrupted: bool) -> u8 {
    match failures.first() {
        Some(failure) if failure.exit_code != EXIT_DONE => failure.exit_code,
        Some(_) => EXIT_IO,
        None if interrupted => EXIT_INTERRUPTED,
        None => EXIT_DONE,
    }
}
