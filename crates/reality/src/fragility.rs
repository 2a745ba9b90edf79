//! Does a claim hold only because of a value that nobody published? Each assumed number of a model is
//! changed by 10% in both directions.

use std::fmt;

use sim::model::built_in_table;
use toml::{Table, Value};

use crate::cell::Cell;
use crate::claim::{Fingerprint, Measurement};
use crate::store::Runs;
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

/// The changes that end a claim that holds, or `None` if runs are missing. `runs` gives the runs of
/// cells, if it has all of them. The changes are tried at the smallest scale at which the claim
/// holds, and at full size where they end it there.
pub fn examine(
    fingerprint: &Fingerprint,
    runs: &mut dyn FnMut(&[Cell]) -> Option<Runs>,
) -> Option<Vec<String>> {
    let scale = match &fingerprint.scale {
        Some(scale) => {
            let cells: Vec<_> = cells(&fingerprint.measurements(Some(scale)).collect::<Vec<_>>());
            let holds = judge(fingerprint, Some(scale), &runs(&cells)?).verdict == Verdict::Holds;
            holds.then_some(scale.as_str())
        }
        None => None,
    };
    let mut ends = ending(fingerprint, changes(fingerprint), scale, runs)?;
    if scale.is_some() {
        ends = ending(fingerprint, ends, None, runs)?;
    }
    Some(ends.iter().map(ToString::to_string).collect())
}

/// Those of the changes that end the claim at a scale.
fn ending(
    fingerprint: &Fingerprint,
    mut changes: Vec<Change>,
    scale: Option<&str>,
    runs: &mut dyn FnMut(&[Cell]) -> Option<Runs>,
) -> Option<Vec<Change>> {
    let changed = |change: &Change| changed(fingerprint, change, scale);
    let mut all: Vec<_> = changes.iter().flat_map(|change| cells(&changed(change))).collect();
    all.sort();
    all.dedup();
    let runs = runs(&all)?;
    // A change that the model refuses gives no figure, and ends nothing.
    let ends = |change: &Change| {
        judge_of(fingerprint, &changed(change), &runs).verdict == Verdict::DoesNotHold
    };
    changes.retain(ends);
    Some(changes)
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
