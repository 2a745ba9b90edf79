//! Telemetry rows at exact times of the virtual clock.

use base::TelemetryRow;
use base::telemetry::ColumnUnit;

use crate::events::NEVER;
use crate::geometry::{Geometry, PAGE_BYTES};

/// Totals in pages of 4,096 bytes, rounded down, from totals in physical pages. The host's pages are such already.
pub fn in_host_pages(totals: TelemetryRow, geometry: &Geometry) -> TelemetryRow {
    let page_bytes = geometry.physical_page_bytes();
    if page_bytes == PAGE_BYTES {
        return totals;
    }
    let pages = totals.map(|column, value| match column.unit {
        ColumnUnit::Pages => value * page_bytes / PAGE_BYTES,
        _ => value,
    });
    TelemetryRow { host_pages: totals.host_pages, ..pages }
}

/// Cuts running totals into rows, one per interval; the last one may be shorter.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Recorder {
    /// Start and end of the present row.
    start_ns: u64,
    next_ns: u64,
    /// End of the series.
    end_ns: u64,
    interval_ns: u64,
    last: TelemetryRow,
    rows: Vec<TelemetryRow>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            start_ns: 0,
            next_ns: NEVER,
            end_ns: NEVER,
            interval_ns: 0,
            last: TelemetryRow::default(),
            rows: Vec::new(),
        }
    }
}

impl Recorder {
    /// Begins a new series at `now_ns`.
    pub fn start(&mut self, now_ns: u64, interval_ns: u64, totals: TelemetryRow) {
        self.rows.clear();
        self.interval_ns = interval_ns.max(1);
        self.start_ns = now_ns;
        self.next_ns = now_ns + self.interval_ns;
        self.end_ns = NEVER;
        self.last = totals;
    }

    /// Ends the present series at the future time `end_ns`, and with it the last row.
    pub fn stop_at(&mut self, end_ns: u64) {
        if self.next_ns != NEVER {
            self.end_ns = self.end_ns.min(end_ns);
            self.next_ns = self.next_ns.min(self.end_ns);
        }
    }

    /// Whether a row ends before or at `until_ns`.
    #[inline]
    pub fn is_due(&self, until_ns: u64) -> bool {
        self.next_ns <= until_ns
    }

    /// End of the present row; [`NEVER`] without a series.
    pub fn mark_ns(&self) -> u64 {
        self.next_ns
    }

    /// Ends the due row; a row of no length is omitted unless something was counted at that very
    /// moment.
    pub fn record(&mut self, totals: TelemetryRow) {
        let last = std::mem::replace(&mut self.last, totals);
        if self.next_ns > self.start_ns || totals != last {
            self.rows.push(totals.since(&last));
        }
        self.start_ns = self.next_ns;
        let is_over = self.next_ns >= self.end_ns;
        self.next_ns =
            if is_over { NEVER } else { (self.next_ns + self.interval_ns).min(self.end_ns) };
    }

    /// Moves the finished rows to `out`.
    pub fn take(&mut self, out: &mut Vec<TelemetryRow>) {
        out.append(&mut self.rows);
    }
}
