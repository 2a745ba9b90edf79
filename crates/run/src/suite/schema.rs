//! The tests as data, for the page and for scripts. `cargo xtask schema` writes it to `schema/tests.json`.

use serde::Serialize;

use super::definition::{Chapter, Chart, Headline};
use super::test::Test;

/// The declarations of a test that a reader of its results needs.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    heading: &'static str,
    question: &'static str,
    chapter: Chapter,
    headlines: &'static [Headline],
    charts: &'static [Chart],
}

/// The text of `schema/tests.json`: every test, in the order of the suite.
pub fn catalogue() -> String {
    let entries = Test::ALL.map(|test| {
        let definition = test.definition();
        Entry {
            name: definition.name,
            heading: definition.heading,
            question: definition.question,
            chapter: definition.chapter,
            headlines: definition.headlines,
            charts: definition.charts,
        }
    });
    // Only maps with keys that are not text can fail, and an entry has none.
    serde_json::to_string_pretty(&entries[..]).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_committed_catalogue_is_that_of_the_declarations() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/tests.json");
        let committed = std::fs::read_to_string(file).unwrap_or_default();
        assert!(committed == catalogue(), "`cargo xtask schema` writes it anew");
    }
}
