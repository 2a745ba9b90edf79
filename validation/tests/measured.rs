//! Do the models reproduce measurements of others on the drives? The figures are in
//! `drives/measured.csv`. Fitted figures must come out of the model again, predicted ones show its
//! accuracy. Here are those with a bound, at a small scale; `cargo xtask validate` has all of them.

use std::collections::BTreeMap;
use std::path::Path;

use base::Ratio;
use validation::experiment::report::line;
use validation::experiment::{Fact, facts};

const FACTS: &str = include_str!("../../drives/measured.csv");
const SCALE_DIVISOR: u64 = 128;

#[test]
fn models_do_what_others_measured() {
    let scale = Ratio::new(1, SCALE_DIVISOR).expect("a ratio");
    let (mut faults, mut known) = (Vec::new(), BTreeMap::new());
    for fact in facts(FACTS).expect("sound") {
        let Some(bound) = fact.within_percent else { continue };
        let figures = known.entry(fact.experiment()).or_insert_with_key(|one| one.run(scale));
        let simulated = figures.clone().map(|figures| figures[&fact.figure()]);
        let error = simulated.as_ref().ok().and_then(|value| fact.error_percent(*value));
        if error.is_none_or(|error| error.abs() > bound) {
            faults.push(format!("{} not within {bound}%", line(&(fact, simulated))));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_table_has_every_figure() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../drives/validation.csv");
    let table = std::fs::read_to_string(table).expect("drives/validation.csv");
    let begin = |fact: Fact| {
        let line = line(&(fact, Err(String::new())));
        line.split(",,").next().expect("a line").to_owned() + ","
    };
    let mut missing: Vec<_> = facts(FACTS).expect("sound").into_iter().map(begin).collect();
    missing.retain(|line| !table.contains(line));
    assert!(missing.is_empty(), "`cargo xtask validate` writes these:\n{}", missing.join("\n"));
}
