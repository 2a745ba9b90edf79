//! Numbers and tables for a terminal.

use base::text::grouped;
use base::{Bytes, Nanos};
use result::metrics::Unit;
use result::stats::words::percent;

use super::out::data;

/// The space between two columns.
const GAP: &str = "  ";

/// A count with thousands separators: `12,345`.
pub fn count(value: f64) -> String {
    let text = grouped(&format!("{:.0}", value.abs()));
    if value <= -0.5 { format!("-{text}") } else { text }
}

/// A duration in seconds or minutes.
pub fn seconds(duration: Nanos) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 600.0 {
        return format!("{}m {:02.0}s", seconds as u64 / 60, (seconds % 60.0).floor());
    }
    if seconds >= 10.0 { format!("{seconds:.0}s") } else { format!("{seconds:.1}s") }
}

/// Bytes in decimal units, as storage is sold.
pub fn bytes(value: u64) -> String {
    Bytes(value).rounded()
}

/// A latency in a suitable unit.
pub fn latency(ns: f64) -> String {
    match ns {
        ns if ns >= 1e9 => format!("{:.2} s", ns / 1e9),
        ns if ns >= 1e6 => format!("{:.2} ms", ns / 1e6),
        ns if ns >= 1e3 => format!("{:.1} us", ns / 1e3),
        ns => format!("{ns:.0} ns"),
    }
}

/// A figure in the form of its unit.
pub fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Iops => format!("{} IOPS", count(value)),
        Unit::Ns => latency(value),
        Unit::Us => format!("{value:.1} us"),
        Unit::S if value.fract() == 0.0 => format!("{value:.0} s"),
        Unit::S => format!("{value:.1} s"),
        Unit::Min => format!("{value:.0} min"),
        Unit::Share if (0.01..0.995).contains(&value) => format!("{:.1}%", value * 100.0),
        Unit::Share => percent(value),
        Unit::Ratio => format!("{value:.3}"),
        Unit::MbPerS => format!("{value:.1} MB/s"),
        Unit::Bytes => bytes(value as u64),
        Unit::W => format!("{value:.3} W"),
        Unit::JPerGb => format!("{value:.1} J/GB"),
        Unit::IopsPerW => format!("{} IOPS/W", count(value)),
        Unit::MbPerSPerW => format!("{value:.1} MB/s/W"),
        Unit::Celsius => format!("{value:.0} degrees C"),
        Unit::Count => count(value),
    }
}

/// The widths of the columns of these rows.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    (0..columns).map(width).collect()
}

/// The rows with their first columns, as many as fit into a width; at least one.
pub fn leading_columns(mut rows: Vec<Vec<String>>, width: usize) -> Vec<Vec<String>> {
    let ends = widths(&rows).into_iter().scan(0, |end, width| {
        *end += width;
        let here = *end;
        *end += GAP.len();
        Some(here)
    });
    let fitting = ends.take_while(|&end| end <= width).count().max(1);
    rows.iter_mut().for_each(|row| row.truncate(fitting));
    rows
}

/// The rows as lines of columns; all but the last are padded.
pub fn lines(rows: &[Vec<String>]) -> Vec<String> {
    let widths = widths(rows);
    let line = |row: &Vec<String>| {
        // Not `{cell:width$}`, which takes widths up to 65,535 only.
        let padded = |cell: &String, width: usize| {
            format!("{cell}{}", " ".repeat(width.saturating_sub(cell.chars().count())))
        };
        let cells = row.iter().zip(&widths).map(|(cell, &width)| padded(cell, width));
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Prints rows in columns.
pub fn print(rows: &[Vec<String>]) {
    lines(rows).iter().for_each(|line| data!("{line}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1_234_567.4), "1,234,567");
        assert_eq!(count(999.0), "999");
        assert_eq!(count(0.2), "0");
        assert_eq!(seconds(Nanos(1_500_000_000)), "1.5s");
        assert_eq!(seconds(Nanos(2_000_000_000_000)), "33m 20s");
        assert_eq!(bytes(480_103_981_056), "480.1 GB");
        assert_eq!(latency(1_234_567.0), "1.23 ms");
    }

    #[test]
    fn a_wide_table_keeps_the_columns_that_fit() {
        let rows = || vec![vec!["name".to_owned(), "12,345".to_owned(), "x".repeat(9)]];
        let kept = |width| leading_columns(rows(), width)[0].len();
        assert_eq!((kept(21), kept(22), kept(23), kept(1)), (2, 2, 3, 1));
    }

    #[test]
    fn figures_have_the_form_of_their_unit() {
        assert_eq!(figure(12_345.6, Unit::Iops), "12,346 IOPS");
        assert_eq!(figure(61_200.0, Unit::Ns), "61.2 us");
        assert_eq!(figure(61.24, Unit::Us), "61.2 us");
        assert_eq!(figure(212.0, Unit::S), "212 s");
        assert_eq!(figure(3.26, Unit::S), "3.3 s");
        assert_eq!(figure(0.0123, Unit::Share), "1.2%");
        assert_eq!(figure(0.0, Unit::Share), "0%");
        assert_eq!(figure(0.9999, Unit::Share), "more than 99.9%");
        assert_eq!(figure(4.0, Unit::Ratio), "4.000");
        assert_eq!(figure(498.26, Unit::MbPerS), "498.3 MB/s");
        assert_eq!(figure(78_643_200.0, Unit::Bytes), "78.6 MB");
        assert_eq!(figure(0.042, Unit::W), "0.042 W");
        assert_eq!(figure(3.0, Unit::Count), "3");
    }
}
