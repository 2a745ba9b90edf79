//! Files that are generated from the types and tables of this crate, and committed: the contract
//! for scripts and for the web page. `cargo xtask schema` writes them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base::Facts;
use base::text::list_item;
use serde::Serialize;

use crate::bench::Library;
use crate::metrics::{Better, Metric, Scaling, catalogue};
use crate::report::Report;
use crate::schema::RunFile;

/// Every generated file: path from the top of the checkout, and content. The committed files have
/// exactly this content.
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("schema/run.schema.json", schema_text(&schemars::schema_for!(RunFile))),
        ("schema/report.schema.json", schema_text(&schemars::schema_for!(Report))),
        ("schema/library.schema.json", schema_text(&schemars::schema_for!(Library))),
        ("schema/metrics.json", rows_text(catalogue())),
        ("schema/facts.json", rows_text(Facts::COLUMNS)),
        ("docs/reference/metrics.md", metrics_page()),
    ]
}

fn schema_text(schema: &schemars::Schema) -> String {
    // The alternate form of a JSON value is the indented one.
    format!("{:#}\n", schema.as_value())
}

/// A table, one object for each row.
fn rows_text(rows: &[impl Serialize]) -> String {
    // Only maps with keys that are not text can fail, and a row has none.
    serde_json::to_string_pretty(rows).unwrap_or_default() + "\n"
}

const METRICS_HEAD: &str = "\
# Metrics

`cargo xtask schema` writes this page from the tables in `crates/result/src/metrics/`, and the same
data to `schema/metrics.json`. `run.json` holds the values under these names in `metrics`, in these
units; `null` means unknown. The names are stable.
[The run directory](formats/run-directory.md#metrics) has the rules of their computation.

An entry gives the names, the label of the first one, the unit, and the better direction, if there
is one: ↑ is higher, ↓ lower. `_read` and `_write` count one kind of command. In a name, `<word>`
stands for any text without a dot: `<test>.<step>.iops` covers `corners.random_read.iops`. An entry
without a text has that of the same label above.

A letter tells what becomes of the figure on a simulated drive below full size (`scale=`); `marks`
in `run.json` marks those that a run has lost:

- none: it stays that of the whole drive.
- *C*: it stays in a step without cleaning.
- *S*: it stays in a step without cleaning, and in steady state.
- *F*: it needs the full size.
";

/// The catalogue as lists, chapter by chapter.
fn metrics_page() -> String {
    let mut page = METRICS_HEAD.to_owned();
    let mut told = BTreeSet::new();
    for chapter in catalogue().chunk_by(|one, next| one.chapter == next.chapter) {
        let heading = chapter[0].chapter;
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {heading}\n\n");
        let mut entries: Vec<Vec<&Metric>> = Vec::new();
        for metric in chapter {
            match entries.iter_mut().find(|entry| says_the_same(entry[0], metric)) {
                Some(entry) => entry.push(metric),
                None => entries.push(vec![metric]),
            }
        }
        for entry in entries {
            let is_new = told.insert(entry[0].explanation);
            page += &metric_item(&entry, if is_new { entry[0].explanation } else { "" });
        }
    }
    page
}

/// Whether two figures differ in nothing but name and label: reads and writes, stages of a test.
fn says_the_same(one: &Metric, other: &Metric) -> bool {
    let words = |metric: &Metric| (metric.explanation, metric.unit, metric.better, metric.scaling);
    words(one) == words(other)
}

fn metric_item(entry: &[&Metric], text: &str) -> String {
    let Metric { label, unit, better, scaling, .. } = entry[0];
    let names: Vec<_> = entry.iter().map(|metric| format!("`{}`", metric.name)).collect();
    let better = better.map_or("", |better| match better {
        Better::Higher => " ↑",
        Better::Lower => " ↓",
    });
    let scaling = match scaling {
        Scaling::Kept => "",
        Scaling::KeptWhenSteady => ", S",
        Scaling::KeptWithoutCleaning => ", C",
        Scaling::Lost => ", F",
    };
    let names = names.join(", ");
    let unit = unit.symbol();
    list_item("- ", &format!("{names}: *{label}* ({unit}{better}{scaling}). {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn committed_files_are_those_of_the_types_and_tables() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (file, text) in files() {
            let committed = std::fs::read_to_string(top.join(file)).unwrap_or_default();
            assert!(
                committed == text,
                "{file} is not what the source says; `cargo xtask schema` writes it anew"
            );
        }
    }
}
