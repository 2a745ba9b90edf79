//! The list of checks whose removal a test must notice, from the files in `xtask/mutants/`.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// The folder of the list, a file for each subject.
pub(super) const FOLDER: &str = "xtask/mutants";

/// One check without which a test must fail.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mutant {
    /// Its name, for `--only`.
    pub(super) name: String,
    /// The file with the check, from the top of the checkout.
    pub(super) file: String,
    /// The text of the check, which occurs once in the file.
    pub(super) text: String,
    /// The text in its place.
    pub(super) becomes: String,
    /// The test that fails without the check.
    pub(super) test: TestName,
    /// Another check that alone keeps the test passing, or `None` if there is none; both are removed then.
    pub(super) covered_by: Option<String>,
}

/// A test by package, program (`lib` for unit tests) and filter, separated by blanks.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
pub(super) struct TestName {
    pub(super) package: String,
    pub(super) program: String,
    pub(super) filter: String,
}

impl TryFrom<String> for TestName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match *text.split_whitespace().collect::<Vec<_>>() {
            [package, program, filter] => Ok(Self {
                package: package.to_owned(),
                program: program.to_owned(),
                filter: filter.to_owned(),
            }),
            _ => Err(format!("`{text}` is no test; expected PACKAGE PROGRAM FILTER")),
        }
    }
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.package, self.program, self.filter)
    }
}

impl TestName {
    /// Package and name of its program.
    pub(super) fn program(&self) -> (&str, &str) {
        (&self.package, &self.program)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Subject {
    mutant: Vec<Mutant>,
}

/// The whole list; entries of one test program stand together, which saves builds.
pub(super) fn read(root: &Path) -> Result<Vec<Mutant>> {
    let folder = root.join(FOLDER);
    let entries = folder.read_dir().with_context(|| format!("cannot list {FOLDER}"))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        let subject = toml::from_str::<Subject>(&text);
        all.extend(subject.with_context(|| format!("in {}", path.display()))?.mutant);
    }
    all.sort_by(|a, b| (a.test.program(), &a.file).cmp(&(b.test.program(), &b.file)));
    Ok(all)
}

/// Makes sure that every text is in its file once, and every name in the list once.
pub(super) fn check(root: &Path, all: &[Mutant]) -> Result<()> {
    let mut names = BTreeSet::new();
    for mutant in all {
        let Mutant { name, file, text, becomes, covered_by, .. } = mutant;
        ensure!(names.insert(name), "the check {name} is listed twice");
        ensure!(text != becomes, "the check {name} is replaced by itself");
        let content = std::fs::read_to_string(root.join(file))
            .with_context(|| format!("the check {name}: cannot read {file}"))?;
        let count = content.matches(text.as_str()).count();
        if count != 1 {
            bail!(
                "the text of the check {name} occurs {count} times in {file}, not once; change its entry in \
                 {FOLDER} to the check as it is now:\n{text}"
            );
        }
        if let Some(cover) = covered_by {
            let is_listed = all.iter().any(|other| other.name == *cover && other.name != *name);
            ensure!(is_listed, "the check {name} is covered by {cover}, which is not listed");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::switches::switched;
    use super::*;

    fn root() -> std::path::PathBuf {
        // Not compiled in: two checkouts may share a target directory.
        let xtask = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
        Path::new(&xtask).parent().unwrap().to_path_buf()
    }

    #[test]
    fn every_check_of_the_list_is_in_the_source() {
        let all = read(&root()).unwrap();
        check(&root(), &all).unwrap();
        for file in all.iter().map(|mutant| &mutant.file).collect::<BTreeSet<_>>() {
            let source = std::fs::read_to_string(root().join(file)).unwrap();
            let of_file: Vec<_> = all.iter().filter(|mutant| mutant.file == *file).collect();
            switched(&source, &of_file).unwrap();
        }
        assert!(all.iter().any(|mutant| mutant.file == "crates/device/src/guard.rs"));
    }

    #[test]
    fn an_entry_whose_check_has_changed_is_noticed() {
        let mut all = read(&root()).unwrap();
        all.truncate(1);
        all[0].covered_by = None;
        let file = all[0].file.clone();
        all[0].text.push_str(" and more");
        let error = check(&root(), &all).unwrap_err().to_string();
        assert!(error.contains("occurs 0 times") && error.contains(&file), "{error}");
        all[0].text = "\n".to_owned();
        let error = check(&root(), &all).unwrap_err().to_string();
        assert!(error.contains("times in") && !error.contains("occurs 0"), "{error}");
    }

    #[test]
    fn a_test_has_a_package_a_program_and_a_filter() {
        let test = TestName::try_from("ssdlab-io block_guard a::b".to_owned()).unwrap();
        assert_eq!(test.to_string(), "ssdlab-io block_guard a::b");
        assert!(TestName::try_from("ssdlab-io block_guard".to_owned()).is_err());
    }
}
