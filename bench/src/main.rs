//! Measurements of ssdlab, alone and against other programs, for `cargo xtask bench`. Stdout is one JSON document.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool talks")]

mod engine;
mod expose;
mod figures;
mod guest;
mod ios;
mod page;
mod recipes;
mod scratch;
mod sim;
mod trace;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use xtask::log::Log;
use xtask::proc;
use xtask::workspace::Workspace;

/// Measurements of ssdlab.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench")]
struct Call {
    #[command(subcommand)]
    bench: Bench,
}

/// The subject of a bench.
#[derive(Subcommand)]
enum Bench {
    /// The I/O engine against fio: the same file, the same settings, in turns
    Engine(engine::EngineArgs),
    /// Shipped models as `ssdlab run` carries them out: processor time; instructions beside a baseline
    Sim(sim::SimArgs),
    /// Simulated drives of 30 and 60 TB: speed and memory.
    Large(LengthArgs),
    /// Commands of each pattern: time to draw one.
    Load(LengthArgs),
    /// An exposed drive beside the memory plugin of nbdkit and the kernel's NVMe target; lateness of its answers on the real clock
    Expose(expose::ExposeArgs),
    /// File systems and databases on exposed drives, and a power cut during each; needs root
    Recipes(recipes::RecipesArgs),
    /// Traces: synthesis, import and replay; memory and lateness of a replay
    Trace(trace::TraceArgs),
    /// Rows of single commands: rows a second of the writer, and the price for a run
    Ios(trace::TraceArgs),
    /// The page and the Bench in a browser: size, first screen, every kind of button
    Page(page::PageArgs),
}

/// Length of a bench.
#[derive(Args)]
struct LengthArgs {
    /// A short run: a check that the bench works
    #[arg(long)]
    quick: bool,
}

fn main() -> Result<()> {
    let workspace = &Workspace::find()?;
    let document = match &Call::parse().bench {
        Bench::Engine(args) => engine::run(workspace, args)?,
        Bench::Sim(args) => sim::run(workspace, args)?,
        Bench::Large(args) => example(workspace, "bench_large", args.quick)?,
        Bench::Load(args) => example(workspace, "bench_load", args.quick)?,
        Bench::Expose(args) => expose::run(workspace, args)?,
        Bench::Recipes(args) => recipes::run(workspace, args)?,
        Bench::Trace(args) => trace::run(workspace, args)?,
        Bench::Ios(args) => ios::run(workspace, args)?,
        Bench::Page(args) => page::run(workspace, args)?,
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
    proc::stream(Log::stderr("bench"), &mut workspace.build_release()?)?;
    Ok(workspace.released_ssdlab())
}

/// Runs an example that measures a library.
fn example(workspace: &Workspace, name: &str, quick: bool) -> Result<String> {
    let mut command = workspace.cargo([
        "run",
        "--quiet",
        "--release",
        "--package",
        "ssdlab-bench",
        "--example",
        name,
    ]);
    if quick {
        command.args(["--", "--quick"]);
    }
    proc::capture(&mut command)
}
