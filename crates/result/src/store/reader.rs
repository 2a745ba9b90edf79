//! Reading one run directory.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use base::file::open_regular;
use serde::Deserialize;

use super::checksum::{self, latency_columns, series_columns};
use super::columns::{Column, SERIES};
use super::decode::{
    LATENCY_ROWS_MAX, LATENCY_ROWS_PER_BYTE_MAX, RowFile, SERIES_ROWS_MAX,
    SERIES_ROWS_PER_BYTE_MAX, guarded,
};
use super::dir::{Dir, Thing};
use super::seal::{self, Seal};
use super::{LATENCY_FILE, RUN_FILE, SERIES_FILE, StoreError, alive};
use crate::marks;
use crate::rows::{PhaseRows, SecondRow};
use crate::run_id::is_run_id;
use crate::schema::{Checksums, Phase, Run, RunStatus, SCHEMA_VERSION};

/// A run directory with its `run.json`; rows are read on demand.
#[derive(Clone, Debug)]
pub struct RunDir {
    pub(super) path: PathBuf,
    /// The directory that was read, whatever has its path now.
    pub(super) thing: Thing,
    pub(super) run: Run,
    /// Missing in old runs.
    pub(super) checksums: Option<Checksums>,
    /// Set once all bytes of the two Parquet files are known to be intact.
    series_is_whole: OnceLock<()>,
    latency_is_whole: OnceLock<()>,
}

/// The one field that every version of `run.json` has.
#[derive(Deserialize)]
struct VersionField {
    schema_version: u64,
}

/// The members that the store adds to a run.
#[derive(Deserialize)]
struct StoreMembers {
    checksums: Option<Checksums>,
}

