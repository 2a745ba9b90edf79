//! `ssdlab run --resume`: what an earlier call left undone, done as it was told; but what may be erased is
//! typed anew.
//!
//! Every run of a call carries the commands of all of them, so that any one leads to those that ended
//! early or never began. What of a run still stands is for `run::session` to say.

use std::path::Path;

use ::target::TargetSpec;
use anyhow::Context;
use clap::Parser;
use result::schema::{Run, RunStatus};
use result::store::{self, RunDir, resolve_run};
use run::{Request, RunError, SpanRequest};

use crate::args::resume::{ResumeArgs, RunCommand};
use crate::args::{Args, Command, RunArgs};
use crate::cmd::plan;
use crate::cmd::run::{Job, Origin, Task, carry_out};
use crate::prepare::{self, Looked, Wish};
use crate::target;
use crate::ui::out::talk;

pub fn run(args: &ResumeArgs) -> anyhow::Result<u8> {
    let dir = resolve_run(&args.library, &args.run)?;
    let named = RunDir::open(&dir)?;
    named.check()?;
    // A run without a parent is in the working directory.
    let library = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    let library = library.unwrap_or(Path::new(".")).to_owned();
    let recorded = recorded(&library, &named)?;
    let Some(first) = recorded.first() else {
        return Err(RunError::Usage(format!("{} names no command", dir.display())).into());
    };
    let (open, complete): (Vec<_>, Vec<_>) = recorded.iter().partition(|task| task.is_open());
    if !args.quiet && open.is_empty() {
        talk!("every run of this call is complete; there is nothing to continue");
    }
    let mut said = first.said.clone();
    said.test.common.library = library;
    said.test.common.format = args.format;
    said.drive.quiet = args.quiet;
    // Whoever continues says anew what may be erased: the record may be of another drive, or changed.
    said.drive.erase = args.erase.clone();
    said.drive.erase.retain(|word| is_named(&open, word) || !is_named(&complete, word));
    said.drive.erase_signatures = args.erase_signatures;
    let looked = prepare::look(specs(&open), Wish::of(&said))?;
    tell_targets(&looked, &dir);
    let tasks = recorded.iter().map(|task| task.task(&said, &looked));
    let tasks = tasks.collect::<Result<Vec<_>, RunError>>()?;
    carry_out(&said, &tasks, &looked.hold()?)
}

/// A run of the call that is continued.
struct Recorded {
    /// Its arguments.
    said: Box<RunArgs>,
    spec: TargetSpec,
    span: SpanRequest,
    origin: Origin,
}

impl Recorded {
    fn is_open(&self) -> bool {
        let earlier = self.origin.earlier.as_ref();
        earlier.is_none_or(|dir| dir.run().status != RunStatus::Complete)
    }

    /// The task of the run; an error if the earlier run cannot be continued.
    fn task(&self, said: &RunArgs, looked: &Looked) -> Result<Task, RunError> {
        let (spec, origin) = (self.spec.clone(), self.origin.clone());
        if let Some(earlier) = origin.earlier.clone().filter(|_| !self.is_open()) {
            return Ok(Task::Complete(earlier));
        }
        let described = looked.described(&self.spec)?;
        let request =
            Request { resume: origin.earlier.clone(), ..plan::request(&said.test, self.span) };
        let plan = run::session::plan(&request, &described.identity, &described.limits)?;
        run::session::check_continuation(&request, &plan, &described.identity)?;
        Ok(Task::Open(Job::new(spec, self.span, &plan), origin))
    }
}

/// Every run of the call that `named` is part of, with the last attempt at it.
fn recorded(library: &Path, named: &RunDir) -> anyhow::Result<Vec<Recorded>> {
    let invocation = named.run().invocation.clone();
    let own = vec![named.run().command.clone()];
    let commands = invocation.as_ref().map_or(own, |call| call.commands.clone());
    let one = |command: String| -> anyhow::Result<Recorded> {
        let said = said_at_first(&command)?;
        let target = said.test.targets.first().context("the command names no target")?;
        let spec = target.parse::<TargetSpec>()?;
        let span = said.test.spans().first().copied().unwrap_or(SpanRequest::Default);
        let earlier = newest(library, named.run(), &command)
            .or_else(|| (named.run().command == command).then(|| named.clone()));
        let left_out = named.run().left_out.clone();
        let origin = Origin { command, invocation: invocation.clone(), earlier, left_out };
        Ok(Recorded { said, spec, span, origin })
    };
    commands.into_iter().map(one).collect()
}

/// The targets of these runs, each once.
fn specs(tasks: &[&Recorded]) -> Vec<TargetSpec> {
    let mut specs: Vec<TargetSpec> = Vec::new();
    for task in tasks {
        if !specs.contains(&task.spec) {
            specs.push(task.spec.clone());
        }
    }
    specs
}

fn is_named(tasks: &[&Recorded], word: &str) -> bool {
    tasks.iter().any(|task| io::open::is_named_by(&task.spec, word))
}

/// Nobody typed these targets in this call, so that everybody must see them, even who wants no talk.
fn tell_targets(looked: &Looked, dir: &Path) {
    for target in looked.targets() {
        if !target::is_simulated(&target.spec) {
            let (run_json, name) = (dir.join("run.json"), target.described.name());
            talk!("{} names the target: {name}", run_json.display());
        }
    }
}

/// The arguments of a recorded command.
fn said_at_first(command: &str) -> anyhow::Result<Box<RunArgs>> {
    let unusable = |why: String| {
        let message =
            format!("the run says that `{command}` repeats it, which cannot be used: {why}");
        anyhow::Error::from(RunError::Usage(message))
    };
    let words = shlex::split(command).ok_or_else(|| unusable("a quote is missing".to_owned()))?;
    match Args::try_parse_from(words).map_err(|error| unusable(error.to_string()))?.command {
        Command::Run(RunCommand::New(args)) => Ok(args),
        _ => Err(unusable("it is no `ssdlab run TEST TARGET`".to_owned())),
    }
}

/// The last run of this command in the call that `named` is part of.
fn newest(library: &Path, named: &Run, command: &str) -> Option<RunDir> {
    let call = named.invocation.as_ref()?;
    let entries = store::list(library).ok()?;
    let of_call = entries.into_iter().filter_map(|entry| entry.run.ok()).filter(|dir| {
        let run = dir.run();
        run.command == command && run.invocation.as_ref().is_some_and(|other| other.id == call.id)
    });
    of_call.max_by_key(|dir| dir.run().started_unix_ns)
}
