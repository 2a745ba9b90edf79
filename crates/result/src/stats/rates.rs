//! Rates from counts. A rate divides by the true length of its interval, never by "one second".

use base::OpKind;

use crate::rows::SecondRow;

/// Seconds in `duration_ns`, as a float.
pub fn seconds(duration_ns: u64) -> f64 {
    duration_ns as f64 / 1e9
}

/// Completed commands of every kind per second; `None` for an interval of no length.
pub fn iops(row: &SecondRow) -> Option<f64> {
    per_second(row.ios.iter().sum(), row.duration_ns)
}

/// Decimal megabytes (10^6 bytes) read and written per second; `None` for an interval of no length.
pub fn mb_per_s(row: &SecondRow) -> Option<f64> {
    let moved = [OpKind::Read, OpKind::Write].map(|kind| row.bytes[kind.index()]);
    per_second(moved.iter().sum(), row.duration_ns).map(|rate| rate / 1e6)
}

/// Write amplification of an interval, programmed pages / host pages; `None` if it is not known or
/// the host wrote nothing.
pub fn waf(rows: &[SecondRow]) -> Option<f64> {
    let telemetry = rows.iter().filter_map(|row| row.telemetry.as_ref());
    let (host, programmed) = telemetry.fold((0, 0), |(host, programmed), t| {
        (host + t.host_pages, programmed + t.programmed_pages)
    });
    (host > 0).then(|| programmed as f64 / host as f64)
}

/// The rows that count as points of a graph: all except those much shorter than the usual interval.
/// The last interval of a run may last a few ms, and the rate of a few ms is noise.
pub fn full_intervals(rows: &[SecondRow]) -> Vec<&SecondRow> {
    let mut durations: Vec<u64> = rows.iter().map(|row| row.duration_ns).collect();
    durations.sort_unstable();
    let usual_ns = durations.get(durations.len() / 2).copied().unwrap_or(0);
    rows.iter().filter(|row| row.duration_ns > 0 && row.duration_ns >= usual_ns / 2).collect()
}

fn per_second(count: u64, duration_ns: u64) -> Option<f64> {
    (duration_ns > 0).then(|| count as f64 / seconds(duration_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::TelemetryRow;

    #[test]
    fn rates_divide_by_the_true_interval() {
        let row = SecondRow {
            duration_ns: 500_000_000,
            ios: [10, 20, 1, 0],
            bytes: [40_960, 81_920, 0, 0],
            ..SecondRow::default()
        };
        assert_eq!(iops(&row), Some(62.0));
        assert_eq!(mb_per_s(&row), Some(0.24576));
        assert_eq!(iops(&SecondRow::default()), None);
    }

    #[test]
    fn a_short_tail_is_no_point() {
        let row = |duration_ns| SecondRow { duration_ns, ..SecondRow::default() };
        let rows =
            [row(1_000_000_000), row(1_001_000_000), row(999_000_000), row(2_000_000), row(0)];
        assert_eq!(full_intervals(&rows).len(), 3);
        assert!(full_intervals(&[]).is_empty());
        assert!(full_intervals(&[row(0)]).is_empty());
    }

    #[test]
    fn waf_needs_host_writes() {
        let row = |host_pages, programmed_pages| SecondRow {
            telemetry: Some(TelemetryRow { host_pages, programmed_pages, ..Default::default() }),
            ..SecondRow::default()
        };
        assert_eq!(waf(&[row(10, 30), row(0, 10)]), Some(4.0));
        assert_eq!(waf(&[row(0, 30)]), None);
        assert_eq!(waf(&[SecondRow::default()]), None);
    }
}
