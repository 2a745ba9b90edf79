//! The runs of a call: `run`, its continuation, `review`, `library build` and `advise` carry them out.

pub mod report;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use result::store::RunDir;
use run::{Control, Event, Outcome};
use session::job::{Job, Origin, unix_ns};
use session::pool::{self, Demand, Limits};

use self::report::{RunResult, Terms};
use crate::prepare::Targets;
use crate::stop;
use crate::ui::live::Live;
use crate::ui::progress::Progress;

/// One run of a call.
pub enum Task {
    /// Completed by an earlier call.
    Complete(Box<RunDir>),
    /// Still to do.
    Open(Box<Job>, Box<Origin>),
}

/// Does every remaining run, and prints the outcome.
pub fn carry_out(terms: &Terms<'_>, tasks: &[Task], held: &Targets) -> anyhow::Result<u8> {
    let interrupted = stop::button()?;
    let progress = Progress::new(terms.quiet);
    let library = terms.library;
    let call = Call { library, held, interrupted: &interrupted, progress: &progress };
    let mut done: Vec<Option<RunResult>> = tasks.iter().map(complete).collect();
    let open = tasks.iter().enumerate().filter_map(|(index, task)| match task {
        Task::Complete(_) => None,
        Task::Open(job, origin) => Some((index, held.expect(&job.spec, job.demand), (job, origin))),
    });
    let open: Vec<_> = open.collect();
    let limits = Limits::new(terms.jobs);
    fill(&mut done, &open, limits, &interrupted, &progress, |(job, origin)| {
        one(&call, job, origin)
    });
    progress.finish();
    Ok(report::report(terms, done, interrupted.load(Ordering::Relaxed)))
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
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The library of their results.
    pub library: &'a Path,
    /// Their targets.
    pub held: &'a Targets,
    /// The stop button.
    pub interrupted: &'a AtomicBool,
    /// Their progress lines.
    pub progress: &'a Progress,
}

/// One run from opening to the finished directory.
pub fn one(call: &Call<'_>, job: &Job, origin: &Origin) -> RunResult {
    let Call { library, held, interrupted, progress } = *call;
    let typed = held.is_parallel().then(|| job.spec.to_string());
    let line = progress.line(&job.request.test, typed, job.spec.kind().is_simulated());
    let mut live = Live::new(library);
    let mut observer = |event: &Event| {
        line.event(event);
        live.event(event);
    };
    let control = Control { interrupted, observer: &mut observer, unix_ns };
    Ok(job.perform(origin, library, held, control)?)
}
