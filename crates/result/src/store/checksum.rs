//! Checksums of the content of a run directory, in `run.json`. They cover the rows and not the
//! files: a crash between two renames leaves files with a phase more than `run.json` lists, and the
//! other rows remain valid. Beside them, each file carries a [`seal`] over its own bytes.

use crc32fast::Hasher;

use super::columns::{LATENCY, SERIES};
use super::seal;
use crate::rows::{LatencyRow, PhaseRows, SecondRow};
use crate::schema::{Checksums, Run, RunFile, TableChecksums};

/// Columns of `series.parquet` before those of [`SERIES`].
const SERIES_KEY: usize = 3;
/// Columns of `latency.parquet` before those of [`LATENCY`].
const LATENCY_KEY: usize = 4;

/// Rows per update of the checksum.
const BATCH_ROWS: usize = 1 << 12;

/// Columns of `series.parquet`.
pub(super) fn series_columns() -> u32 {
    (SERIES_KEY + SERIES.len()) as u32
}

/// Columns of `latency.parquet`.
pub(super) fn latency_columns() -> u32 {
    (LATENCY_KEY + LATENCY.len()) as u32
}

/// The checksum of one phase of `series.parquet`, over the columns that `has` accepts.
pub(super) fn of_seconds(rows: &[SecondRow], has: impl Fn(&str) -> bool) -> u32 {
    let mut sum = Hasher::new();
    add(&mut sum, "second", rows, |row| Some(u64::from(row.second)));
    for column in SERIES.iter().filter(|column| has(column.name)) {
        add(&mut sum, column.name, rows, &column.get);
    }
    sum.finalize()
}

/// The checksum of one phase of `latency.parquet`.
pub(super) fn of_latencies(rows: &[LatencyRow], has: impl Fn(&str) -> bool) -> u32 {
    let mut sum = Hasher::new();
    add(&mut sum, "second", rows, |row| Some(u64::from(row.second)));
    add(&mut sum, "op", rows, |row| Some(row.op.index() as u64));
    for column in LATENCY.iter().filter(|column| has(column.name)) {
        add(&mut sum, column.name, rows, &column.get);
    }
    sum.finalize()
}

/// Adds a column: its name, then each value in 8 bytes, the lowest first; a null is -1. A column of
/// nulls alone counts as missing, so that readers with and without it agree.
fn add<R>(sum: &mut Hasher, name: &str, rows: &[R], get: impl Fn(&R) -> Option<u64>) {
    if rows.iter().all(|row| get(row).is_none()) {
        return;
    }
    sum.update(name.as_bytes());
    let mut bytes = Vec::with_capacity(8 * BATCH_ROWS);
    for rows in rows.chunks(BATCH_ROWS) {
        bytes.clear();
        bytes.extend(rows.iter().flat_map(|row| get(row).unwrap_or(u64::MAX).to_le_bytes()));
        sum.update(&bytes);
    }
}

/// Checksums of the rows of one phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseChecksums {
    series: u32,
    latency: u32,
}

impl PhaseChecksums {
    /// The checksums of all columns.
    pub(super) fn of(rows: &PhaseRows) -> Self {
        Self {
            series: of_seconds(&rows.seconds, |_| true),
            latency: of_latencies(&rows.latencies, |_| true),
        }
    }
}

/// The bytes of `run.json`, with the checksums of all rows and of itself. `of_phase` gives those of
/// the phase at a position; a phase without rows has the checksum of nothing.
pub(super) fn run_json(run: &Run, of_phase: impl Fn(usize) -> Option<PhaseChecksums>) -> Vec<u8> {
    let of_phases = |checksum: fn(PhaseChecksums) -> u32| {
        (0..run.phases.len()).map(|index| seal::text(of_phase(index).map_or(0, checksum))).collect()
    };
    let series = TableChecksums {
        columns: series_columns(),
        sealed: true,
        phases: of_phases(|phase| phase.series),
    };
    let latency = TableChecksums {
        columns: latency_columns(),
        sealed: true,
        phases: of_phases(|phase| phase.latency),
    };
    sealed(run, Some(Checksums { series, latency, run_json: seal::BLANK.to_owned() }))
}

/// The bytes of `run.json` after a change of its description; the checksums of rows stay.
pub(super) fn rewritten(run: &Run, checksums: Option<&Checksums>) -> Vec<u8> {
    let run_json = seal::BLANK.to_owned();
    sealed(run, checksums.map(|checksums| Checksums { run_json, ..checksums.clone() }))
}

fn sealed(run: &Run, checksums: Option<Checksums>) -> Vec<u8> {
    let file = RunFile { run: run.clone(), checksums };
    // Only maps with keys that are not text can fail, and a run has none.
    let mut json = serde_json::to_vec_pretty(&file).unwrap_or_default();
    json.push(b'\n');
    seal::set(&mut json, seal::OF_RUN_JSON);
    json
}
