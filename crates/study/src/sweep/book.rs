//! The directory of a sweep: its description, one line for each outcome, and the table at the end.
//!
//! A killed sweep loses at most the outcomes in progress: the next call with the same description
//! goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use base::file::open_regular;
use device::guard::check_replaceable;
use result::bench::FigureMark;
use result::dataset::{self, Column, Values};
use run::{RunError, TOOL_VERSION};

use super::adaptive;
use super::design::{self, Point};
use super::spec::{Spec, usage};
use super::task::{Outcome, Task};
use session::request;

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
    /// The points so far; an adaptive design adds more once all of them have their outcomes.
    points: Vec<Point>,
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
        let points = design::points(&spec)?;
        (0..points.len() as u64)
            .try_for_each(|point| spec.task(&points, point * u64::from(spec.repeat)).map(drop))?;
        let failed = |what: &str, path: &Path, error: &std::io::Error| {
            usage(format!("cannot {what} {}: {error}", path.display()))
        };
        fs::create_dir_all(dir).map_err(|error| failed("make", dir, &error))?;
        let runs = spec.keep_runs.then(|| dir.join(RUNS_DIR));
        let signed = format!("# {TOOL_VERSION}\n{text}");
        let (path, log_path) = (dir.join(SPEC_FILE), dir.join(OUTCOMES_FILE));
        match open_regular(&path).and_then(std::io::read_to_string) {
            Ok(earlier) if earlier == signed => {}
            Ok(_) => {
                return Err(usage(format!(
                    "{} holds another sweep, or one of another version of ssdlab; choose another directory",
                    dir.display()
                )));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if log_path.symlink_metadata().is_ok() {
                    return Err(usage(format!(
                        "{} belongs to no sweep that is described beside it; choose another directory",
                        log_path.display()
                    )));
                }
                let written =
                    File::create_new(&path).and_then(|mut file| file.write_all(signed.as_bytes()));
                written.map_err(|error| failed("write", &path, &error))?;
            }
            Err(error) => return Err(failed("read", &path, &error)),
        }
        let path = log_path;
        let outcomes = read_outcomes(&path).map_err(|error| failed("read", &path, &error))?;
        if path.symlink_metadata().is_ok() {
            if path.is_symlink() {
                return Err(usage(format!("{} is a link, and no file of a sweep", path.display())));
            }
            let resolved = path.canonicalize().map_err(|error| failed("find", &path, &error))?;
            check_replaceable(&path, &resolved)?;
        }
        let log = append_to(&path).map_err(|error| failed("write", &path, &error))?;
        Ok(Self { dir: dir.to_owned(), spec, points, outcomes, log, runs })
    }

    /// The directory of run directories, or `None` if only figures are kept.
    pub fn runs_dir(&self) -> Option<&Path> {
        self.runs.as_deref()
    }

    /// The number of tasks, also of rounds that have not begun.
    pub fn len(&self) -> usize {
        self.spec.runs_count().ok().and_then(|count| count.try_into().ok()).unwrap_or(usize::MAX)
    }

    /// Whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of the tasks without an outcome, in their order. Those of the next round of an adaptive
    /// design follow once every task of this one has its outcome; there are none when the sweep is done.
    ///
    /// # Errors
    /// [`RunError::Usage`] if no run has the goal of an adaptive design.
    pub fn pending(&mut self) -> Result<Vec<u64>, RunError> {
        loop {
            let begun = self.points.len() as u64 * u64::from(self.spec.repeat);
            let is_open = |number: &u64| !self.outcomes.contains_key(number);
            let pending: Vec<_> = (0..begun).filter(is_open).collect();
            if !pending.is_empty() || begun >= self.len() as u64 {
                return Ok(pending);
            }
            self.begin_round()?;
        }
    }

    /// Adds the points of the next round, which depend on all outcomes of the earlier ones.
    fn begin_round(&mut self) -> Result<(), RunError> {
        let left = self.spec.points_count()? - self.points.len() as u64;
        let count = usize::try_from(left.min(self.spec.round_length())).unwrap_or(usize::MAX);
        let goals: Vec<_> = (0..self.points.len()).map(|point| self.goal(point)).collect();
        let points = adaptive::round(&self.spec, &self.points, &goals, count)?;
        self.points.extend(points);
        Ok(())
    }

    /// The mean goal of the runs of a point.
    fn goal(&self, point: usize) -> Option<f64> {
        let (repeat, goal) = (u64::from(self.spec.repeat), self.spec.goal.as_ref()?);
        let first = point as u64 * repeat;
        let outcomes = self.outcomes.range(first..first + repeat);
        let goals: Vec<_> =
            outcomes.filter_map(|(_, outcome)| outcome.metrics.get(goal).copied()).collect();
        (!goals.is_empty()).then(|| goals.iter().sum::<f64>() / goals.len() as f64)
    }

    /// The task of this number.
    ///
    /// # Errors
    /// [`RunError::Usage`] if it has not begun.
    pub fn task(&self, number: u64) -> Result<Task, RunError> {
        self.spec.task(&self.points, number)
    }

    /// Whether a task has an outcome.
    pub fn has(&self, number: u64) -> bool {
        self.outcomes.contains_key(&number)
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
        if outcome.number >= self.len() as u64 {
            return Err(usage(format!("there is no task {}", outcome.number)));
        }
        let (wanted, goal) = (&self.spec.metrics, self.spec.goal.as_ref());
        let is_wanted = |name: &String| {
            wanted.is_empty() || wanted.contains(name) || goal.is_some_and(|goal| goal == name)
        };
        outcome.metrics.retain(|name, _| is_wanted(name));
        outcome.marks.retain(|mark| is_wanted(&mark.metric));
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
        dataset::write(&self.dir, DATASET_FILE, &self.columns()?)?;
        Ok(self.dir.join(DATASET_FILE))
    }

    /// One row for each outcome: number, differing values, request, error, figures.
    fn columns(&self) -> Result<Vec<Column>, RunError> {
        let count = self.outcomes.len();
        let texts = || Vec::with_capacity(count);
        let mut values: Vec<_> = self.spec.vary.keys().map(|_| texts()).collect();
        let (mut tests, mut targets, mut commands, mut errors) =
            (texts(), texts(), texts(), texts());
        let mut marks = texts();
        let (mut numbers, mut seeds) = (Vec::with_capacity(count), Vec::with_capacity(count));
        // One task at a time: a million of them are gigabytes.
        for outcome in self.outcomes.values() {
            let Task { number, request } = self.task(outcome.number)?;
            let point = self.point(number);
            for (axis, column) in values.iter_mut().enumerate() {
                column.push(point.and_then(|point| point.get(axis).cloned()));
            }
            commands.push(Some(request::command(&request)));
            numbers.push(i64::try_from(number).ok());
            seeds.push(i64::try_from(request.seed).ok());
            tests.push(Some(request.test));
            targets.push(Some(request.target));
            errors.push(outcome.error.clone());
            marks.push(words_of(&outcome.marks));
        }
        let column = |name: &str, values| Column { name: name.to_owned(), values };
        let mut columns = vec![column("task", Values::Whole(numbers))];
        for (name, values) in self.spec.vary.keys().zip(values) {
            columns.push(column(&format!("vary.{name}"), Values::Texts(values)));
        }
        columns.push(column("test", Values::Texts(tests)));
        columns.push(column("target", Values::Texts(targets)));
        columns.push(column("command", Values::Texts(commands)));
        columns.push(column("seed", Values::Whole(seeds)));
        columns.push(column("error", Values::Texts(errors)));
        columns.push(column("marks", Values::Texts(marks)));
        columns.extend(self.figures());
        Ok(columns)
    }

    /// A column for each figure that an outcome has, or that the description asks for.
    fn figures(&self) -> Vec<Column> {
        let known = self.outcomes.values().flat_map(|outcome| outcome.metrics.keys());
        let names: BTreeSet<_> = known.chain(&self.spec.metrics).collect();
        let column = |name: &String| {
            let values = self.outcomes.values().map(|outcome| outcome.metrics.get(name).copied());
            Column { name: name.clone(), values: Values::Numbers(values.collect()) }
        };
        names.into_iter().map(column).collect()
    }

    /// The point of a task.
    fn point(&self, number: u64) -> Option<&Point> {
        let point = number / u64::from(self.spec.repeat);
        usize::try_from(point).ok().and_then(|point| self.points.get(point))
    }
}

