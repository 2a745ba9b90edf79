//! Run directories: written phase by phase, read in any version.
//!
//! `<library>/<run-id>/` contains `run.json`, `series.parquet` and `latency.parquet`; see
//! `docs/reference/formats/run-directory.md`. Every rewrite is atomic and durable, and `run.json` is replaced
//! last: rows of a phase that it does not list do not count.

mod alive;
mod atomic;
mod checksum;
pub(crate) mod columns;
mod decode;
pub mod dir;
mod encode;
mod error;
pub mod ios;
mod library;
mod live;
mod manage;
mod own;
mod pages;
mod reader;
mod seal;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub use error::StoreError;
pub use library::{LibraryEntry, free_bytes, list, preflight, resolve_run};
pub use live::{LIVE_FILE, LiveLog, LiveSecond, LiveTail};
pub use reader::RunDir;
pub(crate) use reader::row_contradictions;

pub(crate) use atomic::replace_files;
use atomic::sync_dir;
use dir::Dir;
use encode::EncodedPhase;

use crate::rows::PhaseRows;
use crate::run_id::{is_run_id, run_id};
use crate::schema::Run;

/// Name of the file that describes the run.
pub const RUN_FILE: &str = "run.json";
/// Name of the file with one row per second.
pub const SERIES_FILE: &str = "series.parquet";
/// Name of the file with the histogram bins.
pub const LATENCY_FILE: &str = "latency.parquet";

/// Writes one run directory. Keeps every finished phase in memory, compressed, so that no data are
/// lost with the disk: see [`RunWriter::rescue`].
pub struct RunWriter {
    path: PathBuf,
    /// Shows readers that the run continues.
    _alive: alive::Hold,
    phases: Vec<EncodedPhase>,
}

impl RunWriter {
    /// Creates `<library>/<run-id>/` with all three files, before the measurement.
    ///
    /// # Errors
    /// [`StoreError::RunId`] if its id cannot be a name, [`StoreError::RunExists`] if the name is taken;
    /// otherwise the error of the file system.
    pub fn create(library: &Path, run: &Run) -> Result<Self, StoreError> {
        if !is_run_id(&run.run_id) {
            return Err(StoreError::RunId { run_id: run.run_id.clone(), path: None });
        }
        fs::create_dir_all(library).map_err(StoreError::io("create", library))?;
        let path = library.join(&run.run_id);
        fs::create_dir(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => StoreError::RunExists { path: path.clone() },
            _ => StoreError::Io { action: "create", path: path.clone(), source },
        })?;
        sync_dir(library)?;
        let dir = Dir::open(&path).map_err(StoreError::io("open", &path))?;
        let writer = Self { _alive: alive::Hold::of(&dir), path, phases: Vec::new() };
        writer.write_all(&writer.path, run)?;
        Ok(writer)
    }

    /// Creates the run directory of a run under a free name, which the run then carries. `salt` keeps runs apart that
    /// start in the same second on the same drive.
    ///
    /// # Errors
    /// As [`RunWriter::create`].
    pub fn create_new(library: &Path, run: &mut Run, salt: u64) -> Result<Self, StoreError> {
        const NAMES_MAX: u64 = 100;
        let mut attempt = 0;
        loop {
            let (time, variant) = (run.started_unix_ns, &run.span.variant);
            let salt = salt.wrapping_add(attempt);
            run.run_id = run_id(time, &run.test, &run.target.name, variant, salt);
            attempt += 1;
            match Self::create(library, run) {
                Err(StoreError::RunExists { .. }) if attempt < NAMES_MAX => {}
                other => return other,
            }
        }
    }

    /// The run directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the rows of the last phase named `phase` in `run.phases`, and rewrites all three files.
    /// Another call for the same phase replaces the rows.
    ///
    /// # Errors
    /// As for [`RunWriter::add_phase`] and [`RunWriter::write`].
    pub fn write_phase(
        &mut self,
        run: &Run,
        phase: &str,
        rows: &PhaseRows,
    ) -> Result<(), StoreError> {
        self.add_phase(run, phase, rows)?;
        self.write(run)
    }

    /// Adds the rows of a phase in memory only, for a test of hundreds of short phases that would
    /// spend its time on rewriting; [`RunWriter::write`] puts them on disk.
    ///
    /// # Errors
    /// If the phase is not in `run.phases`, or a value is too large for the file.
    pub fn add_phase(
        &mut self,
        run: &Run,
        phase: &str,
        rows: &PhaseRows,
    ) -> Result<(), StoreError> {
        let index = phase_index(run, phase).ok_or_else(|| StoreError::PhaseUnknown {
            phase: phase.to_owned(),
            known: phase_names(run),
        })?;
        let encoded = EncodedPhase::new(index, phase, rows)?;
        self.phases.retain(|older| older.phase_index != index);
        self.phases.push(encoded);
        Ok(())
    }

    /// Rewrites all three files with every phase added so far.
    ///
    /// # Errors
    /// If a file cannot be written. The old files then stay, and the rows stay in memory for the
    /// next attempt or [`RunWriter::rescue`].
    pub fn write(&self, run: &Run) -> Result<(), StoreError> {
        self.write_all(&self.path, run)
    }

    /// Replaces `run.json`, with the current status, figures and findings.
    ///
    /// # Errors
    /// The error of the file system; the old `run.json` then stays.
    pub fn finish(&mut self, run: &Run) -> Result<(), StoreError> {
        replace_files(&self.path, &[(RUN_FILE, &self.run_json(run))])
    }

    /// Writes all data so far below `dir`, if the disk of the library is full or gone; returns the
    /// new run directory. Others may write to `dir` too: the run gets its own directory, with an
    /// unpredictable name and without access for others.
    ///
    /// # Errors
    /// The error of the file system; nothing is overwritten, and nothing remains.
    pub fn rescue(&self, dir: &Path, run: &Run) -> Result<PathBuf, StoreError> {
        let failed = StoreError::io("create a directory in", dir);
        let mut private = tempfile::Builder::new();
        private.prefix("ssdlab-rescued-").permissions(Permissions::from_mode(0o700));
        let private = private.tempdir_in(dir).map_err(failed)?;
        let path = private.path().join(&run.run_id);
        fs::create_dir(&path).map_err(StoreError::io("create", &path))?;
        self.write_all(&path, run)?;
        sync_dir(private.path())?;
        sync_dir(dir)?;
        let _ = private.keep();
        Ok(path)
    }

    fn run_json(&self, run: &Run) -> Vec<u8> {
        let encoded = |index| self.phases.iter().find(|phase| phase.phase_index == index);
        checksum::run_json(run, |index| encoded(index).map(|phase| phase.checksums))
    }

    fn write_all(&self, dir: &Path, run: &Run) -> Result<(), StoreError> {
        let series = encode::series_file(&self.phases)?;
        let latency = encode::latency_file(&self.phases)?;
        let json = self.run_json(run);
        replace_files(dir, &[(SERIES_FILE, &series), (LATENCY_FILE, &latency), (RUN_FILE, &json)])
    }
}

/// Position of the last phase of this name.
fn phase_index(run: &Run, phase: &str) -> Option<usize> {
    run.phases.iter().rposition(|candidate| candidate.name == phase)
}

fn phase_names(run: &Run) -> String {
    if run.phases.is_empty() {
        return "there are none".to_owned();
    }
    run.phases.iter().map(|phase| phase.name.as_str()).collect::<Vec<_>>().join(", ")
}
