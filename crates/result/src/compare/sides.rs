//! The runs of the two sides, put side by side by test.

use std::collections::BTreeSet;

use serde::Serialize;

use super::across::Across;
use super::conditions::{drive, span_words};
use crate::schema::{Run, RunStatus};

/// Runs that a message names one by one.
const NAMED_MAX: usize = 3;

/// The runs of one side.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// Names of their drives, each once.
    pub drives: Vec<String>,
    /// Names of the run directories.
    pub run_ids: Vec<String>,
    /// Whether all of them are simulated.
    pub simulated: bool,
    /// The used parts of their drives in words, each once.
    pub spans: Vec<String>,
}

impl Group {
    pub(super) fn of(runs: &[&Run]) -> Self {
        let each_once = |word: fn(&Run) -> String| {
            let words: BTreeSet<String> = runs.iter().map(|run| word(run)).collect();
            words.into_iter().collect()
        };
        Self {
            drives: each_once(|run| run.target.name.clone()),
            run_ids: runs.iter().map(|run| run.run_id.clone()).collect(),
            simulated: runs.iter().all(|run| run.target.is_simulated()),
            spans: each_once(span_words),
        }
    }
}

/// A run that is in no comparison.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct LeftOut {
    /// Its side: `A` or `B`.
    pub side: &'static str,
    /// Name of the run directory.
    pub run_id: String,
    /// The reason in words.
    pub reason: String,
}

/// Reason why two groups cannot be compared.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum NothingInCommon {
    /// A side has no complete run.
    #[error("{}", incomplete(sides))]
    Incomplete {
        /// The sides without a complete run, each with name and status of its runs.
        sides: Vec<(&'static str, Vec<(String, RunStatus)>)>,
    },
    /// No test has complete runs on both sides.
    #[error("A has complete runs of {}, and B of {}; compare runs of one test", a.join(", "), b.join(", "))]
    Tests {
        /// Tests of A.
        a: Vec<String>,
        /// Tests of B.
        b: Vec<String>,
    },
    /// Both sides ran one test on different parts of the drives.
    #[error(
        "A and B have runs of one test on different parts of the drive: A {}, and B {}; \
         `--across {}` compares them",
        a.join(", "), b.join(", "), across.name()
    )]
    Spans {
        /// Tests and spans of A.
        a: Vec<String>,
        /// Tests and spans of B.
        b: Vec<String>,
        /// The condition in which they differ.
        across: Across,
    },
    /// Both sides have several targets, and none in common.
    #[error(
        "A and B have several targets each and none in common: A {}, and B {}; name the runs of one \
         target on a side",
        a.join(", "), b.join(", ")
    )]
    Targets {
        /// Targets of A.
        a: Vec<String>,
        /// Targets of B.
        b: Vec<String>,
    },
    /// The groups do not differ as the question says.
    #[error("`--across {}` compares runs that differ in {} alone: {reason}", across.name(), across.words())]
    Across {
        /// The condition of the question.
        across: Across,
        /// The fault in words.
        reason: String,
    },
    /// No figure is in all runs.
    #[error(
        "{}; `ssdlab show RUN --format json` has the figures of a run, and docs/reference/metrics.md all of them",
        no_figures(metrics, near)
    )]
    Figures {
        /// The figures that were asked for.
        metrics: Vec<String>,
        /// Figures of the runs with similar names.
        near: Vec<String>,
    },
}

fn no_figures(metrics: &[String], near: &[String]) -> String {
    if metrics.is_empty() {
        return "no figure is in all runs of both sides".to_owned();
    }
    let asked = format!("not all runs of both sides have `--metric {}`", metrics.join(" "));
    if near.is_empty() { asked } else { format!("{asked}; near: {}", near.join(", ")) }
}

