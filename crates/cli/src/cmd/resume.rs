//! `ssdlab run --resume`: what an earlier call left undone, done as it was told.
//!
//! Every run of a call carries the commands of all of them, so that any one leads to those that ended
//! early or never began. What of a run still stands is for `run::session` to say.

use std::path::Path;

use anyhow::Context;
use clap::Parser;
use io::TargetSpec;
use result::schema::{Run, RunStatus};
use result::store::{self, RunDir, resolve_run};
use run::RunError;

use crate::args::resume::{ResumeArgs, RunCommand};
use crate::args::{Args, Command, RunArgs};
use crate::cmd::run::{Job, Origin, carry_out};
use crate::ui::out::talk;

pub fn run(args: ResumeArgs) -> anyhow::Result<u8> {
    let dir = resolve_run(&args.library, &args.run)?;
    let named = RunDir::open(&dir)?;
    named.check()?;
    // A run without a parent is in the working directory.
    let library = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    let library = library.unwrap_or(Path::new(".")).to_owned();
    let invocation = named.run().invocation.clone();
    let commands = invocation
        .as_ref()
        .map_or_else(|| vec![named.run().command.clone()], |call| call.commands.clone());
    let mut first = None;
    let mut tasks = Vec::new();
    for command in commands {
        let said = said_at_first(&command)?;
        let job = job(&said)?;
        first.get_or_insert(said);
        let earlier = newest(&library, named.run(), &command)
            .or_else(|| (named.run().command == command).then(|| named.clone()));
        let left_out = named.run().left_out.clone();
        tasks.push((job, Origin { command, invocation: invocation.clone(), earlier, left_out }));
    }
    let Some(mut said) = first else {
        return Err(RunError::Usage(format!("{} names no command", dir.display())).into());
    };
    let is_complete = |origin: &Origin| {
        let earlier = origin.earlier.as_ref();
        earlier.is_some_and(|dir| dir.run().status == RunStatus::Complete)
    };
    if !args.quiet && tasks.iter().all(|(_, origin)| is_complete(origin)) {
        talk!("every run of this call is complete; there is nothing to continue");
    }
    said.test.common.library = library;
    said.test.common.format = args.format;
    said.drive.quiet = args.quiet;
    said.drive.erase = args.erase.or(said.drive.erase);
    said.drive.erase_signatures |= args.erase_signatures;
    carry_out(&said, &tasks)
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

/// The one job of a recorded command.
fn job(said: &RunArgs) -> anyhow::Result<Job> {
    let target = said.test.targets.first().context("the command names no target")?;
    let span = said.test.spans().first().copied().unwrap_or(run::SpanRequest::Default);
    Ok(Job { spec: target.parse::<TargetSpec>()?, span })
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
