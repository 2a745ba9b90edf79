//! The verb `bench`: measurements of ssdlab, alone and against other programs. Stdout is one JSON
//! document.

mod engine;
mod scratch;
mod trace;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use crate::log::Log;
use crate::proc;
use crate::workspace::Workspace;

/// The subject of a bench.
#[derive(Subcommand)]
pub(crate) enum BenchVerb {
    /// The I/O engine against fio: the same file, the same settings, in turns
    Engine(engine::EngineArgs),
    /// Simulated commands per second.
    Sim(SimArgs),
    /// Traces: synthesis, import and replay; memory and lateness of a replay
    Trace(trace::TraceArgs),
}

/// Length of a bench.
#[derive(Args)]
pub(crate) struct SimArgs {
    /// A short run: a check that the bench works
    #[arg(long)]
    quick: bool,
}

/// Runs one bench.
pub(crate) fn run(workspace: &Workspace, verb: &BenchVerb) -> Result<()> {
    let document = match verb {
        BenchVerb::Engine(args) => engine::run(workspace, args)?,
        BenchVerb::Sim(args) => simulator(workspace, args)?,
        BenchVerb::Trace(args) => trace::run(workspace, args)?,
    };
    println!("{}", document.trim_end());
    Ok(())
}

/// The program to measure: the given one, by an absolute path, or else a release build of this
/// checkout.
fn program(workspace: &Workspace, given: Option<&Path>) -> Result<PathBuf> {
    if let Some(program) = given {
        return program.canonicalize().with_context(|| format!("{}", program.display()));
    }
    proc::stream(Log::stderr("bench"), &mut workspace.build_release())?;
    Ok(workspace.ssdlab())
}

fn simulator(workspace: &Workspace, args: &SimArgs) -> Result<String> {
    let mut command = workspace.cargo(["run", "--quiet", "--release", "--example", "bench_sim"]);
    if args.quick {
        command.args(["--", "--quick"]);
    }
    proc::capture(&mut command)
}
