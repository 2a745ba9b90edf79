//! Rules for the table of phenomena in `docs/simulator.md`: what it names is there, and no phenomenon goes untested.

use super::source::{files, read, root};

const TABLE: &str = "docs/simulator.md";
/// Cells of a row: phenomenon, where, source, simplification, test.
const CELLS: usize = 5;

/// The rows of the table with that many columns, without its head.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'));
    let cells = lines.map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let rows = cells.filter(|cells| cells.len() == CELLS && !cells[0].starts_with("---"));
    rows.skip(1).collect()
}

/// The words of a cell that stand in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Whether a word is the name of a test or of a file of tests.
fn names_test(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:*".contains(c))
}

/// Whether a test stands in a file of its module, of the simulator or of the runs on it; `prefix_*`
/// names several, a module alone all of its tests.
fn is_there(test: &str) -> bool {
    let (module, name) = test.split_once("::").unwrap_or((test, "*"));
    let name = name.strip_suffix('*').map_or(format!("fn {name}("), |start| format!("fn {start}"));
    let of_module = |file: &String| {
        file.ends_with(&format!("/{module}.rs")) || file.contains(&format!("/{module}/"))
    };
    let places = ["crates/sim/tests", "crates/run"].map(|dir| files(dir, "rs"));
    places.concat().iter().filter(|file| of_module(file)).any(|file| {
        let text = read(file);
        text.contains("#[test]") && text.contains(&name)
    })
}

#[test]
fn every_phenomenon_has_a_test_that_exists() {
    let text = read(TABLE);
    let mut faults = Vec::new();
    let rows = rows(&text);
    for row in &rows {
        let (phenomenon, tests) = (row[0], row[CELLS - 1]);
        let mut named = quoted(tests).filter(|word| names_test(word)).peekable();
        if named.peek().is_none() && tests != "same" {
            faults.push(format!("{phenomenon}: no test is named"));
        }
        let missing = named.filter(|test| !is_there(test));
        faults.extend(missing.map(|test| format!("{phenomenon}: there is no {test}")));
    }
    assert!(rows.len() > 30, "{TABLE} is read wrongly: {} rows", rows.len());
    assert!(faults.is_empty(), "{TABLE}:\n  {}", faults.join("\n  "));
}

#[test]
fn the_files_of_a_phenomenon_exist() {
    let text = read(TABLE);
    let is_file = |word: &&str| word.ends_with(".rs") || word.ends_with('/');
    let exists = |place: &str| {
        ["crates/sim/src", "crates/load/src"]
            .iter()
            .any(|dir| root().join(dir).join(place).exists())
    };
    let rows = rows(&text);
    let places = rows.iter().flat_map(|row| quoted(row[1])).filter(is_file);
    let missing: Vec<&str> = places.filter(|place| !exists(place)).collect();
    assert!(missing.is_empty(), "{TABLE} names what is not there: {missing:?}");
}

#[test]
fn a_missing_test_is_noticed() {
    assert!(is_there("timing") && is_there("suite::trim_*") && is_there("theory::fifo"));
    assert!(!is_there("timing::no_such_test") && !is_there("no_such_file"));
    let table =
        "| a | b | c | d | e |\n| --- | --- | --- | --- | --- |\n| x | `y.rs` | z | w | `t` |";
    assert_eq!(rows(table), [["x", "`y.rs`", "z", "w", "`t`"]]);
}
