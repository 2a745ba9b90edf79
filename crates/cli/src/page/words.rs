//! The editor's words: from `--words FILE`, and from `words.md` in run directories.

use std::path::{Path, PathBuf};

use ::target::TargetError;
use device::host::small_file;
use result::import::IMPORTED;
use result::report::Report;
use result::report::words::{Chapter, TOP, add};
use result::store::RunDir;
use run::Test;

use crate::commands::sim::expose::record::TEST as EXPOSED;

/// Name of the words in a run directory.
const FILE: &str = "words.md";

/// Text of `--words FILE`, with the name of the file.
pub struct Words {
    path: PathBuf,
    text: String,
}

impl Words {
    /// Reads a file, before hours are spent on the figures that it quotes; `None` without one.
    ///
    /// # Errors
    /// If it cannot be read, is no text, or is too long.
    pub fn read(path: Option<&Path>) -> Result<Option<Self>, TargetError> {
        let Some(path) = path else { return Ok(None) };
        let text = small_file::read(path).map_err(|error| fault(path, &error))?;
        Ok(Some(Self { path: path.to_owned(), text }))
    }

    /// Adds the words to a report, their figures from all runs.
    ///
    /// # Errors
    /// For a chapter or a figure that the report does not have.
    pub fn add_to(&self, report: &mut Report) -> Result<(), TargetError> {
        let ids: Vec<_> = report.runs.iter().map(|run| run.run_id.clone()).collect();
        let ids: Vec<_> = ids.iter().map(String::as_str).collect();
        add(report, &self.text, &chapters(), TOP, &ids).map_err(|error| fault(&self.path, &error))
    }
}

/// Adds the words that stand in run directories: each in the chapter of its test, with figures of
/// its run.
///
/// # Errors
/// As for [`Words::read`] and [`Words::add_to`].
pub fn add_of_runs(report: &mut Report, runs: &[RunDir]) -> Result<(), TargetError> {
    for dir in runs {
        let path = dir.path().join(FILE);
        if !path.is_file() {
            continue;
        }
        let text = small_file::read(&path).map_err(|error| fault(&path, &error))?;
        let run = dir.run();
        add(report, &text, &chapters(), &run.test, &[run.run_id.as_str()])
            .map_err(|error| fault(&path, &error))?;
    }
    Ok(())
}

/// The chapters of a page: the tests, the results of other programs, and their work on exposed drives.
fn chapters() -> Vec<Chapter> {
    let chapter =
        |test: &str, heading: &str| Chapter { test: test.to_owned(), heading: heading.to_owned() };
    let tests = Test::ALL.into_iter().map(|test| chapter(test.name(), test.definition().heading));
    let others = [chapter(IMPORTED, "Imported results"), chapter(EXPOSED, "Exposed drives")];
    tests.chain(others).collect()
}

fn fault(path: &Path, fault: &dyn std::fmt::Display) -> TargetError {
    TargetError::Usage(format!("words in {}: {fault}", path.display()))
}
