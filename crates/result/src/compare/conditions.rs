//! The conditions of runs, and those in which two groups differ.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::schema::Run;

/// Beginning of the names of a test's settings.
const SETTING: &str = "setting ";
/// Name of the condition without which nothing is judged: the suite may have changed the test itself.
pub(super) const SUITE_VERSION: &str = "suite version";

/// A condition that is not the same on both sides.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Condition {
    /// Its name.
    pub name: String,
    /// The values of A, each once; none where no run states it.
    pub a: Vec<String>,
    /// The values of B.
    pub b: Vec<String>,
}

/// The conditions with other values in A than in B: the version of the suite, the settings of the
/// test, then the others by name. Seeds are no condition: repeated runs have one each.
pub(super) fn differences(a: &[&Run], b: &[&Run]) -> Vec<Condition> {
    let (a, b) = (values(a), values(b));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let of = |side: &BTreeMap<String, BTreeSet<String>>, name: &String| -> Vec<String> {
        side.get(name).into_iter().flatten().cloned().collect()
    };
    let both = names.into_iter().map(|name| Condition {
        name: name.clone(),
        a: of(&a, name),
        b: of(&b, name),
    });
    let mut differing: Vec<_> = both.filter(|condition| condition.a != condition.b).collect();
    differing.sort_by_key(|condition| place(&condition.name));
    differing
}

/// Conditions of the test before those of the machine: a reader may see the first ones only.
fn place(name: &str) -> usize {
    let is_of_test = |name: &str| name == "span" || name == "host" || name.starts_with(SETTING);
    if name == SUITE_VERSION { 0 } else { 1 + usize::from(!is_of_test(name)) }
}

fn values(runs: &[&Run]) -> BTreeMap<String, BTreeSet<String>> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in runs.iter().flat_map(|run| of_run(run)) {
        values.entry(name).or_default().insert(value);
    }
    values
}

/// All conditions of a run, name and value.
fn of_run(run: &Run) -> Vec<(String, String)> {
    let target = &run.target;
    let mut all: Vec<(String, String)> = [
        ("drive", target.name.clone()),
        ("kind of target", target.kind.clone()),
        ("firmware", target.firmware.clone().unwrap_or_default()),
        ("engine", target.engine.clone()),
        (SUITE_VERSION, run.suite_version.to_string()),
        ("span", format!("{} bytes", run.span.span_bytes)),
        ("purge", run.purge.as_ref().and_then(|purge| purge.method.clone()).unwrap_or_default()),
        ("version", run.tool_version.clone()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    let plain = |value: &serde_json::Value| {
        value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
    };
    all.extend(run.config.iter().map(|(name, value)| (format!("{SETTING}{name}"), plain(value))));
    all.extend(run.environment.iter().map(|(name, value)| (name.clone(), value.clone())));
    all.extend(target.details.iter().map(|(name, value)| (name.clone(), value.clone())));
    all.retain(|(_, value)| !value.is_empty());
    all
}
