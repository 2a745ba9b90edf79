//! The warnings about a figure over several runs: two regimes, too few commands, an unsteady state, a late end.

use crate::schema::{Mark, MarkKind, Run};

/// The warnings about a figure, one for each kind in the words of the first run that has it; with several runs, their
/// number.
pub(super) fn remarks(runs: &[&Run], metric: &str) -> Vec<String> {
    let mut found: Vec<(MarkKind, &str, usize)> = Vec::new();
    let is_about = |mark: &&Mark| mark.metric == metric;
    for mark in runs.iter().flat_map(|run| &run.marks).filter(is_about) {
        match found.iter_mut().find(|(kind, ..)| *kind == mark.kind) {
            Some((.., count)) => *count += 1,
            None => found.push((mark.kind, &mark.text, 1)),
        }
    }
    let words = |(_, text, count): (MarkKind, &str, usize)| match runs.len() {
        1 => text.to_owned(),
        all => format!("{text} ({count} of {all} runs)"),
    };
    found.into_iter().map(words).collect()
}
