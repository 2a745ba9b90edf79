//! The columns of both Parquet files, each with its conversion from and to a row. The order here is
//! the order in the files and in the checksums, so a new column may stand anywhere and none may
//! move. The telemetry columns are the table in [`base::telemetry`].
//! `docs/formats/run-directory.md` has the meaning of each column.

use std::sync::LazyLock;

use base::telemetry::TelemetryColumn;
use base::{OpKind, TelemetryRow};

use crate::rows::{LatencyRow, SecondRow};

/// Takes a value out of a row.
type Get<R> = Box<dyn Fn(&R) -> Option<u64> + Send + Sync>;
/// Puts a value into a row.
type Set<R> = Box<dyn Fn(&mut R, u64) + Send + Sync>;

/// One integer column of a row type; in the file it is a signed 64-bit integer.
pub(crate) struct Column<R> {
    /// Name in the file.
    pub(crate) name: &'static str,
    /// Whether every row has a value, so that a file without the column is damaged.
    pub(crate) required: bool,
    /// Takes the value out of a row.
    pub(crate) get: Get<R>,
    /// Puts the value into a row.
    pub(crate) set: Set<R>,
}

fn required<R: 'static>(
    name: &'static str,
    get: fn(&R) -> Option<u64>,
    set: fn(&mut R, u64),
) -> Column<R> {
    Column { name, required: true, get: Box::new(get), set: Box::new(set) }
}

fn optional<R: 'static>(
    name: &'static str,
    get: fn(&R) -> Option<u64>,
    set: fn(&mut R, u64),
) -> Column<R> {
    Column { name, required: false, get: Box::new(get), set: Box::new(set) }
}

/// A column of the table in [`base::telemetry`].
fn telemetry(column: &'static TelemetryColumn) -> Column<SecondRow> {
    Column {
        name: column.name,
        required: false,
        get: Box::new(|row| row.telemetry.as_ref().map(column.get)),
        set: Box::new(|row, value| (column.set)(row.telemetry.get_or_insert_default(), value)),
    }
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
pub(crate) static SERIES: LazyLock<Vec<Column<SecondRow>>> = LazyLock::new(|| {
    let telemetry = TelemetryRow::COLUMNS.iter().map(telemetry);
    host_columns().into_iter().chain(telemetry).collect()
});

/// The columns that every target has.
fn host_columns() -> [Column<SecondRow>; 16] {
    [
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
        optional(
            "offset_bytes",
            |row| row.offset_bytes,
            |row, value| row.offset_bytes = Some(value),
        ),
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
        optional(
            "power_uw_max",
            |row| row.power_uw_max,
            |row, value| row.power_uw_max = Some(value),
        ),
    ]
}

/// The columns of `latency.parquet` after `phase`, `phase_index`, `second` and `op`.
pub(crate) static LATENCY: LazyLock<[Column<LatencyRow>; 2]> = LazyLock::new(|| {
    [
        required("lower_ns", |row| Some(row.lower_ns), |row, value| row.lower_ns = value),
        required("count", |row| Some(row.count), |row, value| row.count = value),
    ]
});

/// The kind of command with this name in result files.
pub(crate) fn op_kind(name: &[u8]) -> Option<OpKind> {
    OpKind::ALL.into_iter().find(|kind| kind.name().as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::telemetry::ColumnKind;

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
    fn the_description_of_the_format_lists_the_telemetry_columns() {
        let text = include_str!("../../../../docs/formats/run-directory.md");
        let from = text.find("| `host_pages`").expect("the first one");
        let described: Vec<_> = text[from..].lines().take_while(|line| !line.is_empty()).collect();
        assert_eq!(described.len(), TelemetryRow::COLUMNS.len());
        for (line, column) in described.iter().zip(TelemetryRow::COLUMNS) {
            let level = if column.kind == ColumnKind::Level { "level at the end: " } else { "" };
            let start = format!("| `{}` | yes | {} | {level}", column.name, column.unit.name());
            assert!(line.starts_with(&start), "{line}\nshould start with\n{start}");
            assert_eq!(line.contains("level"), column.kind == ColumnKind::Level, "{line}");
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
