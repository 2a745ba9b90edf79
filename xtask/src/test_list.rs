//! The list of the suite's tests, written from the folder in which each of them is a file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use xtask::workspace::Workspace;

/// The folder of the tests: `CHAPTER/TEST.rs`. What a test has in files of its own lies deeper.
const FOLDER: &str = "crates/run/src/suite/catalog";

/// The path is spelled in halves: it is none of this crate.
const HEAD: &str = concat!(
    "//! The tests of the suite, a file each. `cargo xtask schema` writes this list from the folder.\n\n",
    "use crate",
    "::suite::Definition;\n"
);

/// The names of the tests, by chapter.
type Chapters = BTreeMap<String, Vec<String>>;

/// Writes the list anew.
pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    let folder = workspace.path(FOLDER);
    let list = folder.with_extension("rs");
    std::fs::write(&list, text(&chapters(&folder)?))
        .with_context(|| format!("cannot write {}", list.display()))
}

fn chapters(folder: &Path) -> Result<Chapters> {
    let mut chapters = Chapters::new();
    for chapter in names(folder, "")? {
        let tests = names(&folder.join(&chapter), ".rs")?;
        chapters.insert(chapter, tests);
    }
    Ok(chapters)
}

/// The entries of a folder without their ending, in order; those without this ending are left out.
fn names(folder: &Path, ending: &str) -> Result<Vec<String>> {
    let is_dir = ending.is_empty();
    let mut names = Vec::new();
    for entry in folder.read_dir().with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() == is_dir
            && let Some(stem) = name.strip_suffix(ending)
        {
            names.push(stem.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The list as rustfmt would write it.
fn text(chapters: &Chapters) -> String {
    let mut text = HEAD.to_owned();
    let mut paths = Vec::new();
    // Writing to a string cannot fail.
    for (chapter, tests) in chapters {
        let _ = writeln!(text, "\npub(crate) mod {chapter} {{");
        for test in tests {
            let _ = writeln!(text, "    pub(crate) mod {test};");
            paths.push(format!("    &{chapter}::{test}::DEFINITION,\n"));
        }
        text.push_str("}\n");
    }
    let count = paths.len();
    let _ = writeln!(text, "\n/// The definition of every test, by chapter and file.");
    let _ = writeln!(text, "pub(super) const DEFINITIONS: [&Definition; {count}] = [");
    text.extend(paths);
    text.push_str("];\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_list_is_that_of_the_folder() {
        // Not compiled in: two checkouts may share a target directory.
        let xtask = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
        let folder = Path::new(&xtask).join("..").join(FOLDER);
        let committed = std::fs::read_to_string(folder.with_extension("rs")).unwrap();
        let listed = text(&chapters(&folder).unwrap());
        assert!(committed == listed, "a test has come or gone: `cargo xtask schema`, and commit");
        assert!(listed.contains("&steady_state::trim::DEFINITION"));
        assert!(!listed.contains("compared"), "a part of the TRIM test is no test");
    }
}
