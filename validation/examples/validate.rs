//! Repeats measurements of others on the models and writes `docs/evidence/validation.md` and `drives/validation.csv`,
//! for `cargo xtask validate`. Fails if a figure beyond its bound has no reason.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool talks")]

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{env, fs, thread};

use anyhow::{Context, Result};
use base::Ratio;
use clap::Parser;
use validation::experiment::{Experiment, Fact, Figures, facts, predictions, reason, report};
use validation::store::Store;

/// Repeat measurements of real drives on their models.
#[derive(Parser)]
struct Args {
    /// Only drives whose name begins so; the page is not written then.
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
    /// Only quantities whose name has this in it, such as `under load`; the page is not written then.
    #[arg(long, value_name = "NAME", default_value = "")]
    quantity: String,
    /// Another value for a key of the models; the figures are not kept and the page is not written then.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = value)]
    values: Vec<(String, String)>,
    /// Size of the drives, as a share of full size.
    #[arg(long, default_value = "1/128")]
    scale: Ratio,
    /// Experiments at the same time; default: one for each processor.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Run nothing: use the figures of earlier calls.
    #[arg(long)]
    known: bool,
    /// Directory of the figures.
    #[arg(long, value_name = "DIR", default_value = "target/validation")]
    figures: PathBuf,
}

/// A key and its value.
fn value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("not KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

impl Args {
    /// Whether it asks for all figures of the models as they are.
    fn is_whole(&self) -> bool {
        self.only.is_empty() && self.quantity.is_empty() && self.values.is_empty()
    }
}

type FiguresOf = BTreeMap<Experiment, Result<Figures, String>>;

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let top = env::current_dir()?;
    let text =
        fs::read_to_string(top.join("drives/measured.csv")).context("drives/measured.csv")?;
    let mut all = facts(&text)?;
    all.extend(predictions());
    all.retain(|fact| fact.drive.starts_with(&args.only));
    all.retain(|fact| fact.quantity.name().contains(&args.quantity));
    let found = found(&all, &Store::new(args.figures.clone()), &args);
    let row = |fact: Fact| {
        let figures = found.get(&fact.experiment()).cloned();
        let figures = figures.unwrap_or_else(|| Err("not run".to_owned()));
        let simulated = figures.map(|figures| figures.get(&fact.figure()).copied());
        let simulated = simulated.and_then(|value| value.ok_or_else(|| "unknown".to_owned()));
        (fact, simulated)
    };
    let rows: Vec<report::Row> = all.into_iter().map(row).collect();
    rows.iter().for_each(|row| println!("{}", report::line(row)));
    let reasons = fs::read_to_string(top.join("drives/reasons/measured.toml"));
    let reasons = reason::reasons(&reasons.context("drives/reasons/measured.toml")?);
    let reasons = reasons.map_err(anyhow::Error::msg)?;
    if args.is_whole() {
        fs::write(
            top.join("docs/evidence/validation.md"),
            report::page(&rows, &reasons, args.scale),
        )?;
        fs::write(top.join("drives/validation.csv"), report::table(&rows))?;
    }
    let unexplained = report::without_reason(&rows, &reasons);
    unexplained.iter().for_each(|row| eprintln!("says no reason: {}", report::line(row)));
    Ok(if unexplained.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The figures of all experiments, with a line on stderr after each.
fn found(facts: &[Fact], store: &Store, args: &Args) -> FiguresOf {
    let mut experiments: Vec<_> = facts.iter().map(Fact::experiment).collect();
    experiments.sort();
    experiments.dedup();
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok().map(NonZero::get));
    let (next, found) = (AtomicUsize::new(0), Mutex::new(FiguresOf::new()));
    let work = || {
        while let Some(experiment) = experiments.get(next.fetch_add(1, Ordering::Relaxed)) {
            let figures = if args.values.is_empty() {
                store.figures(experiment, args.scale, !args.known)
            } else {
                experiment.run_with(&args.values, args.scale)
            };
            eprintln!("{experiment}");
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.insert(experiment.clone(), figures);
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.unwrap_or(1).max(1) {
            scope.spawn(work);
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}
