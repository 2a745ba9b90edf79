//! The columns of both Parquet files, each with its conversion from and to a row. The order here is
//! the order in the files and in the checksums, so a new column may stand anywhere and none may
//! move. The telemetry columns are the table in [`base::telemetry`].
//! `docs/reference/formats/run-directory.md` has the meaning of each column.

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

fn column<R: 'static>(
    name: &'static str,
    required: bool,
    get: fn(&R) -> Option<u64>,
    set: fn(&mut R, u64),
) -> Column<R> {
    Column { name, required, get: Box::new(get), set: Box::new(set) }
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

/// A column of a field of its name, or of one of the per-kind arrays.
macro_rules! column {
    (required $field:ident) => {
        column(stringify!($field), true, |row| Some(row.$field), |row, value| row.$field = value)
    };
    (optional $field:ident) => {
        column(stringify!($field), false, |row| row.$field, |row, value| row.$field = Some(value))
    };
    ($name:literal, $array:ident, $kind:ident) => {
        column(
            $name,
            true,
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
        column!(required start_ns),
        column!(required duration_ns),
        column!("read_ios", ios, Read),
        column!("write_ios", ios, Write),
        column!("flush_ios", ios, Flush),
        column!("deallocate_ios", ios, Deallocate),
        column!("read_bytes", bytes, Read),
        column!("write_bytes", bytes, Write),
        column!("deallocate_bytes", bytes, Deallocate),
        column!(required errors),
        column!(optional offset_bytes),
        column!(optional latency_ns_p50),
        column!(optional latency_ns_p99),
        column!(optional latency_ns_max),
        column!(optional power_uw_mean),
        column!(optional power_uw_max),
    ]
}

/// The columns of `latency.parquet` after `phase`, `phase_index`, `second` and `op`.
pub(crate) static LATENCY: LazyLock<[Column<LatencyRow>; 2]> =
    LazyLock::new(|| [column!(required lower_ns), column!(required count)]);

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
        let text = include_str!("../../../../docs/reference/formats/run-directory.md");
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
