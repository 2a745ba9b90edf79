//! The verb `bench`: measurements of ssdlab, alone and against other programs. Stdout is one JSON
//! document.

mod engine;
mod expose;
mod ios;
mod page;
mod recipes;
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
    /// Simulated drives of 30 and 60 TB: speed and memory.
    Large(SimArgs),
    /// Commands of each pattern: time to draw one.
    Load(SimArgs),
    /// An exposed drive beside the memory plugin of nbdkit; lateness of its answers on the real clock
    Expose(expose::ExposeArgs),
    /// File systems and databases on exposed drives, and a power cut during each; needs root
    Recipes(recipes::RecipesArgs),
    /// Traces: synthesis, import and replay; memory and lateness of a replay
    Trace(trace::TraceArgs),
    /// Rows of single commands: rows a second of the writer, and the price for a run
    Ios(ios::IosArgs),
    /// The page and the Bench in a browser: size, first screen, every kind of button
    Page(page::PageArgs),
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
        BenchVerb::Sim(args) => example(workspace, "bench_sim", args)?,
        BenchVerb::Large(args) => example(workspace, "bench_large", args)?,
        BenchVerb::Load(args) => example(workspace, "bench_load", args)?,
        BenchVerb::Expose(args) => expose::run(workspace, args)?,
        BenchVerb::Recipes(args) => recipes::run(workspace, args)?,
        BenchVerb::Trace(args) => trace::run(workspace, args)?,
        BenchVerb::Ios(args) => ios::run(workspace, args)?,
        BenchVerb::Page(args) => page::run(workspace, args)?,
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
    Ok(workspace.released_ssdlab())
}

/// Runs an example that measures a library.
fn example(workspace: &Workspace, name: &str, args: &SimArgs) -> Result<String> {
    let mut command = workspace.cargo(["run", "--quiet", "--release", "--example", name]);
    if args.quick {
        command.args(["--", "--quick"]);
    }
    proc::capture(&mut command)
}
