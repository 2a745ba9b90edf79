//! Repeats measurements of others on the models and writes `docs/validation.md`, for
//! `cargo xtask validate`.
#![allow(clippy::print_stdout, reason = "a developer tool talks")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use base::Ratio;
use clap::Parser;
use reality::validation::{Fact, facts, predictions, report};

/// Repeat measurements of real drives on their models.
#[derive(Parser)]
struct Args {
    /// Only drives whose name begins so; the page is not written then.
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
    /// Size of the drives, as a share of full size.
    #[arg(long, default_value = "1/64")]
    scale: Ratio,
    /// Drives at the same time; default: one for each processor.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let top = env::current_dir()?;
    let file = top.join("drives/measured.csv");
    let text = fs::read_to_string(&file).context("drives/measured.csv")?;
    let mut all = facts(&text)?;
    all.extend(predictions());
    all.retain(|fact| fact.drive.starts_with(&args.only));
    let rows = simulated(&all, &args);
    if args.only.is_empty() {
        fs::write(top.join("docs/validation.md"), report::page(&rows, args.scale))?;
    }
    Ok(())
}

/// The figures of the models, in the order of the facts; prints each as it comes.
fn simulated(facts: &[Fact], args: &Args) -> Vec<report::Row> {
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok().map(NonZero::get));
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(fact) = facts.get(index) else { break };
            let row = (fact.clone(), fact.simulated(args.scale));
            println!("{}", report::line(&row));
            found.lock().unwrap_or_else(PoisonError::into_inner).insert(index, row);
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.unwrap_or(1).max(1) {
            scope.spawn(work);
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}
