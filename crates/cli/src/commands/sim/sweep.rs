//! `ssdlab sim sweep`: many simulated runs as one table.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::Args as ClapArgs;
use device::host::small_file;
use run::RunError;
use session::pool::Limits;
use study::sweep::{self, Book, Spec};

use crate::args::heading;
use crate::args::{Format, JobsArg};
use crate::failure::{EXIT_DONE, EXIT_INTERRUPTED, EXIT_VERDICT};
use crate::stop;
use crate::ui::out::{data, talk};
use crate::ui::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  ssdlab sim sweep spare.toml --plan
  ssdlab sim sweep spare.toml -o spare --jobs 4
  ssdlab sim sweep spare.toml -o spare --quiet --format json

docs/reference/sweep.md describes the file";

/// Arguments of `sim sweep`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct SweepArgs {
    /// Description of the sweep, a TOML file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Directory of its outcomes; a sweep that is there goes on
    #[arg(long, short, value_name = "DIR", default_value = "sweep", help_heading = heading::OUTPUT)]
    pub output: PathBuf,
    /// Only print the number of runs; simulates nothing
    #[arg(long, help_heading = heading::OUTPUT)]
    pub plan: bool,
    #[command(flatten)]
    pub jobs: JobsArg,
    /// No progress and no messages
    #[arg(long, help_heading = heading::OUTPUT)]
    pub quiet: bool,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

pub fn run(args: &SweepArgs) -> anyhow::Result<u8> {
    let text = small_file::read(&args.file).map_err(|error| {
        RunError::Usage(format!("sweep `{}` cannot be read: {error}", args.file.display()))
    })?;
    if args.plan {
        let spec = Spec::parse(&text)?;
        sweep::demands(&spec.tasks()?)?;
        print_plan(args, spec.runs_count()?);
        return Ok(EXIT_DONE);
    }
    let interrupted = stop::button()?;
    let book = Mutex::new(Book::open(&args.output, &text)?);
    carry_out(args, &book, &interrupted)?;
    let book = book.into_inner().unwrap_or_else(PoisonError::into_inner);
    report(args, &book, interrupted.load(Ordering::Relaxed))
}

fn print_plan(args: &SweepArgs, runs: u64) {
    match args.format {
        Format::Text => data!("{runs} runs"),
        Format::Json => data!("{}", serde_json::json!({ "runs": runs, "error": null })),
    }
}

/// Every task without an outcome, one round after the other.
fn carry_out(args: &SweepArgs, book: &Mutex<Book>, stop: &AtomicBool) -> anyhow::Result<()> {
    while !stop.load(Ordering::Relaxed) {
        let round = sweep::round(book)?;
        if round.is_empty() {
            break;
        }
        let demands = sweep::demands(&round)?;
        let progress = Progress::new(args.quiet);
        let tally = progress.tally(&demands);
        let limits = Limits::new(args.jobs.jobs);
        let done = sweep::carry_out(&round, &demands, limits, stop, book, |demand, _| {
            tally.ended(demand);
        });
        drop(tally);
        progress.finish();
        done?;
    }
    Ok(())
}

/// The table of the outcomes, and the exit code.
fn report(args: &SweepArgs, book: &Book, interrupted: bool) -> anyhow::Result<u8> {
    let (pending, dataset) = (book.len() - book.outcomes().count(), book.write()?);
    let failed: Vec<_> = book.outcomes().filter_map(|outcome| outcome.error.as_ref()).collect();
    match args.format {
        Format::Json => data!(
            "{}",
            serde_json::json!({
                "dataset": dataset, "runs": book.len(), "pending": pending, "failed": failed.len(),
                "error": null,
            })
        ),
        Format::Text => data!("{}", dataset.display()),
    }
    if !args.quiet {
        let ended = book.len() - pending;
        talk!("{ended} of {} runs, {} of them failed", book.len(), failed.len());
        failed.first().iter().for_each(|first| talk!("the first failure: {first}"));
    }
    Ok(match (interrupted, failed.is_empty()) {
        (true, _) => EXIT_INTERRUPTED,
        (false, true) => EXIT_DONE,
        (false, false) => EXIT_VERDICT,
    })
}
