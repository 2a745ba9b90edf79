//! The runs of a call: `run`, its continuation, `review`, `library build` and `advise` carry them out.

pub mod report;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use ::target::TargetSpec;
use io::open::Inspected;
use result::schema::{self, About, Invocation, Repeat};
use result::store::RunDir;
use run::session::Plan;
use run::{Control, Event, Outcome, Request, SpanRequest};
use session::Needs;
use session::pool::{self, Demand, Limits};

use crate::args::RunArgs;
use crate::cost;
use crate::prepare::Targets;
use crate::request;
use crate::stop;
use crate::ui::live::Live;
use crate::ui::progress::Progress;

/// One run to do.
#[derive(Clone)]
pub struct Job {
    /// Its target.
    pub spec: TargetSpec,
    /// Its part of the target.
    pub span: SpanRequest,
    /// Its demands on the target.
    needs: Needs,
    /// Its demands beside other runs.
    demand: Demand,
}

impl Job {
    /// A job for a plan, with the queue depth and command length of the plan.
    pub fn new(span: SpanRequest, plan: &Plan, inspected: &Inspected) -> Self {
        let demand = Demand {
            is_simulated: inspected.spec.kind().is_simulated(),
            memory_bytes: inspected.memory_bytes,
            length: cost::effort(plan).0,
            batch: 0,
        };
        Self { spec: inspected.spec.clone(), span, needs: Needs::of(plan), demand }
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
    /// The words of the user.
    pub about: About,
}

/// One run of a call.
pub enum Task {
    /// Completed by an earlier call.
    Complete(Box<RunDir>),
    /// Still to do.
    Open(Job, Box<Origin>),
}

/// The outcome of a task.
pub type RunResult = Result<Outcome, anyhow::Error>;

/// Does every remaining run, and prints the outcome.
pub fn carry_out(args: &RunArgs, tasks: &[Task], held: &Targets) -> anyhow::Result<u8> {
    let interrupted = stop::button()?;
    let progress = Progress::new(args.execution.quiet);
    let call = Call { args, held, interrupted: &interrupted, progress: &progress };
    let mut done: Vec<Option<RunResult>> = tasks.iter().map(complete).collect();
    let open = tasks.iter().enumerate().filter_map(|(index, task)| match task {
        Task::Complete(_) => None,
        Task::Open(job, origin) => Some((index, job.demand, (job, &**origin))),
    });
    let open: Vec<_> = open.collect();
    let limits = Limits::new(args.jobs.jobs);
    fill(&mut done, &open, limits, &interrupted, &progress, |(job, origin)| {
        one_of(&call, job, origin)
    });
    progress.finish();
    Ok(report::report(args, done, interrupted.load(Ordering::Relaxed)))
}

/// Does open runs beside each other, each with its place in `done`, and puts their outcomes there.
pub fn fill<T: Sync>(
    done: &mut [Option<RunResult>],
    open: &[(usize, Demand, T)],
    limits: Limits,
    interrupted: &AtomicBool,
    progress: &Progress,
    one: impl Fn(&T) -> RunResult + Sync,
) {
    let tally = progress.tally(&open.iter().map(|(_, demand, _)| *demand).collect::<Vec<_>>());
    let beside: Vec<_> = open.iter().map(|(_, demand, run)| (*demand, (*demand, run))).collect();
    let outcomes = pool::carry_out(&beside, limits, interrupted, |(demand, run)| {
        let outcome = one(run);
        tally.ended(demand);
        outcome
    });
    for ((index, ..), outcome) in open.iter().zip(outcomes) {
        done[*index] = outcome;
    }
}

/// The completed run.
fn complete(task: &Task) -> Option<RunResult> {
    let Task::Complete(earlier) = task else { return None };
    Some(Ok(Outcome::of(earlier)))
}

/// The common parts of all runs of a call.
pub struct Call<'a> {
    /// The arguments.
    pub args: &'a RunArgs,
    /// Their targets.
    pub held: &'a Targets,
    /// The stop button.
    pub interrupted: &'a AtomicBool,
    /// Their progress lines.
    pub progress: &'a Progress,
}

pub fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl Origin {
    /// A single run, from its beginning.
    pub fn of(args: &RunArgs, request: schema::Request) -> Self {
        let about = args.execution.about.about();
        Self { request, invocation: None, earlier: None, left_out: Vec::new(), about }
    }

    fn repeat(&self) -> Option<Repeat> {
        request::repeat(&self.request, &self.invocation.as_ref()?.requests)
    }
}

/// One single run.
pub fn one(call: &Call<'_>, job: &Job) -> RunResult {
    one_of(call, job, &Origin::of(call.args, request::of(call.args, &job.spec, job.span)))
}

/// One run from opening to the finished directory.
pub fn one_of(call: &Call<'_>, job: &Job, origin: &Origin) -> RunResult {
    let Call { args, held, interrupted, progress } = *call;
    let request = Request {
        command: request::command(&origin.request),
        recorded: Some(origin.request.clone()),
        invocation: origin.invocation.clone(),
        about: origin.about.clone(),
        repeat: origin.repeat(),
        seed: origin.request.seed,
        resume: origin.earlier.clone(),
        left_out: origin.left_out.clone(),
        workers: args.execution.engine.workers(),
        ios: args.execution.ios,
        ..request::of_test(&args.test, job.span)
    };
    let line = progress.line(args.test.test.name());
    let mut live = Live::new(&args.test.common.library);
    let mut observer = |event: &Event| {
        line.event(event);
        live.event(event);
    };
    let control = Control { interrupted, observer: &mut observer, unix_ns };
    Ok(session::perform(held, &job.spec, job.needs, request, control)?)
}
