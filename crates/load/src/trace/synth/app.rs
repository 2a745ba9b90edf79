//! One program: runs of I/Os of one kind and size, each beginning with a jump.

use base::Rng;

use super::calibrate::Cell;
use super::plan::AppPlan;
use crate::trace::Record;

const PAGE_BYTES: u64 = 4096;
const SECTOR_BYTES: u64 = 512;

/// Share of the jumps to the hot part.
const HOT_JUMPS: (u64, u64) = (4, 5);

/// A program with its state.
pub(super) struct App {
    plan: AppPlan,
    left: u64,
    jumps_left: u64,
    /// The present run: its cell, its next place, and its remaining I/Os.
    cell: usize,
    next_offset: u64,
    run_left: u64,
}

impl App {
    pub(super) fn new(plan: AppPlan) -> Self {
        let jumps_left = plan.cells.iter().map(|cell| cell.jumps).sum();
        let left = plan.cells.iter().map(|cell| cell.jumps + cell.sequential).sum();
        Self { plan, left, jumps_left, cell: 0, next_offset: 0, run_left: 0 }
    }

    /// Remaining I/Os.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Whether a run is in progress.
    pub(super) fn in_run(&self) -> bool {
        self.run_left > 0
    }

    /// Its next I/O, without time and depth; `None` if none is left.
    pub(super) fn next_record(&mut self, rng: &mut Rng) -> Option<Record> {
        if self.run_left == 0 {
            self.begin_run(rng)?;
        } else {
            self.run_left -= 1;
        }
        self.left -= 1;
        let Cell { op, len, .. } = self.plan.cells[self.cell];
        let mut record = Record::new(0, op, self.next_offset, len);
        record.stream = self.plan.stream;
        record.physical_percent = self.plan.physical_percent;
        self.next_offset += u64::from(len);
        Some(record)
    }

    /// Draws the kind of the next run, its length and its place.
    fn begin_run(&mut self, rng: &mut Rng) -> Option<()> {
        if self.jumps_left == 0 {
            return None;
        }
        let mut at = rng.below(self.jumps_left);
        self.cell = self.plan.cells.iter().position(|cell| {
            let here = at < cell.jumps;
            at = at.saturating_sub(cell.jumps);
            here
        })?;
        let cell = &mut self.plan.cells[self.cell];
        self.run_left = run_length(cell, rng);
        cell.sequential -= self.run_left;
        cell.jumps -= 1;
        self.jumps_left -= 1;
        let bytes = (self.run_left + 1) * u64::from(cell.len);
        self.next_offset = self.place(bytes, rng);
        Some(())
    }

    /// Start of a run of this number of bytes.
    fn place(&self, bytes: u64, rng: &mut Rng) -> u64 {
        let AppPlan { first_page, pages, hot_pages, unaligned_ppm, .. } = self.plan;
        let hot = rng.chance(HOT_JUMPS.0, HOT_JUMPS.1);
        let page = rng.below(if hot { hot_pages } else { pages });
        // A run that would leave the region begins earlier; one that is longer than it leaves it.
        let last = pages.saturating_sub(bytes.div_ceil(PAGE_BYTES));
        let aligned = (first_page + page.min(last)) * PAGE_BYTES;
        if unaligned_ppm > 0 && rng.chance(unaligned_ppm, 1_000_000) {
            return aligned + SECTOR_BYTES * (1 + rng.below(PAGE_BYTES / SECTOR_BYTES - 1));
        }
        aligned
    }
}

/// Number of I/Os after the first one of a run: uniform around the mean of the remaining runs; the
/// last run takes all.
fn run_length(cell: &Cell, rng: &mut Rng) -> u64 {
    if cell.jumps == 1 {
        return cell.sequential;
    }
    let twice = 2 * cell.sequential;
    let whole = twice / cell.jumps;
    // A share of one more, so that short runs keep their mean.
    let bound = whole + u64::from(rng.below(cell.jumps) < twice % cell.jumps);
    rng.below(bound + 1).min(cell.sequential)
}
