//! `ssdlab run`: one run, or several, for each target and each span.

pub mod report;
pub mod resume;
pub mod sweep;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use ::target::TargetSpec;
use io::open::Described;
use result::schema::{self, About, Invocation, Repeat};
use result::store::RunDir;
use run::session::Plan;
use run::{Control, Event, Outcome, Request, RunError, SpanRequest};
use study::Needs;
use study::pool::{self, Demand};

use crate::args::RunArgs;
use crate::cmd::plan;
use crate::prepare::{self, Looked, Prepared, Wish};
use crate::quick;
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
    pub fn new(spec: TargetSpec, span: SpanRequest, plan: &Plan, described: &Described) -> Self {
        let demand = Demand {
            is_simulated: spec.kind().is_simulated(),
            memory_bytes: described.memory_bytes,
            length: plan::effort(plan).0,
            batch: 0,
        };
        Self { spec, span, needs: Needs::of(plan), demand }
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
pub type Done = Result<Outcome, anyhow::Error>;

pub fn run(args: &RunArgs) -> anyhow::Result<u8> {
    let looked = prepare::look(prepare::parse(&args.test.targets)?, Wish::of(args))?;
    let args = &quick::filled(args, &looked)?;
    let planned = jobs(args, &looked)?;
    let (jobs, requests): (Vec<_>, Vec<_>) = repeated(args, &planned).into_iter().unzip();
    let id = format!("{:x}-{:x}", unix_ns(), std::process::id());
    let commands = requests.iter().map(request::command).collect();
    let invocation = Some(Invocation { id, commands, requests: requests.clone() });
    let origin =
        |request| Box::new(Origin { invocation: invocation.clone(), ..Origin::of(args, request) });
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
    Ok(report::report(args, done, interrupted.load(Ordering::Relaxed)))
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

/// Every repetition of these jobs in its turn, each with a seed of its own.
fn repeated(args: &RunArgs, jobs: &[Job]) -> Vec<(Job, schema::Request)> {
    let one = |job: &Job, number: u32| {
        let request = request::of(args, &job.spec, job.span);
        let seed = request.seed.wrapping_add(number.into());
        (job.clone(), schema::Request { seed, ..request })
    };
    let numbers = 0..args.repeat.repeat;
    if args.repeat.interleave {
        return numbers.flat_map(|number| jobs.iter().map(move |job| one(job, number))).collect();
    }
    jobs.iter().flat_map(|job| numbers.clone().map(move |number| one(job, number))).collect()
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

pub fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl Origin {
    /// A single run, from its beginning.
    pub fn of(args: &RunArgs, request: schema::Request) -> Self {
        let about = args.drive.about.about();
        Self { request, invocation: None, earlier: None, left_out: Vec::new(), about }
    }
}

impl Origin {
    fn repeat(&self) -> Option<Repeat> {
        request::repeat(&self.request, &self.invocation.as_ref()?.requests)
    }
}

/// One single run.
pub fn one(call: &Call<'_>, job: &Job) -> Done {
    one_of(call, job, &Origin::of(call.args, request::of(call.args, &job.spec, job.span)))
}

/// One run from opening to the finished directory.
pub fn one_of(call: &Call<'_>, job: &Job, origin: &Origin) -> Done {
    let Call { args, prepared, interrupted, progress } = *call;
    let request = Request {
        command: request::command(&origin.request),
        recorded: Some(origin.request.clone()),
        invocation: origin.invocation.clone(),
        about: origin.about.clone(),
        repeat: origin.repeat(),
        seed: origin.request.seed,
        resume: origin.earlier.clone(),
        left_out: origin.left_out.clone(),
        workers: args.drive.engine.workers(),
        ios: args.drive.ios,
        ..plan::request(&args.test, job.span)
    };
    let line = progress.line(args.test.test.name());
    let mut live = Live::new(&args.test.common.library);
    let mut observer = |event: &Event| {
        line.event(event);
        live.event(event);
    };
    let control = Control { interrupted, observer: &mut observer, unix_ns };
    Ok(study::perform(prepared, &job.spec, job.needs, request, control)?)
}
