//! Rules for Rust files: size, leftovers, printing, the places of `unsafe`, and the dependencies of
//! the simulator.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::text::{code_lines, has_word};

/// Lines a file may have.
const LINES_MAX: usize = 1_000;

/// Marks of unfinished work; spelled in halves so that this file has none.
const LEFTOVERS: &[&str] =
    &[concat!("FIX", "ME"), concat!("TO", "DO"), concat!("XX", "X"), concat!("db", "g!")];

/// Clauses in the place of a noun; a question ends with its mark.
const CLAUSES: &[&str] = &["What ", "Who ", "Where ", "How ", "Which "];

/// Only a program prints; a library returns its messages to its caller.
const PRINTING: &[&str] = &["println!", "eprintln!", "print!", "eprint!"];

/// Places that deal with the operating system or the memory layout.
const UNSAFE_PLACES: &[&str] =
    &["crates/device/", "crates/io/", "crates/sim/src/prefetch.rs", "py/"];

/// Modules that would make a simulation depend on more than its model, its seed and its commands.
const UNKNOWN_TO_SIM: &[&str] = &["time", "thread", "fs", "net", "env", "process"];

/// The top of the checkout. Not compiled in: two checkouts may share a target directory.
pub(crate) fn root() -> PathBuf {
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the test is from");
    Path::new(&xtask).parent().expect("xtask stands in the checkout").to_path_buf()
}

/// All files below `dir` with this extension, as paths from the top; none if `dir` does not exist.
pub(crate) fn files(dir: &str, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(&root().join(dir), extension, &mut found);
    found.sort();
    found
}

fn collect(dir: &Path, extension: &str, found: &mut Vec<String>) {
    const NOT_OURS: [&str; 5] = ["target", "node_modules", "dist", ".venv", ".git"];
    let entries = dir.read_dir().into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default();
        let is_ours =
            NOT_OURS.iter().all(|other| name != *other) || path.ends_with("crates/target");
        // A crate has data of the checkout through a link.
        if path.is_dir() && !path.is_symlink() && is_ours {
            collect(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            let path = path.strip_prefix(root()).expect("below the top");
            found.push(path.to_string_lossy().into_owned());
        }
    }
}

/// Files that git keeps, or would keep if they were added now.
pub(crate) fn kept_files() -> Vec<String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let output = git.output().expect("git runs");
    assert!(output.status.success(), "this check asks git, so it needs a checkout: {output:?}");
    let names = String::from_utf8(output.stdout).expect("names are UTF-8");
    names.lines().map(str::to_owned).collect()
}

