//! Files that are generated from the types and tables of this crate, and committed: the contract
//! for scripts and for the web page. `cargo xtask schema` writes them.

use std::fmt::Write as _;

use crate::metrics::{Better, Metric, catalogue};
use crate::report::Report;
use crate::schema::RunFile;

/// Every generated file: path from the top of the checkout, and content. The committed files are
/// these, word for word.
#[must_use]
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("schema/run.schema.json", schema_text(&schemars::schema_for!(RunFile))),
        ("schema/report.schema.json", schema_text(&schemars::schema_for!(Report))),
        ("schema/metrics.json", metrics_text()),
        ("docs/metrics.md", metrics_page()),
    ]
}

fn schema_text(schema: &schemars::Schema) -> String {
    // The alternate form of a JSON value is the indented one.
    format!("{:#}\n", schema.as_value())
}

/// The catalogue of metrics, one object for each row.
fn metrics_text() -> String {
    // Only maps with keys that are not text can fail, and a row has none.
    serde_json::to_string_pretty(catalogue()).unwrap_or_default() + "\n"
}

const METRICS_HEAD: &str = "\
# Metrics

`cargo xtask schema` writes this page from the tables in `crates/result/src/metrics/`, and the same
as data to [`schema/metrics.json`](../schema/metrics.json). The names are stable. `run.json` holds
the values under these names in `metrics`, each in the unit given here; `null` means unknown.
[The run directory](formats/run-directory.md#metrics) has the rules of their computation.

In a name, `<word>` stands for any text without a dot: `<test>.<step>.iops` covers
`corners.random_read.iops`.
";

/// The catalogue as tables, chapter by chapter.
fn metrics_page() -> String {
    let mut page = METRICS_HEAD.to_owned();
    for chapter in catalogue().chunk_by(|one, next| one.chapter == next.chapter) {
        let heading = chapter[0].chapter;
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {heading}\n\n{TABLE_HEAD}");
        page.extend(chapter.iter().map(table_row));
    }
    page
}

const TABLE_HEAD: &str = "\
| metric | label | unit | better | meaning |
| --- | --- | --- | --- | --- |
";

fn table_row(metric: &Metric) -> String {
    let Metric { name, label, explanation, .. } = metric;
    let unit = metric.unit.symbol();
    let better = metric.better.map_or("", |better| match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    });
    format!("| `{name}` | {label} | {unit} | {better} | {explanation} |\n")
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
