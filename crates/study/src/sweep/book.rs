//! The directory of a sweep: its description, one line for each outcome, and the table at the end.
//!
//! A killed sweep loses at most the outcomes in progress: the next call with the same description
//! goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use result::dataset::{self, Column, Values};
use run::{RunError, TOOL_VERSION};

use super::spec::{Spec, usage};
use super::task::{Outcome, Task};
use crate::request;

/// The table, one row for each task.
pub const DATASET_FILE: &str = "sweep.parquet";
const SPEC_FILE: &str = "sweep.toml";
const OUTCOMES_FILE: &str = "outcomes.jsonl";
const RUNS_DIR: &str = "runs";

/// The directory of a sweep.
#[derive(Debug)]
pub struct Book {
    dir: PathBuf,
    spec: Spec,
    tasks: Vec<Task>,
    outcomes: BTreeMap<u64, Outcome>,
    log: File,
    runs: Option<PathBuf>,
}

impl Book {
    /// Opens the directory of a sweep, or makes it.
    ///
    /// # Errors
    /// [`RunError::Usage`] for a faulty description, and if the directory holds another sweep, or
    /// one of another version of ssdlab.
    pub fn open(dir: &Path, text: &str) -> Result<Self, RunError> {
        let spec = Spec::parse(text)?;
        let tasks = spec.tasks()?;
        let failed = |what: &str, path: &Path, error: &std::io::Error| {
            usage(format!("cannot {what} {}: {error}", path.display()))
        };
        fs::create_dir_all(dir).map_err(|error| failed("make", dir, &error))?;
        let runs = spec.keep_runs.then(|| dir.join(RUNS_DIR));
        let signed = format!("# {TOOL_VERSION}\n{text}");
        let path = dir.join(SPEC_FILE);
        match fs::read_to_string(&path) {
            Ok(earlier) if earlier == signed => {}
            Ok(_) => {
                return Err(usage(format!(
                    "{} holds another sweep, or one of another version of ssdlab; choose another directory",
                    dir.display()
                )));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::write(&path, signed).map_err(|error| failed("write", &path, &error))?;
            }
            Err(error) => return Err(failed("read", &path, &error)),
        }
        let path = dir.join(OUTCOMES_FILE);
        let outcomes = read_outcomes(&path).map_err(|error| failed("read", &path, &error))?;
        let log = append_to(&path).map_err(|error| failed("write", &path, &error))?;
        Ok(Self { dir: dir.to_owned(), spec, tasks, outcomes, log, runs })
    }

    /// The directory of run directories, or `None` if only figures are kept.
    #[must_use]
    pub fn runs_dir(&self) -> Option<&Path> {
        self.runs.as_deref()
    }

    /// The number of tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The tasks without an outcome, in their order.
    #[must_use]
    pub fn pending(&self) -> Vec<Task> {
        let is_open = |task: &&Task| !self.outcomes.contains_key(&task.number);
        self.tasks.iter().filter(is_open).cloned().collect()
    }

    /// The outcomes so far, by number.
    pub fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.values()
    }

    /// Notes an outcome; one that is known already changes nothing.
    ///
    /// # Errors
    /// [`RunError::Usage`] for an outcome of no task, and if it cannot be written.
    pub fn note(&mut self, mut outcome: Outcome) -> Result<(), RunError> {
        if outcome.number >= self.tasks.len() as u64 {
            return Err(usage(format!("there is no task {}", outcome.number)));
        }
        let wanted = &self.spec.metrics;
        outcome.metrics.retain(|name, _| wanted.is_empty() || wanted.contains(name));
        if self.outcomes.contains_key(&outcome.number) {
            return Ok(());
        }
        let written = serde_json::to_string(&outcome).map_err(std::io::Error::from);
        let written = written.and_then(|line| self.log.write_all(format!("{line}\n").as_bytes()));
        written.map_err(|error| {
            let path = self.dir.join(OUTCOMES_FILE);
            usage(format!("cannot write {}: {error}", path.display()))
        })?;
        self.outcomes.insert(outcome.number, outcome);
        Ok(())
    }

    /// Writes the table of all outcomes so far; returns its path.
    ///
    /// # Errors
    /// [`RunError::Store`] if it cannot be written.
    pub fn write(&self) -> Result<PathBuf, RunError> {
        dataset::write(&self.dir, DATASET_FILE, &self.columns())?;
        Ok(self.dir.join(DATASET_FILE))
    }

    /// One row for each outcome: number, differing values, request, error, figures.
    fn columns(&self) -> Vec<Column> {
        let rows: Vec<_> = self
            .outcomes
            .values()
            .filter_map(|outcome| {
                Some((self.tasks.get(usize::try_from(outcome.number).ok()?)?, outcome))
            })
            .collect();
        let texts = |name: &str, value: &dyn Fn(&Task, &Outcome) -> Option<String>| Column {
            name: name.to_owned(),
            values: Values::Texts(
                rows.iter().map(|(task, outcome)| value(task, outcome)).collect(),
            ),
        };
        let whole = |name: &str, value: &dyn Fn(&Task) -> u64| {
            let value = |(task, _): &(&Task, &Outcome)| i64::try_from(value(task)).ok();
            Column {
                name: name.to_owned(),
                values: Values::Whole(rows.iter().map(value).collect()),
            }
        };
        let mut columns = vec![whole("task", &|task| task.number)];
        for name in self.spec.vary.keys() {
            let value =
                |task: &Task| task.values.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
            columns.push(texts(&format!("vary.{name}"), &|task, _| value(task)));
        }
        columns.push(texts("test", &|task, _| Some(task.request.test.clone())));
        columns.push(texts("target", &|task, _| Some(task.request.target.clone())));
        columns.push(texts("command", &|task, _| Some(request::command(&task.request))));
        columns.push(whole("seed", &|task| task.request.seed));
        columns.push(texts("error", &|_, outcome| outcome.error.clone()));
        let names: BTreeSet<_> =
            rows.iter().flat_map(|(_, outcome)| outcome.metrics.keys()).collect();
        for name in names {
            let value = |(_, outcome): &(&Task, &Outcome)| outcome.metrics.get(name).copied();
            let values = Values::Numbers(rows.iter().map(value).collect());
            columns.push(Column { name: name.clone(), values });
        }
        columns
    }
}

