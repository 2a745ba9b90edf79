//! Changes of the values of a model that nobody published: each assumed number by a tenth.

use std::fmt;

use sim::model::built_in_table;
use toml::{Table, Value};

/// Below this a whole number has no other one within 10%: three planes instead of two are another drive, not
/// another guess.
const SMALLEST: i64 = 10;

/// A changed value of a drive model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The name of the drive model.
    pub drive: String,
    /// The dotted name of the value.
    pub key: String,
    /// The other value.
    pub value: i64,
    /// Whether it is above the value of the model.
    pub is_raised: bool,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={} of {}", self.key, self.value, self.drive)
    }
}

impl Change {
    /// Whether the change makes the drive slower, or takes more power, as far as the name of the value tells. Changes
    /// of one direction do not hide each other.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        let more_is_faster = ["per_s", "iops", "bytes", "streams"];
        self.is_raised != more_is_faster.iter().any(|word| self.key.contains(word))
    }
}

/// The changes to a model: each assumed number from ten up, a tenth lower and a tenth higher.
#[must_use]
pub fn changes_of(drive: &str) -> Vec<Change> {
    let mut assumed = Vec::new();
    collect("", &built_in_table(drive).unwrap_or_default(), &mut assumed);
    let both = assumed.into_iter().flat_map(|(key, value)| {
        [false, true].map(|is_raised| Change {
            drive: drive.to_owned(),
            key: key.clone(),
            value: if is_raised { value + value / 10 } else { value - value / 10 },
            is_raised,
        })
    });
    both.collect()
}

/// The numbers of a table that are assumed, with dotted names. Facts are no part of a simulation.
fn collect(path: &str, table: &Table, assumed: &mut Vec<(String, i64)>) {
    let is_assumed =
        table.get("from").and_then(Value::as_str).is_some_and(|from| from.starts_with("assumed:"));
    match table.get("value").and_then(Value::as_integer) {
        Some(value) if is_assumed && value >= SMALLEST => assumed.push((path.to_owned(), value)),
        _ => {}
    }
    for (key, value) in table {
        match value {
            Value::Table(_) if path.is_empty() && key == "facts" => {}
            Value::Table(inner) if path.is_empty() => collect(key, inner, assumed),
            Value::Table(inner) => collect(&format!("{path}.{key}"), inner, assumed),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assumed_numbers_are_found_with_their_names() {
        let model: Table = toml::from_str(
            "[gc]\nfree_low = { value = 30, from = 'assumed: x' }\n\
             policy = { value = 'greedy', from = 'assumed: x' }\n\
             streams = { value = 9, from = 'assumed: x' }\n\
             [facts]\ndies = { value = 64, from = 'assumed: x' }\n\
             [nand.wear]\nrate = { value = 50, from = 'assumed: x' }\n\
             dies = { value = 8, from = 'published: x' }\n",
        )
        .unwrap();
        let mut assumed = Vec::new();
        collect("", &model, &mut assumed);
        assert_eq!(assumed, [("gc.free_low".to_owned(), 30), ("nand.wear.rate".to_owned(), 50)]);
    }

    #[test]
    fn assumed_numbers_of_a_model_change_in_both_directions() {
        let changes = changes_of("samsung-840-pro-256gb");
        assert!(changes.len() > 10, "{changes:?}");
        for pair in changes.chunks(2) {
            let [lower, higher] = pair else { panic!("{pair:?}") };
            assert!(lower.key == higher.key && lower.value < higher.value, "{pair:?}");
            assert_ne!(lower.is_slower(), higher.is_slower(), "{pair:?}");
        }
        assert!(changes_of("nobody").is_empty());
    }
}
