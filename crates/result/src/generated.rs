//! Files that are generated from the types and tables of this crate, and committed: the contract
//! for scripts and for the web page. `cargo xtask schema` writes them.

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
data to `schema/metrics.json`. An entry gives the name, the label, the
unit and the better direction, if there is one. `run.json` holds the values under these names in
`metrics`, in these units; `null` means unknown. The names are stable.
[The run directory](formats/run-directory.md#metrics) has the rules of their computation.

A simulated drive below full size (`scale=`) keeps some figures of the whole drive. An entry names
the figures that it does not keep, or keeps only in a step without cleaning or in steady state.
`marks` in `run.json` marks those that a run has lost.

In a name, `<word>` stands for any text without a dot: `<test>.<step>.iops` covers
`corners.random_read.iops`.
";

/// The catalogue as lists, chapter by chapter.
fn metrics_page() -> String {
    let mut page = METRICS_HEAD.to_owned();
    for chapter in catalogue().chunk_by(|one, next| one.chapter == next.chapter) {
        let heading = chapter[0].chapter;
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {heading}\n\n");
        page.extend(chapter.iter().map(metric_item));
    }
    page
}

fn metric_item(metric: &Metric) -> String {
    let Metric { name, label, explanation, .. } = metric;
    let unit = metric.unit.symbol();
    let better = metric.better.map_or("", |better| match better {
        Better::Higher => ", higher is better",
        Better::Lower => ", lower is better",
    });
    let scaling = match metric.scaling {
        Scaling::Kept => "",
        Scaling::KeptWhenSteady => "; below full size only without cleaning or in steady state",
        Scaling::KeptWithoutCleaning => "; below full size only without cleaning",
        Scaling::Lost => "; not below full size",
    };
    list_item("- ", &format!("`{name}`: *{label}* ({unit}{better}{scaling}). {explanation}"))
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
