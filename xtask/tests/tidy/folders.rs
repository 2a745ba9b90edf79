//! A folder is read at a glance: more files than that want folders by subject.

use std::collections::BTreeMap;

use super::source::{kept_files, root};

/// Files that may lie loose in a folder.
const FILES_MAX: usize = 15;

/// Folders of code and pages.
const TOPS: [&str; 6] = ["crates/", "docs/", "fuzz/", "py/", "web/", "xtask/"];

/// Names of folders of data, whose lists need no reader.
const DATA: [&str; 2] = ["corpus", "snapshots"];

/// The folders with more files than they may have, each with their number.
fn too_full<'a>(files: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for file in files.filter(|file| TOPS.iter().any(|top| file.starts_with(top))) {
        let Some((folder, _)) = file.rsplit_once('/') else { continue };
        if !folder.split('/').any(|name| DATA.contains(&name)) {
            *counts.entry(folder).or_insert(0) += 1;
        }
    }
    counts.retain(|_, count| *count > FILES_MAX);
    counts
}

#[test]
fn folders_are_read_at_a_glance() {
    let kept = kept_files();
    let there = kept.iter().filter(|file| root().join(file).exists());
    let full = too_full(there.map(String::as_str));
    assert!(full.is_empty(), "at most {FILES_MAX} loose files; sort these by subject: {full:?}");
}

#[test]
fn a_full_folder_is_noticed_and_data_is_not() {
    let files = |folder: &str, count: usize| -> Vec<String> {
        (0..count).map(|number| format!("{folder}/{number}.rs")).collect()
    };
    let all = [
        files("crates/a/src", FILES_MAX + 1),
        files("crates/a/src/b", FILES_MAX),
        files("xtask/tests/snapshots", FILES_MAX + 1),
        files("drives", FILES_MAX + 1),
    ];
    let full = too_full(all.iter().flatten().map(String::as_str));
    assert_eq!(full, BTreeMap::from([("crates/a/src", FILES_MAX + 1)]));
}