/// The text of a file named from the top.
pub(crate) fn read(file: &str) -> String {
    let path: PathBuf = root().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Rust files of the project, those of xtask included.
pub(crate) fn rust_files() -> Vec<String> {
    ["bench", "crates", "fuzz", "py", "validation", "xtask"]
        .iter()
        .flat_map(|dir| files(dir, "rs"))
        .collect()
}

/// Fails with one line for each place that breaks the rule.
pub(crate) fn must_be_empty(rule: &str, places: &[String]) {
    assert!(places.is_empty(), "{rule}:\n  {}", places.join("\n  "));
}

/// The lines of code in `files` for which `breaks` returns true.
fn places(files: &[String], breaks: impl Fn(&str) -> bool) -> Vec<String> {
    let mut places = Vec::new();
    for file in files {
        for (number, code) in code_lines(&read(file)) {
            if breaks(code) {
                places.push(format!("{file}:{number}: {}", code.trim()));
            }
        }
    }
    places
}

#[test]
fn there_is_something_to_check() {
    assert!(rust_files().len() > 20, "{:?}", rust_files());
}

#[test]
fn files_are_short() {
    let long: Vec<_> = rust_files()
        .into_iter()
        .map(|file| (read(&file).lines().count(), file))
        .filter(|(lines, _)| *lines > LINES_MAX)
        .map(|(lines, file)| format!("{file} has {lines} lines"))
        .collect();
    must_be_empty(&format!("split what has more than {LINES_MAX} lines"), &long);
}

#[test]
fn modules_stand_beside_their_folders() {
    let mod_files = rust_files().into_iter().filter(|file| file.ends_with("/mod.rs"));
    let wrong: Vec<_> = mod_files.filter(|file| !file.contains("/tests/")).collect();
    must_be_empty("name it `foo.rs` beside the folder `foo/`", &wrong);
}

#[test]
fn comments_begin_with_the_name_of_a_thing() {
    let mut clauses = Vec::new();
    for file in rust_files() {
        for (index, line) in read(&file).lines().enumerate() {
            let Some(comment) = line.trim().strip_prefix("//") else { continue };
            let words = comment.trim_start_matches(['/', '!']).trim();
            let is_clause = CLAUSES.iter().any(|clause| words.starts_with(clause));
            if is_clause && !words.ends_with('?') {
                clauses.push(format!("{file}:{}: {}", index + 1, line.trim()));
            }
        }
    }
    must_be_empty("name the thing: no clause in place of a noun", &clauses);
}

#[test]
fn nothing_is_left_over() {
    let mut left = Vec::new();
    for file in rust_files() {
        for (index, line) in read(&file).lines().enumerate() {
            if LEFTOVERS.iter().any(|leftover| has_word(line, leftover)) {
                left.push(format!("{file}:{}: {}", index + 1, line.trim()));
            }
        }
    }
    must_be_empty("finish it, or say what is missing in README.md", &left);
}

#[test]
fn only_the_programs_print() {
    let libraries: Vec<_> = [files("crates", "rs"), files("validation", "rs")]
        .into_iter()
        .flatten()
        .filter(|file| file.contains("/src/") && !file.starts_with("crates/cli/"))
        .collect();
    let printing = places(&libraries, |code| PRINTING.iter().any(|print| has_word(code, print)));
    must_be_empty("return it to the caller; only crates/cli, bench and xtask print", &printing);
}

#[test]
fn unsafe_stands_where_it_must() {
    let elsewhere: Vec<_> = rust_files()
        .into_iter()
        .filter(|file| !UNSAFE_PLACES.iter().any(|place| file.starts_with(place)))
        // This file has the word in its rules.
        .filter(|file| !file.starts_with("xtask/tests/tidy"))
        .collect();
    let unsafe_code = places(&elsewhere, |code| has_word(code, "unsafe"));
    must_be_empty(&format!("only {UNSAFE_PLACES:?} may hold unsafe code"), &unsafe_code);
}

#[test]
fn the_simulator_knows_no_world() {
    let knowing = places(&files("crates/sim/src", "rs"), knows_the_world);
    must_be_empty("pass it in, or use a vector or BTreeMap: sim is pure", &knowing);
}

#[test]
fn the_simulator_counts_in_integers() {
    let is_float = |code: &str| has_word(code, "f64") || has_word(code, "f32");
    let floats = places(&files("crates/sim/src", "rs"), is_float);
    must_be_empty("rounding must not decide what a simulated drive does", &floats);
}

/// Iteration over a std `HashMap` changes from process to process, hence the word itself.
fn knows_the_world(code: &str) -> bool {
    if has_word(code, "HashMap") || has_word(code, "HashSet") {
        return true;
    }
    let Some((_, path)) = code.split_once("std::") else { return false };
    let path = path.trim_start_matches('{');
    let names = || path.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let grouped = code.contains("std::{");
    UNKNOWN_TO_SIM.iter().any(|module| {
        if grouped { names().any(|n| n == *module) } else { names().next() == Some(*module) }
    })
}

#[test]
fn the_world_is_recognised_in_its_forms() {
    assert!(knows_the_world("use std::time::Instant;"));
    assert!(knows_the_world("let t = std::time::Instant::now();"));
    assert!(knows_the_world("use std::{fmt, fs};"));
    assert!(knows_the_world("use std::collections::HashMap;"));
    assert!(!knows_the_world("use std::collections::BTreeMap;"));
    assert!(!knows_the_world("use std::ops::Range;"));
    assert!(!knows_the_world("let time = 3;"));
}
