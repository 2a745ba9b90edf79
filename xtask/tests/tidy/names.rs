//! Types are nouns of the field. A type named by a participle says what happened to a thing, and not what it is.

use std::collections::BTreeSet;

use super::source::{must_be_empty, read, rust_files};
use super::text::code_lines;

/// Nouns that end like participles.
const NOUNS: [&str; 4] = ["Feed", "Need", "Seed", "Speed"];

/// Participles that do not end in "ed".
const IRREGULAR: [&str; 16] = [
    "Broken", "Built", "Chosen", "Done", "Drawn", "Driven", "Found", "Given", "Held", "Kept",
    "Known", "Said", "Sent", "Shown", "Told", "Written",
];

/// Names that stand; a new one is refused, and one that has gone leaves the list.
const STANDING: [&str; 33] = [
    "Asked",
    "Bounded",
    "Broken",
    "Done",
    "Driven",
    "Ended",
    "Exposed",
    "Found",
    "Held",
    "Inspected",
    "Kept",
    "Locked",
    "Mixed",
    "Mounted",
    "Opened",
    "Played",
    "Printed",
    "Rated",
    "Refused",
    "Registered",
    "Rejected",
    "Resumed",
    "Searched",
    "Sent",
    "Shifted",
    "Shown",
    "Simulated",
    "Skewed",
    "Sourced",
    "Stopped",
    "Stuffed",
    "Untimed",
    "Written",
];

/// The name of the type that a line declares, or `None` if it declares none.
fn declared(line: &str) -> Option<&str> {
    let words = ["struct ", "enum ", "trait ", "type ", "union "];
    let line = line.trim_start();
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        let rest = rest
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .map_or(rest, |(_, rest)| rest);
        rest.trim_start()
    });
    let name = words.iter().find_map(|word| line.strip_prefix(word))?;
    name.split(|c: char| !c.is_alphanumeric())
        .next()
        .filter(|name| name.starts_with(char::is_uppercase))
}

/// Whether the last word of a name is a participle.
fn is_participle(name: &str) -> bool {
    let last = name.rfind(char::is_uppercase).map_or(name, |at| &name[at..]);
    (last.ends_with("ed") && !NOUNS.contains(&last)) || IRREGULAR.contains(&last)
}

#[test]
fn types_are_named_by_nouns() {
    let mut found = BTreeSet::new();
    let mut new = Vec::new();
    for file in rust_files() {
        for (number, code) in code_lines(&read(&file)) {
            let Some(name) = declared(code).filter(|name| is_participle(name)) else { continue };
            if !STANDING.contains(&name) {
                new.push(format!("{file}:{number}: {name}"));
            }
            found.insert(name.to_owned());
        }
    }
    must_be_empty("name the type by a noun", &new);
    let gone = STANDING.iter().filter(|name| !found.contains(**name));
    let gone: Vec<_> = gone.map(|name| (*name).to_owned()).collect();
    must_be_empty("these types have gone: take them from the list in this file", &gone);
}

#[test]
fn participles_are_told_from_nouns() {
    assert_eq!(declared("    pub(crate) struct Looked<'a> {"), Some("Looked"));
    assert_eq!(declared("pub type Rows = Vec<Row>;"), Some("Rows"));
    assert_eq!(declared("let typed = structure;"), None);
    assert!(is_participle("Looked") && is_participle("FileFound") && is_participle("Told"));
    assert!(!is_participle("Speed") && !is_participle("FoundFile") && !is_participle("Cell"));
}
