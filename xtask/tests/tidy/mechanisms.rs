//! Rules for `docs/reference/mechanisms.md`: every mechanism names code and tests that exist.

use super::source::{files, read, root};

const PAGE: &str = "docs/reference/mechanisms.md";

/// A mechanism with the text behind each of its labels.
#[derive(Debug, PartialEq)]
struct Mechanism<'a> {
    name: &'a str,
    code: &'a str,
    source: &'a str,
    simplification: &'a str,
    tests: &'a str,
}

/// The mechanisms of the page, one for each heading of the third level.
fn mechanisms(text: &str) -> Vec<Mechanism<'_>> {
    let sections = text.split("\n### ").skip(1);
    sections
        .map(|section| {
            let section = section.split("\n## ").next().unwrap_or_default();
            let name = section.lines().next().unwrap_or_default();
            let labelled = |label| labelled(section, label);
            Mechanism {
                name,
                code: labelled("Code"),
                source: labelled("Source"),
                simplification: labelled("Simplification"),
                tests: labelled("Tests"),
            }
        })
        .collect()
}

/// The item of a list that begins with this label, up to the next item; empty if there is none.
fn labelled<'a>(section: &'a str, label: &str) -> &'a str {
    let mut items = section.split("\n- ").filter_map(|item| item.split_once(": "));
    items.find(|(name, _)| *name == label).map_or("", |(_, text)| text.trim())
}

/// The words in backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether a word is the name of a test or of a file of tests.
fn names_test(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:*".contains(c))
}

/// Whether a test exists in a file of its module, in the simulator or in the runs on it; `prefix_*`
/// names several tests, a module alone all of its tests.
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
fn every_mechanism_says_all_about_itself() {
    let text = read(PAGE);
    let mechanisms = mechanisms(&text);
    let gap = |m: &&Mechanism<'_>| {
        [m.code, m.source, m.simplification, m.tests].iter().any(|text| text.is_empty())
    };
    let with_gap: Vec<_> = mechanisms.iter().filter(gap).map(|m| m.name).collect();
    assert!(mechanisms.len() > 30, "{PAGE} is read wrongly: {} sections", mechanisms.len());
    assert!(with_gap.is_empty(), "{PAGE}, without one of the four labels: {with_gap:#?}");
}

#[test]
fn every_mechanism_has_a_test_that_exists() {
    let text = read(PAGE);
    let mut faults = Vec::new();
    for Mechanism { name, tests, .. } in mechanisms(&text) {
        let mut named = quoted(tests).filter(|word| names_test(word)).peekable();
        if named.peek().is_none() {
            faults.push(format!("{name}: no test is named"));
        }
        let missing = named.filter(|test| !is_there(test));
        faults.extend(missing.map(|test| format!("{name}: there is no {test}")));
    }
    assert!(faults.is_empty(), "{PAGE}:\n  {}", faults.join("\n  "));
}

#[test]
fn the_files_of_a_mechanism_exist() {
    let text = read(PAGE);
    let is_file = |word: &&str| word.ends_with(".rs") || word.ends_with('/');
    let exists = |place: &str| {
        ["crates/sim/src", "crates/load/src"]
            .iter()
            .any(|dir| root().join(dir).join(place).exists())
    };
    let mechanisms = mechanisms(&text);
    let places = mechanisms.iter().flat_map(|mechanism| quoted(mechanism.code)).filter(is_file);
    let missing: Vec<&str> = places.filter(|place| !exists(place)).collect();
    assert!(missing.is_empty(), "{PAGE} names files that do not exist: {missing:?}");
}

#[test]
fn sections_are_read_by_their_labels() {
    let text =
        "\n## A\n\n### x (`[y]`)\n\n- Code: `y.rs`\n- Source: z: 1,\n  2\n- Tests: `t`\n\n## B\n";
    let x = Mechanism {
        name: "x (`[y]`)",
        code: "`y.rs`",
        source: "z: 1,\n  2",
        simplification: "",
        tests: "`t`",
    };
    assert_eq!(mechanisms(text), [x]);
}

#[test]
fn a_missing_test_is_noticed() {
    assert!(is_there("timing") && is_there("suite::trim_*") && is_there("theory::fifo"));
    assert!(!is_there("timing::no_such_test") && !is_there("no_such_file"));
}
