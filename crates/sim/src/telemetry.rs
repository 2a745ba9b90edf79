//! Telemetry rows at exact marks of virtual time.

use base::TelemetryRow;

use crate::events::NEVER;

/// Totals in pages of 4,096 bytes, rounded down, from totals in granules of which so many make a page.
/// The host's pages are whole ones already.
#[must_use]
pub fn in_logical_pages(totals: TelemetryRow, page_granules: u32) -> TelemetryRow {
    if page_granules == 1 {
        return totals;
    }
    let granules = u64::from(page_granules);
    TelemetryRow {
        programmed_pages: totals.programmed_pages / granules,
        gc_moved_pages: totals.gc_moved_pages / granules,
        padding_pages: totals.padding_pages / granules,
        metadata_pages: totals.metadata_pages / granules,
        folded_pages: totals.folded_pages / granules,
        parity_pages: totals.parity_pages / granules,
        saved_pages: totals.saved_pages / granules,
        buffer_pages: totals.buffer_pages / granules,
        pslc_pages: totals.pslc_pages / granules,
        ..totals
    }
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
        self.rows.push(TelemetryRow {
            host_pages: totals.host_pages - last.host_pages,
            programmed_pages: totals.programmed_pages - last.programmed_pages,
            gc_moved_pages: totals.gc_moved_pages - last.gc_moved_pages,
            padding_pages: totals.padding_pages - last.padding_pages,
            metadata_pages: totals.metadata_pages - last.metadata_pages,
            folded_pages: totals.folded_pages - last.folded_pages,
            parity_pages: totals.parity_pages - last.parity_pages,
            saved_pages: totals.saved_pages - last.saved_pages,
            erased_superblocks: totals.erased_superblocks - last.erased_superblocks,
            die_busy_ns: totals.die_busy_ns - last.die_busy_ns,
            channel_busy_ns: totals.channel_busy_ns - last.channel_busy_ns,
            controller_busy_ns: totals.controller_busy_ns - last.controller_busy_ns,
            energy_nj: totals.energy_nj - last.energy_nj,
            ..totals
        });
        self.next_ns += self.interval_ns;
    }

    /// Moves the finished rows to `out`.
    pub fn take(&mut self, out: &mut Vec<TelemetryRow>) {
        out.append(&mut self.rows);
    }
}
