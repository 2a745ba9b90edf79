//! The outcome of the runs of a call: summaries, figures of repetitions, expectations, exit code.

use std::path::{Path, PathBuf};

use result::compare::repeated::{RepeatedFigure, repeated};
use result::expectation::{Answer, Expectation};
use result::metrics::{Unit, find};
use result::schema::{Run, VerdictOutcome};
use result::store::RunDir;
use run::{Outcome, RunError};

use crate::args::Format;
use crate::failure::{EXIT_DONE, EXIT_INTERRUPTED, EXIT_IO, EXIT_VERDICT, Failure};
use crate::summary;
use crate::ui::out::{data, talk};
use crate::ui::table::{self, figure};

/// The outcome of a task.
pub type RunResult = Result<Outcome, anyhow::Error>;

/// The terms of a call with several runs: their place, their expectations, and its output.
pub struct Terms<'a> {
    /// Directory of run directories.
    pub library: &'a Path,
    /// Simulated drives at a time, or `None` for one on each processor.
    pub jobs: Option<u32>,
    /// Seed of its first run.
    pub seed: u64,
    /// Figures that every run must have.
    pub expected: &'a [Expectation],
    /// Whether it prints no progress and no messages.
    pub quiet: bool,
    /// Output on stdout.
    pub format: Format,
}

/// Everything about the runs of a call that a reader gets.
struct CallReport {
    outcomes: Vec<Outcome>,
    rescued: Vec<PathBuf>,
    failures: Vec<Failure>,
    /// The answers to the expectations: run directory, and answer.
    answers: Vec<(PathBuf, Answer)>,
}

/// Prints the outcome and returns the exit code: the first failure decides.
pub fn report(terms: &Terms<'_>, done: Vec<Option<RunResult>>, interrupted: bool) -> u8 {
    let report = CallReport::of(terms, done);
    report.failures.iter().for_each(|failure| talk!("error: {}", failure.message));
    match terms.format {
        Format::Json => data!("{}", report.document(terms)),
        Format::Text => report.print(terms),
    }
    let says_no = |run: &Run| {
        run.verdict.as_ref().is_some_and(|verdict| verdict.outcome == VerdictOutcome::Fail)
    };
    let code = exit_code(&report.failures, interrupted);
    let is_bad = report.outcomes.iter().any(|outcome| says_no(&outcome.run))
        || report.answers.iter().any(|(_, answer)| !answer.is_met);
    if code == EXIT_DONE && is_bad { EXIT_VERDICT } else { code }
}

/// The first failure decides.
pub fn exit_code(failures: &[Failure], interrupted: bool) -> u8 {
    match failures.first() {
        Some(failure) if failure.exit_code != EXIT_DONE => failure.exit_code,
        Some(_) => EXIT_IO,
        None if interrupted => EXIT_INTERRUPTED,
        None => EXIT_DONE,
    }
}

impl CallReport {
    fn of(terms: &Terms<'_>, done: Vec<Option<RunResult>>) -> Self {
        let (mut failures, mut outcomes) = (Vec::new(), Vec::new());
        let mut rescued: Vec<PathBuf> = Vec::new();
        for done in done.into_iter().flatten() {
            match done {
                Ok(mut outcome) => {
                    let failure = outcome.failure.take().map(anyhow::Error::from);
                    failures.extend(failure.map(|error| Failure::from_error(&error)));
                    outcomes.push(outcome);
                }
                Err(error) => {
                    rescued.extend(rescued_dir(&error));
                    failures.push(Failure::from_error(&error));
                }
            }
        }
        let of_run = |outcome: &Outcome| {
            let Outcome { dir, run, .. } = outcome;
            let expected = terms.expected.iter();
            expected.map(|expected| (dir.clone(), expected.answer(run))).collect::<Vec<_>>()
        };
        let answers = outcomes.iter().flat_map(of_run).collect();
        Self { outcomes, rescued, failures, answers }
    }

    fn dirs(&self) -> impl Iterator<Item = &PathBuf> {
        self.outcomes.iter().map(|outcome| &outcome.dir).chain(&self.rescued)
    }

    /// The repetitions of each target and span, as far as there are several.
    fn groups(&self) -> Vec<Vec<&Run>> {
        let key = |run: &Run| (run.target.spec.clone(), run.span.variant.clone());
        let mut groups: Vec<Vec<&Run>> = Vec::new();
        for run in self.outcomes.iter().map(|outcome| &outcome.run) {
            match groups.iter_mut().find(|group| key(group[0]) == key(run)) {
                Some(group) => group.push(run),
                None => groups.push(vec![run]),
            }
        }
        groups.retain(|group| group.len() > 1);
        groups
    }

