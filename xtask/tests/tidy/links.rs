//! Rules for what is not Rust: links lead somewhere, and nothing names the machine it was made on.

use std::collections::BTreeSet;

use super::source::{files, kept_files, read, root};

/// The targets of `[text](target)` in a Markdown text.
fn targets(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to).collect()
}

fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:")
}

/// Whether the file that a target names stands beside `file`, and has a heading for the anchor.
fn leads_somewhere(file: &str, target: &str) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let own = root().join(file);
    let there = match path {
        "" => own,
        path => own.with_file_name(path),
    };
    let is_page = there.extension().is_some_and(|ending| ending == "md");
    let text =
        if is_page { std::fs::read_to_string(&there).unwrap_or_default() } else { String::new() };
    there.exists() && (anchor.is_empty() || anchors(&text).any(|own| own == anchor))
}

/// The anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let mut is_block = false;
    let outside = text.lines().filter(move |line| {
        is_block ^= line.starts_with("```");
        !is_block
    });
    let headings = outside.filter_map(|line| line.strip_prefix('#'));
    headings.map(|heading| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        heading.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    })
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

/// A reader of the book has nothing but docs/, where SUMMARY.md becomes the sidebar and no page.
#[test]
fn the_book_has_every_page_and_leads_to_no_other() {
    let pages: BTreeSet<_> = files("docs", "md").into_iter().collect();
    let summary = read("docs/SUMMARY.md");
    let listed = targets(&summary).into_iter().map(|page| format!("docs/{page}"));
    let mut listed: Vec<_> = listed.chain(["docs/SUMMARY.md".to_owned()]).collect();
    listed.sort();
    assert_eq!(listed, pages.iter().cloned().collect::<Vec<_>>());
    let mut outside = Vec::new();
    for page in pages {
        let depth = page.matches('/').count() - 1;
        let text = read(&page);
        let leaves = |target: &&str| {
            is_relative(target)
                && (target.matches("../").count() > depth || target.ends_with("SUMMARY.md"))
        };
        outside.extend(targets(&text).into_iter().filter(leaves).map(|to| format!("{page}: {to}")));
    }
    assert!(outside.is_empty(), "links that a book does not have: {outside:?}");
}

/// The page of the past: it names files of its time.
const PAST: [&str; 1] = ["CHANGELOG.md"];

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

/// Path and name of the test in a row of the list of stumbles.
fn named_test(row: &str) -> Option<(&str, &str)> {
    let (before, name) = row.strip_suffix("` |")?.rsplit_once("`: `")?;
    Some((before.rsplit_once('`')?.1, name))
}

#[test]
fn stumbles_name_tests_that_exist() {
    let text = read("docs/notes/stumbles.md");
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| --"));
    let rows: Vec<_> = rows.filter(|row| !row.starts_with("| stumble |")).collect();
    assert!(rows.len() > 60, "the list is read wrongly: {} rows", rows.len());
    let is_there = |(path, name): (&str, &str)| {
        let forms = [format!("fn {name}("), format!("def {name}("), format!("\"{name}\"")];
        let test = read(path);
        forms.iter().any(|form| test.contains(form))
    };
    let gone: Vec<_> =
        rows.into_iter().filter(|row| !named_test(row).is_some_and(is_there)).collect();
    assert!(gone.is_empty(), "tests that do not exist:\n  {}", gone.join("\n  "));
}

#[test]
fn targets_are_found() {
    assert_eq!(targets("see [a](b.md) and [c](d/e.md#f), not (g)"), ["b.md", "d/e.md#f"]);
    assert!(leads_somewhere("README.md", "ARCHITECTURE.md#code-map"));
    assert!(leads_somewhere("README.md", "#two-commands"));
    assert!(!leads_somewhere("README.md", "ARCHITECTURE.md#no-such-heading"));
    let headings = "# `run`, and *more*\n```\n# a comment\n```\n## Two_words";
    assert_eq!(anchors(headings).collect::<Vec<_>>(), ["run-and-more", "two_words"]);
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
