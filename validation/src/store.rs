//! Runs of cells, each done once: a later call finds those of an earlier one.
//!
//! The place of a run follows from its command and the values of the drive model. Beside it stands its rehearsal, with
//! which one by the present program must agree. A run appears in its place when it is complete.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;
use std::{fs, io, thread};

use base::{Fnv, Ratio};
use result::store::{self, RunDir};
use sim::model::built_in_table;
use toml::Table;

use crate::cell::Cell;
use crate::experiment::{Experiment, Figures};
use crate::rehearsal;

/// The file beside a run with its rehearsal by the program that did it.
const REHEARSAL: &str = "rehearsal.txt";

/// The file beside a run that names the last program whose rehearsal agreed.
const PROGRAM: &str = "program.txt";

/// The file of the figures of an experiment.
const FIGURES: &str = "figures.json";

/// The runs that are known so far, or the reason why there is none.
pub type Runs = BTreeMap<Cell, Result<RunDir, String>>;

/// A directory of runs.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    /// Size and age of this program, which need not rehearse twice; `None` if the system does not tell.
    program: Option<String>,
    /// The rehearsals by this program so far, by the keys of their runs.
    rehearsals: Mutex<BTreeMap<String, String>>,
}

impl Store {
    /// The store in a directory.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, program: program(), rehearsals: Mutex::default() }
    }

    /// The run of a cell, or `None` if it has not been done.
    pub fn find(&self, cell: &Cell) -> Option<RunDir> {
        let library = self.known(&run_key(cell)?, &|| rehearsal::of_cell(cell))?;
        store::list(&library).ok()?.into_iter().find_map(|entry| RunDir::open(&entry.path).ok())
    }

    /// The run of a cell, done now if it has not been done.
    ///
    /// # Errors
    /// If there is no model of the drive, or the run is refused or fails.
    pub fn run(&self, cell: &Cell) -> Result<RunDir, String> {
        let key = run_key(cell).ok_or("no model")?;
        if let Some(found) = self.find(cell) {
            return Ok(found);
        }
        self.keep(&key, &|| rehearsal::of_cell(cell), |place| cell.run(place).map(|_| ()))?;
        self.find(cell).ok_or_else(|| format!("{}: no run", self.dir.join(&key).display()))
    }

    /// The place with this key, or `None` if it is empty or its rehearsal has other figures now.
    fn known(&self, key: &str, rehearse: &dyn Fn() -> String) -> Option<PathBuf> {
        let place = self.dir.join(key);
        let then = fs::read_to_string(place.join(REHEARSAL)).ok()?;
        if self.program.is_some() && fs::read_to_string(place.join(PROGRAM)).ok() == self.program {
            return Some(place);
        }
        let agrees = rehearsal::agrees(&then, &self.rehearsal(key, rehearse));
        // Without the file the next call rehearses again.
        let _ = agrees.then(|| self.sign(&place));
        agrees.then_some(place)
    }

    /// Says beside a run that its rehearsal by this program agrees.
    fn sign(&self, place: &Path) -> io::Result<()> {
        self.program.as_ref().map_or(Ok(()), |program| fs::write(place.join(PROGRAM), program))
    }

    /// The rehearsal of the run with this key, done once.
    fn rehearsal(&self, key: &str, rehearse: &dyn Fn() -> String) -> String {
        let rehearsals = || self.rehearsals.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(done) = rehearsals().get(key) {
            return done.clone();
        }
        let done = rehearse();
        rehearsals().insert(key.to_owned(), done.clone());
        done
    }

    /// Does a work in a directory, which then becomes the place with this key.
    fn keep(
        &self,
        key: &str,
        rehearse: &dyn Fn() -> String,
        work: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<(), String> {
        let place = self.dir.join(key);
        let unfinished = self.dir.join(format!("{key}.{}", std::process::id()));
        let done = work(&unfinished).and_then(|()| {
            let then = self.rehearsal(key, rehearse);
            let kept = fs::write(unfinished.join(REHEARSAL), then)
                .and_then(|()| replace(&unfinished, &place));
            kept.map_err(|error| format!("{}: {error}", place.display()))
        });
        if done.is_err() {
            // Nothing else has written there, and the reason is told.
            let _ = fs::remove_dir_all(&unfinished);
        }
        done
    }

    /// Does the runs of all cells, some at the same time, and tells `observer` after each.
    pub fn run_all(
        &self,
        cells: &[Cell],
        jobs: usize,
        observer: &(dyn Fn(&Cell, &Result<RunDir, String>) + Sync),
    ) -> Runs {
        let next = AtomicUsize::new(0);
        let runs = Mutex::new(Runs::new());
        let take = || {
            while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                let done = self.run(cell);
                observer(cell, &done);
                runs.lock().unwrap_or_else(PoisonError::into_inner).insert(cell.clone(), done);
            }
        };
        thread::scope(|scope| {
            for _ in 0..jobs.max(1) {
                scope.spawn(take);
            }
        });
        runs.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The figures of an experiment at a scale, done now if it has not been done and `may_run`.
    ///
    /// # Errors
    /// If there is no model of the drive, it is refused, or the figures cannot be kept.
    pub fn figures(
        &self,
        experiment: &Experiment,
        scale: Ratio,
        may_run: bool,
    ) -> Result<Figures, String> {
        let command = format!("{experiment}, {scale}");
        let key = key_of(&experiment.drive, &command).ok_or("no model")?;
        let rehearse = || rehearsal::of_experiment(experiment);
        if let Some(figures) = self.known(&key, &rehearse).and_then(|place| kept_figures(&place)) {
            return Ok(figures);
        }
        if !may_run {
            return Err("not run".to_owned());
        }
        let figures = experiment.run(scale)?;
        let named: BTreeMap<_, _> =
            figures.iter().map(|(figure, value)| (figure.to_string(), value)).collect();
        let text = serde_json::to_string(&named).map_err(|error| error.to_string())?;
        self.keep(&key, &rehearse, |place| {
            let written =
                fs::create_dir_all(place).and_then(|()| fs::write(place.join(FIGURES), text));
            written.map_err(|error| format!("{}: {error}", place.display()))
        })?;
        Ok(figures)
    }
}

