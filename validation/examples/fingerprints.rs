//! Runs the fingerprints of `drives/fingerprints/` and writes `docs/evidence/drives.md`, for
//! `cargo xtask fingerprints`. Fails if a claim does not hold and its file does not say why.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool talks")]

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, thread};

use anyhow::{Context, Result};
use clap::Parser;
use rustix::time::{ClockId, clock_gettime};
use validation::cell::Cell;
use validation::claim::{Fingerprint, Theme};
use validation::page::{self, Row};
use validation::rated;
use validation::record::{self, FigureRecord};
use validation::store::{Runs, Store};
use validation::verdict::{Verdict, judge_or_recall, note};

/// Run published claims on the simulated drives.
#[derive(Parser)]
struct Args {
    /// Only fingerprints whose id begins so; the page is not written then.
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Run all at full size, for a comparison with the scales of the claims; nothing is written then.
    #[arg(long, requires = "only")]
    full_size: bool,
    /// Runs at the same time; default: one for each processor.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Run no claim: judge by the runs of earlier calls, and by the record of earlier versions where there is none.
    #[arg(long)]
    known: bool,
    /// Directory of the runs.
    #[arg(long, value_name = "DIR", default_value = "target/fingerprints")]
    runs: PathBuf,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let top = env::current_dir()?;
    let mut themes = Theme::read_all(&top.join("drives/fingerprints"))?;
    let reasons = fs::read_to_string(top.join(rated::REASONS)).context(rated::REASONS)?;
    themes.push(rated::theme(&reasons).map_err(anyhow::Error::msg)?);
    let store = Store::new(args.runs.clone());
    let is_wanted = |fingerprint: &Fingerprint| {
        args.only.is_empty() || args.only.iter().any(|only| fingerprint.id.starts_with(only))
    };
    if args.full_size {
        let all = themes.iter_mut().flat_map(|theme| &mut theme.fingerprints);
        all.flat_map(|one| one.figures.values_mut()).for_each(|found| found.cell.scale = None);
    }
    let wanted: Vec<&Fingerprint> =
        themes.iter().flat_map(|theme| &theme.fingerprints).filter(|one| is_wanted(one)).collect();
    let cells = wanted.iter().flat_map(|one| one.figures.values().map(|found| found.cell.clone()));
    let runs = run_all(&store, &args, cells.collect());
    let mut record = FigureRecord::read(&read_or_empty(&top.join(record::FILE))?)?;
    let version = version();
    wanted.iter().for_each(|one| note(one, &runs, &mut record, &version));
    let row = |fingerprint| (fingerprint, judge_or_recall(fingerprint, &runs, &record));
    let themes = themes.iter().map(|theme| {
        let wanted = theme.fingerprints.iter().filter(|one| is_wanted(one));
        (theme, wanted.map(row).collect())
    });
    let themes: Vec<(&Theme, Vec<Row<'_>>)> = themes.collect();
    if args.only.is_empty() {
        fs::write(top.join("docs/evidence/drives.md"), page::page(&themes))
            .context("docs/evidence/drives.md")?;
        let is_in_use = |claim: &str, figure: &str| {
            wanted.iter().any(|one| one.id == claim && one.figures.contains_key(figure))
        };
        record.retain(is_in_use);
    }
    if !args.full_size {
        write(&top.join(record::FILE), &record.text())?;
    }
    let unexplained: usize = themes.iter().flat_map(|(_, rows)| rows).map(show).sum();
    Ok(if unexplained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The text of a file; empty if there is none.
fn read_or_empty(file: &Path) -> Result<String> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        text => text.with_context(|| file.display().to_string()),
    }
}

/// Writes a text in a file, unless it is there: drives/ is a part of the build, and another age would repeat it.
fn write(file: &Path, text: &str) -> Result<()> {
    if read_or_empty(file)? == text {
        return Ok(());
    }
    fs::write(file, text).with_context(|| file.display().to_string())
}

/// The version of the simulator: the object of its directory in git, which a rebase leaves as it is, and whether
/// something was changed since.
fn version() -> String {
    let git = |args: &[&str]| {
        let output =
            Command::new("git").args(args).output().ok().filter(|run| run.status.success());
        output.map(|run| String::from_utf8_lossy(&run.stdout).trim().to_owned())
    };
    let Some(tree) = git(&["rev-parse", "--short=8", "HEAD:crates/sim/src"]) else {
        return format!("{} of unknown commit", env!("CARGO_PKG_VERSION"));
    };
    let changed = git(&["status", "--porcelain", "--", "crates/sim/src"]);
    let is_clean = changed.is_some_and(|changed| changed.is_empty());
    if is_clean { tree } else { format!("{tree} with changes") }
}

/// Runs at the same time.
fn jobs(args: &Args) -> usize {
    let processors = || thread::available_parallelism().map_or(1, NonZero::get);
    args.jobs.unwrap_or_else(processors)
}

/// Processor time of this program so far, in s.
fn processor_s() -> i64 {
    clock_gettime(ClockId::ProcessCPUTime).tv_sec
}

/// The runs of these cells, with a line on stderr after each.
fn run_all(store: &Store, args: &Args, mut cells: Vec<Cell>) -> Runs {
    cells.sort();
    cells.dedup();
    if args.known {
        let find = |cell: &Cell| match store.find(cell) {
            Some(run) => Ok(run),
            None if sim::model::built_in(&cell.drive).is_none() => Err("no model".to_owned()),
            None => Err("not run".to_owned()),
        };
        return cells.into_iter().map(|cell| (cell.clone(), find(&cell))).collect();
    }
    let (done, all) = (AtomicUsize::new(0), cells.len());
    store.run_all(&cells, jobs(args), &|cell, run| {
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        let fault = run.as_ref().err().map(|reason| format!(": {reason}")).unwrap_or_default();
        eprintln!("[{count}/{all}] {} s in all: {cell}{fault}", processor_s());
    })
}

/// Prints a verdict; the number of faults in it.
fn show((fingerprint, judged): &Row<'_>) -> usize {
    let Fingerprint { id, claim, missing, .. } = fingerprint;
    println!("{id}: {}\n  {claim}\n  {}", judged.verdict, page::figures(&judged.values));
    judged.failed.iter().for_each(|failed| println!("  not {failed}"));
    let is_failure = match judged.verdict {
        Verdict::NotTested(_) => return 0,
        Verdict::Holds | Verdict::Stale { held: true } => false,
        Verdict::DoesNotHold | Verdict::Stale { held: false } => true,
    };
    if is_failure != missing.is_some() {
        let fault = if is_failure { "says no reason" } else { "says a reason for a failure" };
        println!("  its file {fault}");
        return 1;
    }
    0
}
