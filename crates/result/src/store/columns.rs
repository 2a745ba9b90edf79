//! The columns of both Parquet files, each with how it is taken from a row and put back. The order here is the
//! order in the files and that of checksums, so a new column may stand anywhere and none may move. What each column
//! means is in `docs/formats/run-directory.md`.

use base::{OpKind, TelemetryRow};

use crate::rows::{LatencyRow, SecondRow};

/// One integer column of a row type; in the file it is a signed 64-bit integer.
pub(crate) struct Column<R> {
    /// Name in the file.
    pub(crate) name: &'static str,
    /// True where every row has a value, so that a file without the column is damaged.
    pub(crate) required: bool,
    /// Takes the value out of a row.
    pub(crate) get: fn(&R) -> Option<u64>,
    /// Puts the value into a row.
    pub(crate) set: fn(&mut R, u64),
}

const fn required<R>(
    name: &'static str,
    get: fn(&R) -> Option<u64>,
    set: fn(&mut R, u64),
) -> Column<R> {
    Column { name, required: true, get, set }
}

const fn optional<R>(
    name: &'static str,
    get: fn(&R) -> Option<u64>,
    set: fn(&mut R, u64),
) -> Column<R> {
    Column { name, required: false, get, set }
}

fn telemetry(row: &mut SecondRow) -> &mut TelemetryRow {
    row.telemetry.get_or_insert_default()
}

/// A telemetry column of the same name as its field.
macro_rules! telemetry_column {
    ($field:ident) => {
        optional(
            stringify!($field),
            |row: &SecondRow| row.telemetry.map(|t| t.$field),
            |row, value| telemetry(row).$field = value,
        )
    };
}

/// A column of one of the per-kind arrays.
macro_rules! kind_column {
    ($name:literal, $array:ident, $kind:ident) => {
        required(
            $name,
            |row: &SecondRow| Some(row.$array[OpKind::$kind.index()]),
            |row, value| row.$array[OpKind::$kind.index()] = value,
        )
    };
}

/// The columns of `series.parquet` after `phase`, `phase_index` and `second`.
pub(crate) const SERIES: [Column<SecondRow>; 32] = [
    required("start_ns", |row| Some(row.start_ns), |row, value| row.start_ns = value),
    required("duration_ns", |row| Some(row.duration_ns), |row, value| row.duration_ns = value),
    kind_column!("read_ios", ios, Read),
    kind_column!("write_ios", ios, Write),
    kind_column!("flush_ios", ios, Flush),
    kind_column!("deallocate_ios", ios, Deallocate),
    kind_column!("read_bytes", bytes, Read),
    kind_column!("write_bytes", bytes, Write),
    kind_column!("deallocate_bytes", bytes, Deallocate),
    required("errors", |row| Some(row.errors), |row, value| row.errors = value),
    optional("offset_bytes", |row| row.offset_bytes, |row, value| row.offset_bytes = Some(value)),
    optional(
        "latency_ns_p50",
        |row| row.latency_ns_p50,
        |row, value| row.latency_ns_p50 = Some(value),
    ),
    optional(
        "latency_ns_p99",
        |row| row.latency_ns_p99,
        |row, value| row.latency_ns_p99 = Some(value),
    ),
    optional(
        "latency_ns_max",
        |row| row.latency_ns_max,
        |row, value| row.latency_ns_max = Some(value),
    ),
    optional(
        "power_uw_mean",
        |row| row.power_uw_mean,
        |row, value| row.power_uw_mean = Some(value),
    ),
    optional("power_uw_max", |row| row.power_uw_max, |row, value| row.power_uw_max = Some(value)),
    telemetry_column!(host_pages),
    telemetry_column!(programmed_pages),
    telemetry_column!(gc_moved_pages),
    telemetry_column!(padding_pages),
    telemetry_column!(metadata_pages),
    telemetry_column!(folded_pages),
    telemetry_column!(parity_pages),
    telemetry_column!(saved_pages),
    telemetry_column!(erased_superblocks),
    telemetry_column!(free_superblocks),
    telemetry_column!(buffer_pages),
    telemetry_column!(pslc_pages),
    telemetry_column!(die_busy_ns),
    telemetry_column!(channel_busy_ns),
    telemetry_column!(controller_busy_ns),
    telemetry_column!(energy_nj),
];

/// The columns of `latency.parquet` after `phase`, `phase_index`, `second` and `op`.
pub(crate) const LATENCY: [Column<LatencyRow>; 2] = [
    required("lower_ns", |row| Some(row.lower_ns), |row, value| row.lower_ns = value),
    required("count", |row| Some(row.count), |row, value| row.count = value),
];

/// The kind of command that a result file calls `name`.
pub(crate) fn op_kind(name: &[u8]) -> Option<OpKind> {
    OpKind::ALL.into_iter().find(|kind| kind.name().as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_returns_what_was_put_in() {
        let mut row = SecondRow::default();
        for (column, value) in SERIES.iter().zip(1..) {
            (column.set)(&mut row, value);
        }
        for (column, value) in SERIES.iter().zip(1..) {
            assert_eq!((column.get)(&row), Some(value), "{}", column.name);
        }
    }

    #[test]
    fn kinds_are_found_by_their_names() {
        for kind in OpKind::ALL {
            assert_eq!(op_kind(kind.name().as_bytes()), Some(kind));
        }
        assert_eq!(op_kind(b"erase"), None);
    }
}