impl RunDir {
    /// Reads `run.json` of the directory `path`; `path` may also be the `run.json` itself. A run
    /// with status `running` and without a writer becomes [`RunStatus::Interrupted`], with a
    /// warning.
    ///
    /// # Errors
    /// If there is no run, its `run.json` is damaged, or a newer version wrote it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let dir = if path.file_name().is_some_and(|name| name == RUN_FILE) {
            path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
        } else {
            path
        };
        let run_path = dir.join(RUN_FILE);
        let read = || {
            let held = Dir::open(dir)?;
            let mut text = Vec::new();
            held.file(RUN_FILE)?.read_to_end(&mut text)?;
            Ok((held.thing()?, text))
        };
        let (thing, text) = read().map_err(|source: std::io::Error| match source.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                StoreError::NotARun { path: path.to_owned() }
            }
            _ => StoreError::Io { action: "read", path: run_path.clone(), source },
        })?;
        let (mut run, checksums) = parse_run(&run_path, &text)?;
        if run.status == RunStatus::Running && alive::is_abandoned(dir) {
            say_that_the_writer_died(&mut run);
        }
        let mut dir = Self {
            path: dir.to_owned(),
            thing,
            run,
            checksums,
            series_is_whole: OnceLock::new(),
            latency_is_whole: OnceLock::new(),
        };
        let mut run = dir.run.clone();
        marks::reading::judge(&mut run, |phase| dir.rows(phase).ok());
        dir.run = run;
        Ok(dir)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content of `run.json`.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The rows of the phase at `phase_index` in [`Run::phases`]; empty for a phase without
    /// measurements.
    ///
    /// # Errors
    /// If the run has no such phase, or a Parquet file is missing or damaged.
    pub fn rows(&self, phase_index: usize) -> Result<PhaseRows, StoreError> {
        if phase_index >= self.run.phases.len() {
            return Err(self.unknown_phase(&phase_index.to_string()));
        }
        let seconds = self.read(SERIES_FILE, |file| {
            let rows = file.seconds(phase_index)?;
            let found = checksum::of_seconds(&rows, |column| file.has(column));
            self.check_rows(SERIES_FILE, phase_index, found)?;
            Ok(rows)
        })?;
        let latencies = self.read(LATENCY_FILE, |file| {
            let rows = file.latencies(phase_index)?;
            let found = checksum::of_latencies(&rows, |column| file.has(column));
            self.check_rows(LATENCY_FILE, phase_index, found)?;
            Ok(rows)
        })?;
        Ok(PhaseRows { seconds, latencies })
    }

    /// The phases with a row for each zone of the address space, by their place in [`Run::phases`].
    ///
    /// # Errors
    /// If the Parquet file is missing or damaged.
    pub fn zoned_phases(&self) -> Result<BTreeSet<usize>, StoreError> {
        let phases = self.run.phases.len();
        if phases == 0 {
            return Ok(BTreeSet::new());
        }
        self.read(SERIES_FILE, |file| file.zoned_phases(phases))
    }

    fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&RowFile) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let path = self.path.join(name);
        self.check_file(name, &path)?;
        let (rows_per_byte_max, rows_max) = if name == SERIES_FILE {
            (SERIES_ROWS_PER_BYTE_MAX, SERIES_ROWS_MAX)
        } else {
            (LATENCY_ROWS_PER_BYTE_MAX, LATENCY_ROWS_MAX)
        };
        guarded(&path, || {
            let file = RowFile::open(&path, rows_per_byte_max)?;
            file.check_rows(rows_max)?;
            read(&file)
        })
    }

    /// Makes sure that a Parquet file is intact, if `run.json` says that it has a checksum; once,
    /// since a run of many phases is read phase by phase.
    fn check_file(&self, name: &str, path: &Path) -> Result<(), StoreError> {
        let Some(checksums) = &self.checksums else { return Ok(()) };
        let (table, is_whole) = if name == SERIES_FILE {
            (&checksums.series, &self.series_is_whole)
        } else {
            (&checksums.latency, &self.latency_is_whole)
        };
        if !table.sealed || is_whole.get().is_some() {
            return Ok(());
        }
        let found = open_regular(path).and_then(seal::check_parquet);
        if found.map_err(StoreError::io("read", path))? != Seal::Whole {
            return Err(StoreError::FileChanged { path: path.to_owned() });
        }
        is_whole.get_or_init(|| ());
        Ok(())
    }

    /// Compares the rows of a phase with their checksums in `run.json`, if there are any and this
    /// program knows all of the columns.
    fn check_rows(&self, name: &str, phase_index: usize, found: u32) -> Result<(), StoreError> {
        let Some(checksums) = &self.checksums else { return Ok(()) };
        let (table, known) = if name == SERIES_FILE {
            (&checksums.series, series_columns())
        } else {
            (&checksums.latency, latency_columns())
        };
        let (found, written) = (seal::text(found), table.phases.get(phase_index));
        match written {
            Some(written) if table.columns <= known && *written != found => {
                Err(StoreError::RowsChanged {
                    path: self.path.join(name),
                    what: format!(
                        "the rows of phase {phase_index} (`{}`) have the checksum {found}, and {written} was \
                         written",
                        self.run.phases[phase_index].name
                    ),
                })
            }
            _ => Ok(()),
        }
    }

    /// The rows of the last phase named `phase`.
    ///
    /// # Errors
    /// As for [`RunDir::rows`].
    pub fn phase_rows(&self, phase: &str) -> Result<PhaseRows, StoreError> {
        let index =
            super::phase_index(&self.run, phase).ok_or_else(|| self.unknown_phase(phase))?;
        self.rows(index)
    }

    /// Compares the files with each other: rows without gaps, and the same number of commands in
    /// `run.json`, the series and the histogram. One sentence for each contradiction; none for a
    /// sound run. Phases without rows (a purge) are skipped. Counts of an imported run are not
    /// compared: logs of other programs are averages.
    ///
    /// # Errors
    /// As for [`RunDir::rows`].
    pub fn contradictions(&self) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        for (index, phase) in self.run.phases.iter().enumerate() {
            let rows = self.rows(index)?;
            if !rows.seconds.is_empty() {
                let of_phase = |what| format!("Phase {index} (`{}`): {what}", phase.name);
                let version = self.run.schema_version;
                let of_counts = match self.run.origin {
                    Some(_) => Vec::new(),
                    None => count_contradictions(phase, version, &rows),
                };
                found.extend(row_contradictions(&rows).into_iter().chain(of_counts).map(of_phase));
            }
        }
        Ok(found)
    }

    /// Makes sure that there is no contradiction, before a page or a continued run uses the data.
    ///
    /// # Errors
    /// [`StoreError::Contradiction`] for the first one, and as for [`RunDir::rows`].
    pub fn check(&self) -> Result<(), StoreError> {
        match self.contradictions()?.into_iter().next() {
            Some(what) => Err(StoreError::Contradiction { path: self.path.clone(), what }),
            None => Ok(()),
        }
    }

    fn unknown_phase(&self, phase: &str) -> StoreError {
        StoreError::PhaseUnknown { phase: phase.to_owned(), known: super::phase_names(&self.run) }
    }
}

