//! The warnings about a figure over several runs, and the reasons not to judge it: two regimes, too
//! few commands, an unsteady state, a late end.

use serde::Serialize;

use crate::metrics::{find, label};
use crate::schema::{Mark, MarkKind, Run};

/// A figure that some of the runs have, and not all.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Missing {
    /// Name of the metric.
    pub metric: String,
    /// Its name for people.
    pub label: String,
    /// The side without it, and the reason.
    pub reason: String,
}

/// The warnings about a figure, one for each kind in the words of the first run that has it; their
/// number if not all runs have it.
pub(super) fn remarks(runs: &[&Run], metric: &str) -> Vec<String> {
    remarks_of(runs, metric, |_| true)
}

/// The warnings of both sides, each with its side.
pub(super) fn of_sides(metric: &str, a: &[&Run], b: &[&Run]) -> Vec<String> {
    let told = |side: &str, texts: &[String]| {
        texts.iter().map(|text| format!("{side}: {text}")).collect::<Vec<_>>()
    };
    let (of_a, of_b) = (remarks(a, metric), remarks(b, metric));
    if of_a == of_b {
        told("A and B", &of_a)
    } else {
        [told("A", &of_a), told("B", &of_b)].concat()
    }
}

/// The reason why a figure of these runs is not judged, or `None` if nothing speaks against it.
pub(super) fn obstacle(metric: &str, a: &[&Run], b: &[&Run]) -> Option<String> {
    if a.iter().chain(b).any(|run| run.suite_version != a[0].suite_version) {
        return Some("runs of several versions of the suite".to_owned());
    }
    let of = |runs: &[&Run]| remarks_of(runs, metric, MarkKind::disqualifies).join("; ");
    match (of(a), of(b)) {
        (of_a, of_b) if of_a.is_empty() && of_b.is_empty() => None,
        (of_a, of_b) if of_a == of_b => Some(format!("A and B: {of_a}")),
        (of_a, of_b) if of_b.is_empty() => Some(format!("A: {of_a}")),
        (of_a, of_b) if of_a.is_empty() => Some(format!("B: {of_b}")),
        (of_a, of_b) => Some(format!("A: {of_a}; B: {of_b}")),
    }
}

/// The figures that some of the runs have and others do not, if one value may be better than another:
/// nobody compares with an unknown value.
pub(super) fn missing(a: &[&Run], b: &[&Run], wanted: &[String]) -> Vec<Missing> {
    let mut names: Vec<&String> = a.iter().chain(b).flat_map(|run| run.metrics.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let is_wanted = |name: &str| {
        let has_direction = find(name).is_some_and(|metric| metric.better.is_some());
        if wanted.is_empty() { has_direction } else { wanted.iter().any(|one| one == name) }
    };
    let lacks = |run: &&&Run, name: &str| run.metrics.get(name).copied().flatten().is_none();
    let of_name = |name: &String| {
        let without = |runs: &[&Run]| runs.iter().filter(|run| lacks(run, name)).count();
        let counts = [("A", a, without(a)), ("B", b, without(b))];
        let all: usize = counts.iter().map(|(.., count)| count).sum();
        if all == 0 || all == a.len() + b.len() {
            return None;
        }
        let reasons =
            counts.into_iter().filter(|(.., count)| *count > 0).map(|(side, runs, count)| {
                let lacking: Vec<&Run> =
                    runs.iter().filter(|run| lacks(run, name)).copied().collect();
                let marks = remarks(&lacking, name).join("; ");
                let told = if count == runs.len() {
                    format!("{side} has none")
                } else {
                    format!("{count} of {} runs of {side} have none", runs.len())
                };
                if marks.is_empty() { told } else { format!("{told} ({marks})") }
            });
        let reason = reasons.collect::<Vec<_>>().join("; ");
        Some(Missing { metric: name.clone(), label: label(name), reason })
    };
    names.into_iter().filter(|name| is_wanted(name)).filter_map(of_name).collect()
}

fn remarks_of(runs: &[&Run], metric: &str, is_told: fn(MarkKind) -> bool) -> Vec<String> {
    let mut found: Vec<(MarkKind, &str, usize)> = Vec::new();
    let is_about = |mark: &&Mark| mark.metric == metric && is_told(mark.kind);
    for mark in runs.iter().flat_map(|run| &run.marks).filter(is_about) {
        match found.iter_mut().find(|(kind, ..)| *kind == mark.kind) {
            Some((.., count)) => *count += 1,
            None => found.push((mark.kind, &mark.text, 1)),
        }
    }
    let words = |(_, text, count): (MarkKind, &str, usize)| match runs.len() {
        all if all == count => text.to_owned(),
        all => format!("{text} ({count} of {all} runs)"),
    };
    found.into_iter().map(words).collect()
}
