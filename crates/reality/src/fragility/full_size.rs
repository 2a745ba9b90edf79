//! Changes at full size: a run with the change and one without, both by this version of the program, for the
//! expectations that the screen leaves open.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::Answer;
use super::change::{Change, changes_of};
use super::comparison::{Comparison, Kind};
use super::{Effects, Tools, cells, effects, safe};
use crate::cell::Cell;
use crate::claim::{Fingerprint, Measurement};
use crate::expectation::{Expectation, Values};
use crate::store::Runs;
use crate::verdict::is_enough;

/// A change to run, with its screen.
struct Trial<'a> {
    change: Change,
    /// The effects in short, or `None` if the screen cannot tell.
    effects: Option<Effects>,
    /// The expectations that the screen leaves open.
    undecided: Vec<&'a Expectation>,
    /// The figures of their runs, with the drive as it is.
    measured: Vec<(&'a String, Measurement)>,
}

/// Runs changes of an answer that are open, as many as the tools permit, and moves those that end the claim to the
/// fragile ones. Gives the effects at full size beside those of the screens.
///
/// # Errors
/// If a run of the claim is refused, or the claim does not hold by this version of the program.
pub(super) fn decide(
    fingerprint: &Fingerprint,
    known: &Values,
    mut answer: Answer,
    tools: &Tools<'_>,
) -> Result<(Answer, Vec<Comparison>), String> {
    let count = tools.full_size_max.saturating_sub(answer.full_size).min(answer.open.len());
    let later = answer.open.split_off(count);
    let drives: BTreeSet<_> = cells(fingerprint).into_iter().map(|cell| cell.drive).collect();
    let changes: BTreeMap<String, Change> = drives
        .iter()
        .flat_map(|drive| changes_of(drive))
        .map(|change| (change.to_string(), change))
        .collect();
    // A value that is no longer assumed is no change.
    let changes = answer.open.iter().filter_map(|text| changes.get(text));
    let trials: Vec<_> = changes.map(|change| trial(fingerprint, known, change, tools)).collect();
    let runs = run(&trials, tools);
    let mut comparisons = Vec::new();
    for trial in &trials {
        let original = trial.values(known, &runs, None);
        if !trial.holds(fingerprint, &original) {
            let id = &fingerprint.id;
            return Err(format!("`{id}` does not hold by this version: {original:?}"));
        }
        // A change that the model refuses gives no figure, and ends nothing.
        if trial.cells(Some(&trial.change)).all(|cell| matches!(runs.get(&cell), Some(Ok(_)))) {
            let changed = trial.values(known, &runs, Some(&trial.change));
            if !trial.holds(fingerprint, &changed) {
                answer.fragile.push(trial.change.to_string());
            }
            comparisons.extend(trial.comparisons(fingerprint, &original, &changed));
        }
    }
    answer.full_size += trials.len();
    answer.open = later;
    Ok((answer, comparisons))
}

fn trial<'a>(
    fingerprint: &'a Fingerprint,
    known: &Values,
    change: &Change,
    tools: &Tools<'_>,
) -> Trial<'a> {
    let effects = effects(fingerprint, std::slice::from_ref(change), tools.screens);
    let is_safe =
        |one: &&Expectation| effects.as_ref().is_some_and(|effects| safe(one, known, effects));
    let undecided: Vec<_> = fingerprint.expectations.iter().filter(|one| !is_safe(one)).collect();
    let figures: BTreeSet<&str> = undecided.iter().flat_map(|one| one.figures()).collect();
    let of_drive = |(_, one): &(&String, Measurement)| one.cell.drive == change.drive;
    let all: Vec<_> = fingerprint.measurements(None).filter(of_drive).collect();
    let needed: BTreeSet<Cell> = all
        .iter()
        .filter(|(name, _)| figures.contains(name.as_str()))
        .map(|(_, one)| one.cell.clone())
        .collect();
    let measured = all.into_iter().filter(|(_, one)| needed.contains(&one.cell)).collect();
    Trial { change: change.clone(), effects, undecided, measured }
}

/// The runs of all trials, with the changes and without.
fn run(trials: &[Trial<'_>], tools: &Tools<'_>) -> Runs {
    let cells: BTreeSet<Cell> = trials
        .iter()
        .flat_map(|trial| trial.cells(None).chain(trial.cells(Some(&trial.change))))
        .collect();
    let cells: Vec<_> = cells.into_iter().collect();
    tools.store.run_all(&cells, tools.jobs, &|_, _| ())
}

impl Trial<'_> {
    /// The runs, changed or as they are with `None`.
    fn cells(&self, change: Option<&Change>) -> impl Iterator<Item = Cell> {
        self.measured.iter().map(move |(_, one)| with(&one.cell, change))
    }

    /// The known figures, with those of the runs over them.
    fn values(&self, known: &Values, runs: &Runs, change: Option<&Change>) -> Values {
        let mut values = known.clone();
        for (name, Measurement { cell, figure }) in &self.measured {
            let run = runs.get(&with(cell, change)).and_then(|run| run.as_ref().ok());
            let value = run.and_then(|run| figure.of(run, cell.time_scale()).ok().flatten());
            values.insert((*name).clone(), value);
        }
        values
    }

    /// Whether the claim holds with these figures. The screen decides on the other expectations.
    fn holds(&self, fingerprint: &Fingerprint, values: &Values) -> bool {
        let failed = self.undecided.iter().filter(|one| !one.holds(values)).count();
        is_enough(fingerprint, fingerprint.expectations.len() - failed)
    }

    /// The effects of the change at full size beside those in short.
    fn comparisons(
        &self,
        fingerprint: &Fingerprint,
        original: &Values,
        changed: &Values,
    ) -> Vec<Comparison> {
        let compared = |(name, measured): &(&String, Measurement)| {
            let (screened, _) = self.effects.as_ref()?.get(*name).copied()?;
            let (from, to) = (original.get(*name)?.as_ref()?, changed.get(*name)?.as_ref()?);
            (*from != 0.0).then(|| Comparison {
                claim: fingerprint.id.clone(),
                figure: (*name).clone(),
                kind: Kind::of(&measured.figure),
                change: self.change.to_string(),
                screened,
                full_size: to / from - 1.0,
            })
        };
        self.measured.iter().filter_map(compared).collect()
    }
}

fn with(cell: &Cell, change: Option<&Change>) -> Cell {
    change.map_or_else(
        || cell.clone(),
        |change| cell.with_value(&change.key, &change.value.to_string()),
    )
}