    fn print(&self, terms: &Terms<'_>) {
        let groups = self.groups();
        if groups.is_empty() {
            for outcome in &self.outcomes {
                let iops = RunDir::open(&outcome.dir).and_then(|dir| summary::graphed_iops(&dir));
                summary::print_card(&outcome.run, &outcome.dir, &iops.unwrap_or_default());
            }
        }
        for group in &groups {
            print_group(group, terms.seed);
        }
        for (dir, answer) in &self.answers {
            let verdict = if answer.is_met { "met" } else { "NOT met" };
            let unit = find_unit(&answer.expectation);
            let value =
                answer.value.map_or_else(|| "no such figure".to_owned(), |v| figure(v, unit));
            data!("expected {}: {verdict}, {value} in {}", answer.expectation, dir.display());
            let is_reason = |mark: &&String| answer.obstacle.as_ref() == Some(mark);
            for mark in &answer.marks {
                let words = if is_reason(&mark) { "not judged: " } else { "" };
                data!("  {words}{mark}");
            }
        }
        self.dirs().for_each(|dir| data!("{}", dir.display()));
    }

    fn document(&self, terms: &Terms<'_>) -> serde_json::Value {
        let run = |Outcome { dir, run, .. }: &Outcome| {
            serde_json::json!({
                "run_dir": dir, "run_id": run.run_id, "test": run.test, "status": run.status,
                "target": run.target.spec, "simulated": run.target.is_simulated(),
                "resumed": run.resumed, "repeat": run.repeat,
                "variant": run.span.variant, "metrics": run.metrics, "marks": run.marks,
                "verdict": run.verdict,
                "warnings": run.warnings,
            })
        };
        let group = |group: &Vec<&Run>| {
            let first = group[0];
            serde_json::json!({
                "target": first.target.spec, "variant": first.span.variant, "runs": group.len(),
                "figures": repeated(group, terms.seed),
            })
        };
        let answer = |(dir, answer): &(PathBuf, Answer)| serde_json::json!({ "run_dir": dir, "answer": answer });
        serde_json::json!({
            "run_dirs": self.dirs().collect::<Vec<_>>(),
            "runs": self.outcomes.iter().map(run).collect::<Vec<_>>(),
            "repeated": self.groups().iter().map(group).collect::<Vec<_>>(),
            "expectations": self.answers.iter().map(answer).collect::<Vec<_>>(),
            "error": self.failures.first(), "errors": self.failures,
        })
    }
}

/// The directory to which a run went whose library failed, or `None` if it is not that error.
fn rescued_dir(error: &anyhow::Error) -> Option<PathBuf> {
    match error.downcast_ref()? {
        RunError::Rescued { rescued: dir, .. } | RunError::NotRescued { kept: dir, .. } => {
            Some(dir.clone())
        }
        _ => None,
    }
}

/// The unit of the metric at the beginning of an expectation.
fn find_unit(expectation: &str) -> Unit {
    let metric = expectation.split(['<', '>']).next().unwrap_or_default().trim();
    find(metric).map_or(Unit::Ratio, |metric| metric.unit)
}

/// Prints the figures of repeated runs.
fn print_group(runs: &[&Run], seed: u64) {
    let first = runs[0];
    let simulated = if first.target.is_simulated() { " (simulated)" } else { "" };
    let (name, variant) = (&first.target.name, &first.span.variant);
    data!("{name}{simulated}: {}, {variant}, {} runs", first.test, runs.len());
    let heading = ["  figure", "mean", "median", "95% interval of the mean"].map(str::to_owned);
    let figures = repeated(runs, seed);
    let row = |repeated: &RepeatedFigure| {
        let unit = find(&repeated.metric).map_or(Unit::Ratio, |metric| metric.unit);
        let interval = repeated.interval.as_ref().map_or_else(String::new, |interval| {
            format!("{} to {}", figure(interval.low, unit), figure(interval.high, unit))
        });
        let (mean, median) = (repeated.values.mean, repeated.values.median);
        vec![format!("  {}", repeated.metric), figure(mean, unit), figure(median, unit), interval]
    };
    let rows = figures.iter().map(row);
    table::print(&[heading.to_vec()].into_iter().chain(rows).collect::<Vec<_>>());
    for repeated in &figures {
        repeated.marks.iter().for_each(|mark| data!("    {}: {mark}", repeated.metric));
    }
}
