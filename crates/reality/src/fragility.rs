//! Does a claim hold only because of a value that nobody published? Each assumed number of a model is
//! changed by 10% in both directions.

use std::collections::BTreeMap;
use std::fmt;

use sim::model::built_in_table;
use toml::{Table, Value};

use crate::cell::Cell;
use crate::claim::{Fingerprint, Measurement};
use crate::rehearsal;
use crate::store::{Runs, Store};
use crate::verdict::{Verdict, judge, judge_of};

/// A changed value of a drive model.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    drive: String,
    /// The dotted name of the value.
    key: String,
    /// The other value.
    value: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}={}` of {}", self.key, self.value, self.drive)
    }
}

/// The changes that end a claim that holds, as an earlier call of [`examine`] found them, or `None` if nobody has tried
/// them.
#[must_use]
pub fn known(fingerprint: &Fingerprint, store: &Store) -> Option<Vec<String>> {
    store.answer(&question(fingerprint), &own_cells(fingerprint, None))
}

/// The changes that end a claim that holds. They are tried at the smallest scale at which the claim holds, and at full
/// size where they end it there. A change that alters no figure of a rehearsal is not tried: it has no part in the runs
/// of the claim. `run_all` does the runs of cells.
///
/// # Errors
/// If the answer cannot be kept.
pub fn examine(
    fingerprint: &Fingerprint,
    store: &Store,
    run_all: &dyn Fn(Vec<Cell>) -> Runs,
) -> Result<Vec<String>, String> {
    let scale = fingerprint.scale.as_deref().filter(|scale| {
        let runs = run_all(own_cells(fingerprint, Some(scale)));
        judge(fingerprint, Some(scale), &runs).verdict == Verdict::Holds
    });
    let cells = own_cells(fingerprint, None);
    let own: BTreeMap<_, _> = cells.iter().map(|cell| (cell, rehearsal::of_cell(cell))).collect();
    let takes_part = |Change { drive, key, value }: &Change| {
        let mut own = own.iter().filter(|(cell, _)| cell.drive == *drive);
        own.any(|(cell, figures)| rehearsal::of_cell(&cell.with_value(key, value)) != *figures)
    };
    let tried = changes(fingerprint).into_iter().filter(takes_part).collect();
    let mut ends = ending(fingerprint, tried, scale, run_all);
    if scale.is_some() {
        ends = ending(fingerprint, ends, None, run_all);
    }
    let ends: Vec<_> = ends.iter().map(ToString::to_string).collect();
    store.keep_answer(&question(fingerprint), &cells, &ends)?;
    Ok(ends)
}

/// The question that [`examine`] answers.
fn question(fingerprint: &Fingerprint) -> String {
    let Fingerprint { expectations, share, scale, .. } = fingerprint;
    format!("which changes end {expectations:?}, {share} of them, tried at {scale:?}")
}

fn own_cells(fingerprint: &Fingerprint, scale: Option<&str>) -> Vec<Cell> {
    cells(&fingerprint.measurements(scale).collect::<Vec<_>>())
}

/// Those of the changes that end the claim at a scale.
fn ending(
    fingerprint: &Fingerprint,
    mut changes: Vec<Change>,
    scale: Option<&str>,
    run_all: &dyn Fn(Vec<Cell>) -> Runs,
) -> Vec<Change> {
    let changed = |change: &Change| changed(fingerprint, change, scale);
    let runs = run_all(changes.iter().flat_map(|change| cells(&changed(change))).collect());
    // A change that the model refuses gives no figure, and ends nothing.
    let ends = |change: &Change| {
        judge_of(fingerprint, &changed(change), &runs).verdict == Verdict::DoesNotHold
    };
    changes.retain(ends);
    changes
}

/// The changes to the models of a fingerprint: each assumed number by 10%.
fn changes(fingerprint: &Fingerprint) -> Vec<Change> {
    let mut drives: Vec<&str> =
        fingerprint.figures.values().map(|figure| figure.cell.drive.as_str()).collect();
    drives.sort_unstable();
    drives.dedup();
    drives.into_iter().flat_map(changes_of).collect()
}

/// The figures of a fingerprint with a value changed.
fn changed<'a>(
    fingerprint: &'a Fingerprint,
    change: &Change,
    scale: Option<&str>,
) -> Vec<(&'a String, Measurement)> {
    let mut measurements: Vec<_> = fingerprint.measurements(scale).collect();
    for (_, measurement) in &mut measurements {
        let cell = &measurement.cell;
        if cell.drive == change.drive {
            measurement.cell = cell.with_value(&change.key, &change.value);
        }
    }
    measurements
}

fn cells(measurements: &[(&String, Measurement)]) -> Vec<Cell> {
    measurements.iter().map(|(_, measurement)| measurement.cell.clone()).collect()
}

fn changes_of(drive: &str) -> Vec<Change> {
    let mut assumed = Vec::new();
    collect("", &built_in_table(drive).unwrap_or_default(), &mut assumed);
    let both = assumed.into_iter().flat_map(|(key, value)| {
        let step = (value / 10).max(1);
        [value - step, value + step].map(|value| Change {
            drive: drive.to_owned(),
            key: key.clone(),
            value: value.to_string(),
        })
    });
    both.collect()
}

/// The numbers of a table that are assumed, with dotted names.
fn collect(path: &str, table: &Table, assumed: &mut Vec<(String, i64)>) {
    let is_assumed =
        table.get("from").and_then(Value::as_str).is_some_and(|from| from.starts_with("assumed:"));
    match table.get("value").and_then(Value::as_integer) {
        Some(value) if is_assumed && value > 0 => assumed.push((path.to_owned(), value)),
        _ => {}
    }
    for (key, value) in table {
        if let Value::Table(inner) = value {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            collect(&path, inner, assumed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assumed_numbers_are_found_with_their_names() {
        let model: Table = toml::from_str(
            "[gc]\nfree_low = { value = 3, from = 'assumed: x' }\n\
             policy = { value = 'greedy', from = 'assumed: x' }\n\
             [nand.wear]\nrate = { value = 50, from = 'assumed: x' }\n\
             dies = { value = 8, from = 'published: x' }\n",
        )
        .unwrap();
        let mut assumed = Vec::new();
        collect("", &model, &mut assumed);
        assert_eq!(assumed, [("gc.free_low".to_owned(), 3), ("nand.wear.rate".to_owned(), 50)]);
    }

    #[test]
    fn assumed_numbers_of_a_model_change_in_both_directions() {
        let changes = changes_of("samsung-840-pro-256gb");
        assert!(changes.len() > 10, "{changes:?}");
        for pair in changes.chunks(2) {
            let [lower, higher] = pair else { panic!("{pair:?}") };
            let number = |change: &Change| change.value.parse::<i64>().unwrap();
            assert!(lower.key == higher.key && number(lower) < number(higher), "{pair:?}");
        }
        assert!(changes_of("nobody").is_empty());
    }
}
