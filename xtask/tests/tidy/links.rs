//! Rules for what is not Rust: links lead somewhere, and nothing names the machine it was made on.

use super::source::{files, kept_files, read, root};

/// The targets of `[text](target)` in a Markdown text.
fn targets(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to).collect()
}

fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:") && !target.starts_with('#')
}

/// Whether the file that a target names stands beside `file`; an anchor within it is not looked
/// for.
fn leads_somewhere(file: &str, target: &str) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    root().join(file).parent().is_some_and(|dir| dir.join(path).exists())
}

#[test]
fn links_lead_somewhere() {
    let mut dead = Vec::new();
    for file in files("", "md") {
        let text = read(&file);
        for target in targets(&text).into_iter().filter(|target| is_relative(target)) {
            if !leads_somewhere(&file, target) {
                dead.push(format!("{file}: {target}"));
            }
        }
    }
    assert!(dead.is_empty(), "links to nothing:\n  {}", dead.join("\n  "));
}

/// Pages of the past: they name files of their time.
const PAST: [&str; 2] = ["CHANGELOG.md", "docs/notes/"];

/// The words in backticks that begin like a folder of the checkout and are no pattern.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    const TOPS: [&str; 5] = ["crates/", "xtask/", "web/", "docs/", "tests/python/"];
    let words = text.split('`').skip(1).step_by(2);
    words.filter(|word| TOPS.iter().any(|top| word.starts_with(top)) && !word.contains([' ', '*']))
}

#[test]
fn pages_name_files_that_exist() {
    let is_past = |file: &String| PAST.iter().any(|past| file.starts_with(past));
    let mut missing = Vec::new();
    let mut named = 0;
    for file in files("", "md").into_iter().filter(|file| !is_past(file)) {
        let text = read(&file);
        named += named_paths(&text).count();
        let gone = named_paths(&text).filter(|path| !root().join(path).exists());
        missing.extend(gone.map(|path| format!("{file}: {path}")));
    }
    assert!(named > 40, "the pages are read wrongly: {named} paths");
    assert!(missing.is_empty(), "files that do not exist:\n  {}", missing.join("\n  "));
}

#[test]
fn targets_are_found() {
    assert_eq!(targets("see [a](b.md) and [c](d/e.md#f), not (g)"), ["b.md", "d/e.md#f"]);
    assert!(leads_somewhere("README.md", "xtask/src/main.rs#anchor"));
    assert!(!leads_somewhere("README.md", "no-such-file.md"));
}

#[test]
fn no_file_names_the_checkout() {
    let here = root().to_string_lossy().into_owned();
    let naming: Vec<_> = kept_files()
        .into_iter()
        .filter(|file| std::fs::read_to_string(root().join(file)).is_ok_and(|t| t.contains(&*here)))
        .collect();
    assert!(naming.is_empty(), "{here} works on one machine only: {naming:?}");
}

#[test]
fn lock_files_name_no_mirror() {
    let npm = std::fs::read_to_string(root().join("web/package-lock.json")).unwrap_or_default();
    assert!(!npm.contains("\"resolved\": \"http"), "use omit-lockfile-registry-resolved=true");
    let cargo = read("Cargo.lock");
    let other = cargo.lines().find(|line| {
        line.starts_with("source = ") && !line.contains("registry+https://github.com/rust-lang/")
    });
    assert_eq!(other, None, "a package that does not come from crates.io");
}
