//! `ssdlab run --resume`: the rest of an earlier call, by its recorded request. Confirmations must
//! be typed again.
//!
//! Every run of a call contains the requests for all of them, so that any one leads to those that
//! ended early or never began. `run::session` decides which parts of a run remain valid.

use std::path::Path;
use std::slice;

use ::target::TargetSpec;
use result::schema::{Request, Run, RunStatus};
use result::store::{self, RunDir, resolve_run};
use run::RunError;

use crate::args::RunArgs;
use crate::args::resume::ResumeArgs;
use crate::cmd::plan;
use crate::cmd::run::{Job, Origin, Task, carry_out};
use crate::prepare::{self, Looked, Wish};
use crate::request::{self, Stored};
use crate::ui::out::talk;

pub fn run(args: &ResumeArgs) -> anyhow::Result<u8> {
    let dir = resolve_run(&args.library, &args.run)?;
    let named = RunDir::open(&dir)?;
    named.check()?;
    // A run without a parent is in the working directory.
    let library = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    let library = library.unwrap_or(Path::new(".")).to_owned();
    let recorded = recorded(&ResumeArgs { library, ..args.clone() }, &named)?;
    let Some(first) = recorded.first() else {
        return Err(RunError::Usage(format!("{} holds no request", dir.display())).into());
    };
    let (open, complete): (Vec<_>, Vec<_>) = recorded.iter().partition(|task| task.is_open());
    if !args.quiet && open.is_empty() {
        talk!("every run of this call is complete; there is nothing to continue");
    }
    let mut said = first.stored.args.clone();
    // A word for a target on which nothing is left to do is no stray one.
    said.drive.erase.retain(|word| is_named(&open, word) || !is_named(&complete, word));
    let looked = prepare::look(specs(&open), Wish::of(&said))?;
    tell_targets(&looked, &dir);
    let tasks = recorded.iter().map(|task| task.task(&said, &looked));
    let tasks = tasks.collect::<Result<Vec<_>, RunError>>()?;
    carry_out(&said, &tasks, &looked.hold()?)
}

/// A run of the continued call.
struct Recorded {
    stored: Stored,
    origin: Origin,
}

impl Recorded {
    fn is_open(&self) -> bool {
        let earlier = self.origin.earlier.as_ref();
        earlier.is_none_or(|dir| dir.run().status != RunStatus::Complete)
    }

    /// The task of the run; an error if the earlier run cannot be continued.
    fn task(&self, said: &RunArgs, looked: &Looked) -> Result<Task, RunError> {
        let (Stored { spec, span, .. }, origin) = (&self.stored, self.origin.clone());
        if let Some(earlier) = origin.earlier.clone().filter(|_| !self.is_open()) {
            return Ok(Task::Complete(Box::new(earlier)));
        }
        let described = looked.described(spec)?;
        let request =
            run::Request { resume: origin.earlier.clone(), ..plan::request(&said.test, *span) };
        let plan = run::session::plan(&request, &described.identity, &described.limits)?;
        run::session::check_continuation(&request, &plan, &described.identity)?;
        Ok(Task::Open(Job::new(spec.clone(), *span, &plan, described), Box::new(origin)))
    }
}

/// Every run of the call that contains `named`, with its last attempt.
fn recorded(call: &ResumeArgs, named: &RunDir) -> Result<Vec<Recorded>, RunError> {
    let Run { request: Some(own), invocation, left_out, .. } = named.run() else {
        return Err(no_request(named.run()));
    };
    let requests = invocation.as_ref().map_or(slice::from_ref(own), |call| &call.requests);
    let one = |request: &Request| {
        let stored = Stored::new(request, call)?;
        let earlier = newest(&call.library, named.run(), request)
            .or_else(|| (own == request).then(|| named.clone()));
        let (request, invocation) = (request.clone(), invocation.clone());
        let (left_out, about) = (left_out.clone(), named.run().about.clone());
        let origin = Origin { request, invocation, earlier, left_out, about };
        Ok(Recorded { stored, origin })
    };
    requests.iter().map(one).collect()
}

/// Another version of ssdlab, which may have other defaults, continues no run anyway.
fn no_request(run: &Run) -> RunError {
    RunError::Usage(format!(
        "{} cannot be continued: it is by {}, which stored no request; run it anew: {}",
        run.run_id, run.tool_version, run.command
    ))
}

/// The targets of these runs, each once.
fn specs(tasks: &[&Recorded]) -> Vec<TargetSpec> {
    let mut specs: Vec<TargetSpec> = Vec::new();
    for task in tasks {
        if !specs.contains(&task.stored.spec) {
            specs.push(task.stored.spec.clone());
        }
    }
    specs
}

fn is_named(tasks: &[&Recorded], word: &str) -> bool {
    tasks.iter().any(|task| io::open::is_named_by(&task.stored.spec, word))
}

/// Nobody typed these targets in this call, so they are printed even with `--quiet`.
fn tell_targets(looked: &Looked, dir: &Path) {
    for target in looked.targets() {
        if !target.spec.kind().is_simulated() {
            let (run_json, name) = (dir.join("run.json"), target.described.name());
            talk!("{} names the target: {name}", run_json.display());
        }
    }
}

/// The last run by this request in the call that contains `named`.
fn newest(library: &Path, named: &Run, request: &Request) -> Option<RunDir> {
    let call = named.invocation.as_ref()?;
    let entries = store::list(library).ok()?;
    let of_call = entries.into_iter().filter_map(|entry| entry.run.ok()).filter(|dir| {
        let run = dir.run();
        request::is_of(run, request)
            && run.invocation.as_ref().is_some_and(|other| other.id == call.id)
    });
    of_call.max_by_key(|dir| dir.run().started_unix_ns)
}