/// Faults of the rows by themselves: gaps, and sums beyond those of any run.
pub(crate) fn row_contradictions(rows: &PhaseRows) -> Vec<String> {
    let gap = (0..).zip(&rows.seconds).find(|(want, row)| row.second != *want);
    let gap =
        gap.map(|(want, row)| format!("the row of second {want} is one of second {}", row.second));
    gap.into_iter().chain(too_large(rows)).collect()
}

/// Differences between the counts of the three files.
fn count_contradictions(phase: &Phase, version: u32, rows: &PhaseRows) -> Vec<String> {
    let of_series: u128 = rows.seconds.iter().flat_map(|row| row.ios).map(u128::from).sum();
    let of_histogram: u128 = rows.latencies.iter().map(|row| u128::from(row.count)).sum();
    let counts = [
        (SERIES_FILE, of_series, phase.ios),
        (LATENCY_FILE, of_histogram, phase.ios_in_latencies(version)),
    ];
    let unequal = counts.into_iter().filter(|(_, sum, want)| *sum != u128::from(*want));
    let words = |(file, sum, want)| format!("{file} counts {sum} commands, {RUN_FILE} {want}");
    unequal.map(words).collect()
}

/// Columns with sums beyond those of any run: figures add them, and each other, in 64 bits.
fn too_large(rows: &PhaseRows) -> impl Iterator<Item = String> {
    const SUM_MAX: u128 = 1 << 60;
    // Places and latencies are not added.
    let is_added =
        |name: &str| !matches!(name, "start_ns" | "offset_bytes") && !name.starts_with("latency");
    let sum = |column: &Column<SecondRow>| -> u128 {
        rows.seconds.iter().filter_map(&column.get).map(u128::from).sum()
    };
    SERIES
        .iter()
        .filter(move |column| is_added(column.name) && sum(column) > SUM_MAX)
        .map(|column| format!("`{}` of {SERIES_FILE} adds up to more than 2^60", column.name))
}

fn say_that_the_writer_died(run: &mut Run) {
    let kept = match run.phases.last() {
        Some(phase) => format!("what followed the phase `{}` is lost", phase.name),
        None => "no phase had ended".to_owned(),
    };
    run.status = RunStatus::Interrupted;
    run.warnings.push(format!(
        "the program ended without a word (killed, or the power went) and the run with it; {kept}"
    ));
}

fn parse_run(path: &Path, text: &[u8]) -> Result<(Run, Option<Checksums>), StoreError> {
    let seal_found = seal::check(text, seal::OF_RUN_JSON);
    let changed = || StoreError::RunChanged { path: path.to_owned() };
    if seal_found == Seal::Broken {
        return Err(changed());
    }
    let json_error = |error: serde_json::Error| StoreError::Json {
        path: path.to_owned(),
        reason: base::text::shortened_words(&error.to_string()),
    };
    let found = serde_json::from_slice::<VersionField>(text).map_err(json_error)?.schema_version;
    if found > u64::from(SCHEMA_VERSION) {
        return Err(StoreError::VersionTooNew {
            path: path.to_owned(),
            found,
            supported: SCHEMA_VERSION,
        });
    }
    let StoreMembers { checksums } = serde_json::from_slice(text).map_err(json_error)?;
    if checksums.is_some() && seal_found == Seal::Absent {
        return Err(changed());
    }
    let run: Run = serde_json::from_slice(text).map_err(json_error)?;
    if !is_run_id(&run.run_id) {
        return Err(StoreError::RunId { run_id: run.run_id, path: Some(path.to_owned()) });
    }
    Ok((run, checksums))
}
