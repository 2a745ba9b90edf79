//! Runs of cells, each done once: a later call finds those of an earlier one.
//!
//! The place of a run follows from all that decides its content: the command, the values of the drive
//! model and the sources of the program. A run appears in its place when it is complete.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use base::{Fnv, Ratio};
use result::store::{self, RunDir};
use sim::model::built_in_table;

use crate::cell::Cell;
use crate::validation::{Experiment, Figures, Quantity};

/// The crates that decide the content of a run.
const SOURCES: [&str; 9] = [
    "crates/base/src",
    "crates/sim/src",
    "crates/target/src",
    "crates/load/src",
    "crates/io/src",
    "crates/result/src",
    "crates/run/src",
    "crates/reality/src/validation",
    "hosts",
];

/// The runs that are known so far, or the reason why there is none.
pub type Runs = BTreeMap<Cell, Result<RunDir, String>>;

/// A directory of runs.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    program: u64,
}

impl Store {
    /// The store in a directory, for the program in a checkout.
    ///
    /// # Errors
    /// If the sources cannot be read.
    pub fn new(dir: PathBuf, checkout: &Path) -> std::io::Result<Self> {
        let mut files = Vec::new();
        for source in SOURCES {
            collect(&checkout.join(source), &mut files)?;
        }
        files.sort();
        let mut program = Fnv::EMPTY;
        for file in files {
            add(&mut program, &fs::read(file)?);
        }
        Ok(Self { dir, program: program.value() })
    }

    /// The run of a cell, or `None` if it has not been done.
    #[must_use]
    pub fn find(&self, cell: &Cell) -> Option<RunDir> {
        let library = self.dir.join(self.key(cell)?);
        store::list(&library).ok()?.into_iter().find_map(|entry| RunDir::open(&entry.path).ok())
    }

    /// The run of a cell, done now if it has not been done.
    ///
    /// # Errors
    /// If there is no model of the drive, or the run is refused or fails.
    pub fn run(&self, cell: &Cell) -> Result<RunDir, String> {
        let key = self.key(cell).ok_or("no model")?;
        if let Some(found) = self.find(cell) {
            return Ok(found);
        }
        let place = self.dir.join(&key);
        let unfinished = self.dir.join(format!("{key}.{}", std::process::id()));
        let done = cell.run(&unfinished).and_then(|_| {
            let moved = fs::rename(&unfinished, &place);
            moved.map_err(|error| format!("{}: {error}", place.display()))
        });
        if let Err(reason) = done {
            // Nothing else has written there, and the reason is told.
            let _ = fs::remove_dir_all(&unfinished);
            return Err(reason);
        }
        self.find(cell).ok_or_else(|| format!("{}: no run", place.display()))
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
        let work = || {
            while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                let done = self.run(cell);
                observer(cell, &done);
                if let Ok(mut runs) = runs.lock() {
                    runs.insert(cell.clone(), done);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..jobs.max(1) {
                scope.spawn(work);
            }
        });
        runs.into_inner().unwrap_or_default()
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
        let what = format!("{experiment}, {scale}");
        let place = self.dir.join(self.key_of(&experiment.drive, &what).ok_or("no model")?);
        let kept = fs::read_to_string(&place).ok();
        if let Some(figures) = kept.and_then(|text| serde_json::from_str::<Vec<_>>(&text).ok()) {
            return Ok(Quantity::ALL.into_iter().zip(figures).filter_map(known).collect());
        }
        if !may_run {
            return Err("not run".to_owned());
        }
        let figures = experiment.run(scale)?;
        let all = Quantity::ALL.map(|quantity| figures.get(&quantity));
        let text = serde_json::to_string(&all[..]).map_err(|error| error.to_string())?;
        let kept = fs::create_dir_all(&self.dir).and_then(|()| fs::write(&place, text));
        kept.map_err(|error| format!("{}: {error}", place.display()))?;
        Ok(figures)
    }

    /// The name of the place of a cell, or `None` without a model of its drive.
    fn key(&self, cell: &Cell) -> Option<String> {
        self.key_of(&cell.drive, &cell.to_string())
    }

    fn key_of(&self, drive: &str, what: &str) -> Option<String> {
        let mut key = Fnv::EMPTY;
        add(&mut key, what.as_bytes());
        add(&mut key, built_in_table(drive)?.to_string().as_bytes());
        key.add([self.program]);
        Some(format!("{:016x}", key.value()))
    }
}

/// A figure that an experiment gives.
fn known((quantity, figure): (Quantity, Option<f64>)) -> Option<(Quantity, f64)> {
    figure.map(|figure| (quantity, figure))
}

fn add(sum: &mut Fnv, bytes: &[u8]) {
    sum.add([bytes.len() as u64]);
    sum.add(bytes.iter().map(|byte| u64::from(*byte)));
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
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
        let store = Store { dir: dir.path().to_owned(), program: 1 };
        let sound = cell("intel-ssd-730-480gb");
        let cells = [sound.clone(), cell("nobody"), sound.with_value("gc.free_low", "0")];
        let runs = store.run_all(&cells, 2, &|_, _| ());
        let first = runs[&cells[0]].as_ref().unwrap();
        assert_eq!(runs[&cells[1]].as_ref().unwrap_err(), "no model");
        assert!(runs[&cells[2]].as_ref().unwrap_err().contains("`gc.free_low`"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "refused runs leave nothing");
        assert_eq!(store.run(&sound).unwrap().path(), first.path());
        let newer = Store { program: 2, ..store };
        assert!(newer.find(&sound).is_none(), "another program, another run");
    }
}
