//! Files that are generated from the types of this crate, and committed: the contract
//! for scripts and for the web page. `cargo xtask schema` writes them.

use crate::report::Report;
use crate::schema::RunFile;

/// Every generated file: path from the top of the checkout, and content. The committed files are
/// these, word for word.
#[must_use]
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("schema/run.schema.json", schema_text(&schemars::schema_for!(RunFile))),
        ("schema/report.schema.json", schema_text(&schemars::schema_for!(Report))),
    ]
}

fn schema_text(schema: &schemars::Schema) -> String {
    // The alternate form of a JSON value is the indented one.
    format!("{:#}\n", schema.as_value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn committed_files_are_those_of_the_types() {
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
