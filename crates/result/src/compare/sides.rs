//! The runs of the two sides, put side by side by test.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::schema::{Run, RunStatus};

/// The runs of one side.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// Names of their drives, each once.
    pub drives: Vec<String>,
    /// Names of the run directories.
    pub run_ids: Vec<String>,
    /// Whether all of them are simulated.
    pub simulated: bool,
}

impl Group {
    pub(super) fn of(runs: &[&Run]) -> Self {
        let drives: BTreeSet<&String> = runs.iter().map(|run| &run.target.name).collect();
        Self {
            drives: drives.into_iter().cloned().collect(),
            run_ids: runs.iter().map(|run| run.run_id.clone()).collect(),
            simulated: runs.iter().all(|run| run.target.is_simulated()),
        }
    }
}

/// Reason why two groups cannot be compared.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum NothingInCommon {
    /// No test has complete runs on both sides.
    #[error("A has complete runs of {}, and B of {}; compare runs of one test", told(a), told(b))]
    Tests {
        /// Tests and variants of A.
        a: Vec<String>,
        /// Tests and variants of B.
        b: Vec<String>,
    },
    /// No figure is in all runs.
    #[error(
        "{}; `ssdlab show` lists the figures of a run, and docs/metrics.md all of them",
        if metrics.is_empty() { "no figure is in all runs of both sides".to_owned() }
        else { format!("not all runs of both sides have `--metric {}`", metrics.join(" ")) }
    )]
    Figures {
        /// The figures that were asked for.
        metrics: Vec<String>,
    },
}

fn told(tests: &[String]) -> String {
    if tests.is_empty() { "nothing".to_owned() } else { tests.join(", ") }
}

/// The runs of a test on the two sides.
pub(super) type Pair<'a> = (Vec<&'a Run>, Vec<&'a Run>);

/// The complete runs of A and B, by test and variant in the order of A; by target, too, if both
/// sides have several.
pub(super) fn pairs<'a>(a: &[&'a Run], b: &[&'a Run]) -> Result<Vec<Pair<'a>>, NothingInCommon> {
    let (a, b) = (complete(a), complete(b));
    let targets = |runs: &[&Run]| {
        runs.iter().map(|run| run.target.spec.clone()).collect::<BTreeSet<_>>().len()
    };
    let by_target = targets(&a) > 1 && targets(&b) > 1;
    let key = |run: &Run| {
        let target = if by_target { run.target.spec.clone() } else { String::new() };
        (run.test.clone(), run.span.variant.clone(), target)
    };
    let mut keys: Vec<_> = Vec::new();
    for run in &a {
        let key = key(run);
        if !keys.contains(&key) && b.iter().any(|other| same(&key, other, by_target)) {
            keys.push(key);
        }
    }
    let of = |runs: &[&'a Run], wanted| -> Vec<&'a Run> {
        runs.iter().copied().filter(|run| same(wanted, run, by_target)).collect()
    };
    let pairs: Vec<_> = keys.iter().map(|key| (of(&a, key), of(&b, key))).collect();
    if pairs.is_empty() {
        return Err(NothingInCommon::Tests { a: tests(&a), b: tests(&b) });
    }
    Ok(pairs)
}

fn same((test, variant, target): &(String, String, String), run: &Run, by_target: bool) -> bool {
    let same_target = !by_target || run.target.spec == *target;
    run.test == *test && run.span.variant == *variant && same_target
}

fn complete<'a>(runs: &[&'a Run]) -> Vec<&'a Run> {
    runs.iter().copied().filter(|run| run.status == RunStatus::Complete).collect()
}

fn tests(runs: &[&Run]) -> Vec<String> {
    let name = |run: &&Run| format!("{} ({})", run.test, run.span.variant);
    runs.iter().map(name).collect::<BTreeSet<_>>().into_iter().collect()
}
