//! Telemetry rows at exact marks of virtual time.

use base::TelemetryRow;
use base::telemetry::ColumnUnit;

use crate::events::NEVER;

/// Totals in pages of 4,096 bytes, rounded down, from totals in granules of which so many make a page.
/// The host's pages are whole ones already.
#[must_use]
pub fn in_logical_pages(totals: TelemetryRow, page_granules: u32) -> TelemetryRow {
    if page_granules == 1 {
        return totals;
    }
    let pages = totals.map(|column, value| match column.unit {
        ColumnUnit::Pages => value / u64::from(page_granules),
        _ => value,
    });
    TelemetryRow { host_pages: totals.host_pages, ..pages }
}

/// Cuts running totals into rows, one per interval.
#[derive(Debug)]
pub struct Recorder {
    next_ns: u64,
    interval_ns: u64,
    last: TelemetryRow,
    rows: Vec<TelemetryRow>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { next_ns: NEVER, interval_ns: 0, last: TelemetryRow::default(), rows: Vec::new() }
    }
}

impl Recorder {
    /// Begins a new series at `now_ns`.
    pub fn start(&mut self, now_ns: u64, interval_ns: u64, totals: TelemetryRow) {
        self.rows.clear();
        self.interval_ns = interval_ns.max(1);
        self.next_ns = now_ns + self.interval_ns;
        self.last = totals;
    }

    /// True where a row ends before or at `until_ns`.
    #[inline]
    #[must_use]
    pub fn is_due(&self, until_ns: u64) -> bool {
        self.next_ns <= until_ns
    }

    /// When the row under way ends; [`NEVER`] without a series.
    #[must_use]
    pub fn mark_ns(&self) -> u64 {
        self.next_ns
    }

    /// Ends the row that is due.
    pub fn record(&mut self, totals: TelemetryRow) {
        let last = std::mem::replace(&mut self.last, totals);
        self.rows.push(totals.since(&last));
        self.next_ns += self.interval_ns;
    }

    /// Moves the finished rows to `out`.
    pub fn take(&mut self, out: &mut Vec<TelemetryRow>) {
        out.append(&mut self.rows);
    }
}