/// Marks as one text, `KIND: FIGURE, FIGURE; KIND: FIGURE`, or `None` if there are none.
fn words_of(marks: &[FigureMark]) -> Option<String> {
    let mut by_kind: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for mark in marks {
        let kind = serde_json::to_value(mark.kind).unwrap_or_default();
        by_kind.entry(kind.as_str().unwrap_or_default().to_owned()).or_default().push(&mark.metric);
    }
    let words = |(kind, metrics): (String, Vec<&str>)| format!("{kind}: {}", metrics.join(", "));
    (!by_kind.is_empty()).then(|| by_kind.into_iter().map(words).collect::<Vec<_>>().join("; "))
}

/// The outcomes of earlier calls. A kill may have cut the last line short.
fn read_outcomes(path: &Path) -> std::io::Result<BTreeMap<u64, Outcome>> {
    let text = match open_regular(path).and_then(std::io::read_to_string) {
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

    use target::TargetError;

    use super::*;
    use crate::loops::{attach, require_or_skip};
    use crate::sweep;
    use session::pool::Limits;

    const SPEC: &str = "metrics = ['iops_steady_mean', 'waf_steady']\n\
        [fixed]\ndrive = 'samsung-840-pro-256gb'\nscale = '1/512'\n'set.duration' = '2s'\n'set.steady_from' = '1s'\n\
        [vary]\n'gc.policy' = ['greedy', 'fifo', 'magic']\nspare = ['default', '30%']";

    fn swept(dir: &Path, jobs: u32, most: usize) -> PathBuf {
        let book = Mutex::new(Book::open(dir, SPEC).unwrap());
        let mut tasks = sweep::round(&book).unwrap();
        tasks.truncate(most);
        let demands = sweep::demands(&tasks).unwrap();
        let stop = AtomicBool::new(false);
        let limits = Limits::new(Some(jobs));
        sweep::carry_out(&tasks, &demands, limits, &stop, &book, |_, _| ()).unwrap();
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
        assert_eq!(Book::open(parts.path(), SPEC).unwrap().pending().unwrap().len(), 5);
        let table = swept(parts.path(), 2, 9);
        assert_eq!(fs::read(table).unwrap(), whole);
        let mut book = Book::open(parts.path(), SPEC).unwrap();
        assert!(book.pending().unwrap().is_empty());
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

    #[test]
    fn a_log_of_somebody_else_or_in_use_is_not_written_to() {
        if !require_or_skip("a_log_of_somebody_else_or_in_use_is_not_written_to", &["losetup"]) {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join(OUTCOMES_FILE);
        fs::write(&log, "").unwrap();
        let refused = Book::open(dir.path(), SPEC).unwrap_err().to_string();
        assert!(refused.contains("belongs to no sweep"), "{refused}");
        assert!(!dir.path().join(SPEC_FILE).exists());
        fs::remove_file(&log).unwrap();
        drop(Book::open(dir.path(), SPEC).unwrap());
        let _node = attach(&log, &[]);
        let used = Book::open(dir.path(), SPEC).unwrap_err();
        let is_refused =
            matches!(used, RunError::Target(TargetError::Refused { code: "held", .. }));
        assert!(is_refused, "{used}");
    }
}