/// The figures at a place, or `None` if it has none that can be read.
fn kept_figures(place: &Path) -> Option<Figures> {
    let text = fs::read_to_string(place.join(FIGURES)).ok()?;
    let figures: BTreeMap<String, f64> = serde_json::from_str(&text).ok()?;
    let known = |(name, value): (String, f64)| Some((name.parse().ok()?, value));
    Some(figures.into_iter().filter_map(known).collect())
}

/// Size and age of the running program, or `None` if the system does not tell.
fn program() -> Option<String> {
    let file = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let age = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {}", file.len(), age.as_nanos()))
}

/// The name of the place of a cell: a hash of its command and of the values of its model, or `None` without a model of
/// its drive.
pub(crate) fn run_key(cell: &Cell) -> Option<String> {
    key_of(&cell.drive, &cell.to_string())
}

fn key_of(drive: &str, what: &str) -> Option<String> {
    let mut table = built_in_table(drive)?;
    leave_values(&mut table);
    let mut hash = Fnv::EMPTY;
    for text in [what, &table.to_string()] {
        hash.add([text.len() as u64]);
        hash.add(text.bytes().map(u64::from));
    }
    Some(format!("{:016x}", hash.value()))
}

/// Leaves out facts, and the sources of values.
fn leave_values(table: &mut Table) {
    table.retain(|key, _| !["facts", "from"].contains(&key));
    table.iter_mut().filter_map(|(_, value)| value.as_table_mut()).for_each(leave_values);
}

/// Gives a directory the name of another one, if there is one.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    match fs::remove_dir_all(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::rename(from, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(drive: &str) -> Cell {
        Cell {
            drive: drive.to_owned(),
            values: Vec::new(),
            test: "linear".to_owned(),
            settings: Vec::new(),
            spare: None,
            scale: Some("1/1024".to_owned()),
        }
    }

    #[test]
    fn a_run_is_done_once_and_a_refused_one_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().to_owned());
        let sound = cell("intel-ssd-730-480gb");
        let cells = [sound.clone(), cell("nobody"), sound.with_value("gc.free_low", "0")];
        let runs = store.run_all(&cells, 2, &|_, _| ());
        let first = runs[&cells[0]].as_ref().unwrap();
        assert_eq!(runs[&cells[1]].as_ref().unwrap_err(), "no model");
        assert!(runs[&cells[2]].as_ref().unwrap_err().contains("`gc.free_low`"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "refused runs leave nothing");
        assert_eq!(store.run(&sound).unwrap().path(), first.path());
        let place = dir.path().join(run_key(&sound).unwrap());
        fs::write(place.join(REHEARSAL), "linear.write.mb_per_s 1\n").unwrap();
        assert!(store.find(&sound).is_some(), "this program did it");
        let store = Store { program: Some("another".to_owned()), ..store };
        store.rehearsals.lock().unwrap().clear();
        assert!(store.find(&sound).is_none(), "a program of another behaviour, another run");
        store.run(&sound).unwrap();
        assert!(store.find(&sound).is_some(), "done again in its place");
    }

    #[test]
    fn sources_and_facts_do_not_decide_a_run() {
        let text = "facts.dies = 3\na = { value = 1, from = 'x' }\n[b.c]\nfrom = 'y'\nvalue = 2";
        let mut table: Table = toml::from_str(text).unwrap();
        leave_values(&mut table);
        assert_eq!(table, toml::from_str("a.value = 1\nb.c.value = 2").unwrap());
        assert_ne!(run_key(&cell("crucial-m4-128gb")), run_key(&cell("crucial-m4-256gb")));
    }
}