fn incomplete(sides: &[(&'static str, Vec<(String, RunStatus)>)]) -> String {
    let side = |(side, runs): &(&str, Vec<(String, RunStatus)>)| {
        let told = runs.iter().take(NAMED_MAX);
        let mut told: Vec<_> =
            told.map(|(run, status)| format!("{run} {}", status_words(*status))).collect();
        if runs.len() > NAMED_MAX {
            told.push(format!("and {} more", runs.len() - NAMED_MAX));
        }
        match told.is_empty() {
            true => format!("{side} names no run"),
            false => format!("{side} has no complete run: {}", told.join(", ")),
        }
    };
    let told = sides.iter().map(side).collect::<Vec<_>>().join("; ");
    format!("{told}; only complete runs are compared, and `ssdlab run --resume RUN` completes one")
}

/// The status of an incomplete run as the end of a sentence.
fn status_words(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "is still running",
        RunStatus::Complete => "is complete",
        RunStatus::Interrupted => "was interrupted",
        RunStatus::Failed => "failed",
    }
}

/// The runs of a test on the two sides.
pub(super) type Pair<'a> = (Vec<&'a Run>, Vec<&'a Run>);

/// Test, span and target of a run, as far as they must be the same on both sides.
type Key = (String, String, String);

/// The complete runs of A and B, by test and span in the order of A; by target, too, if both sides
/// have several.
pub(super) fn pairs<'a>(
    a: &[&'a Run],
    b: &[&'a Run],
    across: Option<Across>,
) -> Result<Vec<Pair<'a>>, NothingInCommon> {
    let (whole_a, whole_b) = (complete(a), complete(b));
    if whole_a.is_empty() || whole_b.is_empty() {
        let sides = [("A", a, whole_a.is_empty()), ("B", b, whole_b.is_empty())].into_iter();
        let status = |run: &&Run| (run.run_id.clone(), run.status);
        let sides = sides.filter(|(.., is_empty)| *is_empty);
        let sides = sides.map(|(side, runs, _)| (side, runs.iter().map(status).collect()));
        return Err(NothingInCommon::Incomplete { sides: sides.collect() });
    }
    let key = key(&whole_a, &whole_b, across);
    let of = |runs: &[&'a Run], wanted: &Key| -> Vec<&'a Run> {
        runs.iter().copied().filter(|run| key(run) == *wanted).collect()
    };
    let mut keys: Vec<Key> = Vec::new();
    for wanted in whole_a.iter().map(|run| key(run)) {
        if !keys.contains(&wanted) && whole_b.iter().any(|run| key(run) == wanted) {
            keys.push(wanted);
        }
    }
    let pairs: Vec<_> = keys.iter().map(|key| (of(&whole_a, key), of(&whole_b, key))).collect();
    if pairs.is_empty() { Err(nothing_in_common(&whole_a, &whole_b)) } else { Ok(pairs) }
}

/// The runs that are in none of the comparisons, with the reason.
pub(super) fn left_out(a: &[&Run], b: &[&Run], across: Option<Across>) -> Vec<LeftOut> {
    let (whole_a, whole_b) = (complete(a), complete(b));
    let key = key(&whole_a, &whole_b, across);
    let reason = |run: &Run, others: &[&Run]| {
        if run.status != RunStatus::Complete {
            return Some(status_words(run.status).to_owned());
        }
        let has_partner = others.iter().any(|other| key(other) == key(run));
        let what = format!("{} ({})", run.test, span_words(run));
        (!has_partner).then(|| format!("has no counterpart on the other side: {what}"))
    };
    let of_side = |side, runs: &[&Run], others: &[&Run]| -> Vec<LeftOut> {
        let found = runs.iter().filter_map(|run| Some((run, reason(run, others)?)));
        found.map(|(run, reason)| LeftOut { side, run_id: run.run_id.clone(), reason }).collect()
    };
    [of_side("A", a, &whole_b), of_side("B", b, &whole_a)].concat()
}

/// The parts of runs that must be the same for a comparison.
fn key(a: &[&Run], b: &[&Run], across: Option<Across>) -> impl Fn(&Run) -> Key {
    let subject = move |run: &Run| match across {
        Some(Across::Drive) => String::new(),
        Some(Across::Firmware | Across::Host) => {
            let (drive, values) = drive(run);
            format!("{drive} {values}")
        }
        Some(Across::Spare | Across::Span) | None => run.target.spec.clone(),
    };
    let subjects = |runs: &[&Run]| runs.iter().map(|run| subject(run)).collect::<BTreeSet<_>>();
    let is_by_target = subjects(a).len() > 1 && subjects(b).len() > 1;
    let is_of_spans = across.is_some_and(Across::is_of_spans);
    move |run| {
        let span = if is_of_spans { String::new() } else { run.span.variant.clone() };
        let target = if is_by_target { subject(run) } else { String::new() };
        (run.test.clone(), span, target)
    }
}

/// The first obstacle: tests, then spans, then targets.
fn nothing_in_common(a: &[&Run], b: &[&Run]) -> NothingInCommon {
    let each_once = |runs: &[&Run], words: fn(&Run) -> String| -> Vec<String> {
        let all: BTreeSet<String> = runs.iter().map(|run| words(run)).collect();
        all.into_iter().collect()
    };
    let shared = |words: fn(&Run) -> String| {
        let others = each_once(b, words);
        each_once(a, words).iter().any(|word| others.contains(word))
    };
    let both = |words: fn(&Run) -> String| (each_once(a, words), each_once(b, words));
    if !shared(|run| run.test.clone()) {
        let (a, b) = both(|run| run.test.clone());
        return NothingInCommon::Tests { a, b };
    }
    if !shared(|run| format!("{} {}", run.test, run.span.variant)) {
        let is_of_bytes = a.iter().chain(b).any(|run| run.span.base == "bytes");
        let across = if is_of_bytes { Across::Span } else { Across::Spare };
        let (a, b) = both(|run| format!("{} ({})", run.test, span_words(run)));
        return NothingInCommon::Spans { a, b, across };
    }
    let (a, b) = both(|run| run.target.spec.clone());
    NothingInCommon::Targets { a, b }
}

fn complete<'a>(runs: &[&'a Run]) -> Vec<&'a Run> {
    runs.iter().copied().filter(|run| run.status == RunStatus::Complete).collect()
}