/// The outcomes of earlier calls. A kill may have cut the last line short.
fn read_outcomes(path: &Path) -> std::io::Result<BTreeMap<u64, Outcome>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        other => other?,
    };
    let outcomes = text.lines().filter_map(|line| serde_json::from_str::<Outcome>(line).ok());
    Ok(outcomes.map(|outcome| (outcome.number, outcome)).collect())
}

/// The file, at the beginning of a line.
fn append_to(path: &Path) -> std::io::Result<File> {
    let cut_short = fs::read(path).is_ok_and(|text| text.last().is_some_and(|last| *last != b'\n'));
    let mut log = OpenOptions::new().create(true).append(true).open(path)?;
    if cut_short {
        log.write_all(b"\n")?;
    }
    Ok(log)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::pool::Limits;
    use crate::sweep;

    const SPEC: &str = "metrics = ['iops_steady_mean', 'waf_steady']\n\
        [fixed]\ndrive = 'samsung-840-pro-256gb'\nscale = '1/512'\n'set.duration' = '2s'\n'set.steady_from' = '1s'\n\
        [vary]\n'gc.policy' = ['greedy', 'fifo', 'magic']\nspare = ['default', '30%']";

    fn swept(dir: &Path, jobs: u32, most: usize) -> PathBuf {
        let book = Mutex::new(Book::open(dir, SPEC).unwrap());
        let pending = book.lock().unwrap().pending();
        let tasks = &pending[..pending.len().min(most)];
        let demands = sweep::demands(tasks).unwrap();
        let stop = AtomicBool::new(false);
        let limits = Limits::new(Some(jobs));
        sweep::carry_out(tasks, &demands, limits, &stop, &book, |_, _| ()).unwrap();
        book.lock().unwrap().write().unwrap()
    }

    #[test]
    fn a_sweep_that_was_cut_off_goes_on_and_ends_as_any_other() {
        let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let whole = fs::read(swept(whole.path(), 2, 9)).unwrap();
        swept(parts.path(), 1, 2);
        let log = parts.path().join(OUTCOMES_FILE);
        let mut text = fs::read_to_string(&log).unwrap();
        text.truncate(text.len() - 7);
        fs::write(&log, text).unwrap();
        assert_eq!(Book::open(parts.path(), SPEC).unwrap().pending().len(), 5);
        let table = swept(parts.path(), 2, 9);
        assert_eq!(fs::read(table).unwrap(), whole);
        let book = Book::open(parts.path(), SPEC).unwrap();
        assert!(book.pending().is_empty());
        let failed: Vec<_> = book.outcomes().filter(|outcome| outcome.error.is_some()).collect();
        assert_eq!(failed.len(), 2, "{failed:?}");
        assert!(book.outcomes().filter(|o| o.error.is_none()).all(|o| o.metrics.len() == 2));
    }

    #[test]
    fn a_directory_holds_one_sweep() {
        let dir = tempfile::tempdir().unwrap();
        Book::open(dir.path(), SPEC).unwrap();
        let other = format!("repeat = 2\n{SPEC}");
        let refused = Book::open(dir.path(), &other).unwrap_err().to_string();
        assert!(refused.contains("another sweep"), "{refused}");
    }
}
