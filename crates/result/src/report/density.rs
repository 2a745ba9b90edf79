//! Single commands as densities: counts on a grid of time and latency, and on one of time and place.
//! Millions of points become a few kilobytes, whatever their number.

use std::cmp::Reverse;

use base::OpKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::Run;
use crate::store::ios::IosPart;
use crate::store::{RunDir, StoreError};

/// Columns of a grid: a point of a wide screen has about two.
const COLUMNS: usize = 320;
/// Rows of latency for each doubling: 27 for each decade.
const ROWS_PER_DOUBLING: f64 = 8.0;
/// Rows of latency in all, up to 2^48 ns, three days.
const LATENCY_ROWS: usize = 384;
/// Rows of the address space.
const PLACES: usize = 160;
/// Phases on the page: those with the most commands.
const PHASES_MAX: usize = 12;

/// The single commands of a phase, as counts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct IosView {
    /// Name of the phase.
    pub phase: String,
    /// The commands that were kept: `all`, a share such as `1%`, or `slowest:100`.
    pub choice: String,
    /// Chosen commands that have no row.
    pub ios_lost: u64,
    /// Length of a column of both grids, in ns. Commands that ended after the phase stand in the last
    /// column.
    pub column_ns: u64,
    /// Columns of both grids.
    pub columns: u32,
    /// Lower edges of the rows of latency in ns, and the upper edge of the last one.
    pub latency_ns: Vec<u64>,
    /// Lower edges of the rows of the address space in bytes, and the upper edge of the last one.
    pub offset_bytes: Vec<u64>,
    /// The commands, kind by kind.
    pub ops: Vec<OpDensity>,
}

/// The commands of one kind. A grid is a list of turns: cells without a command, the count of the next
/// cell, cells without one, and so on; column by column, each from the lowest row up.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct OpDensity {
    /// `read`, `write`, `flush` or `deallocate`.
    pub op: String,
    /// Commands with a row.
    pub ios: u64,
    /// Counts by time of the end and latency from the due time.
    pub by_latency: Vec<u64>,
    /// Counts by time of the end and first byte; empty for flushes, which have no place.
    pub by_offset: Vec<u64>,
}

/// The densities of a run; none if it has no single commands. Of many phases those with the most
/// commands, in their order.
///
/// # Errors
/// If the file is damaged.
pub(super) fn densities(dir: &RunDir) -> Result<Vec<IosView>, StoreError> {
    let mut all: Vec<(usize, Count)> = Vec::new();
    let run = dir.run();
    dir.ios(|part| {
        let Some(phase) = run.phases.get(part.phase_index) else { return };
        if all.last().is_none_or(|(index, _)| *index != part.phase_index) {
            all.iter_mut().for_each(|(_, count)| count.pack());
            all.push((part.phase_index, Count::new(phase.duration_ns, run.span.span_bytes)));
        }
        if let Some((_, count)) = all.last_mut() {
            count.add(part);
        }
    })?;
    all.sort_by_key(|(_, count)| Reverse(count.ios()));
    all.truncate(PHASES_MAX);
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(index, count)| count.view(run, index)).collect())
}

/// The counts of one kind: dense while its phase is read, then as turns.
#[derive(Default)]
struct Kind {
    ios: u64,
    latency: Vec<u32>,
    offset: Vec<u32>,
    latency_turns: Vec<u64>,
    offset_turns: Vec<u64>,
}

/// The counts of one phase.
struct Count {
    column_ns: u64,
    span_bytes: u64,
    kinds: [Kind; 4],
    /// The lowest used row of latency, and the one above the highest.
    rows: (usize, usize),
}

impl Count {
    fn new(duration_ns: u64, span_bytes: u64) -> Self {
        Self {
            column_ns: duration_ns.div_ceil(COLUMNS as u64).max(1),
            span_bytes: span_bytes.max(1),
            kinds: Default::default(),
            rows: (LATENCY_ROWS, 0),
        }
    }

    fn ios(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.ios).sum()
    }

    fn add(&mut self, part: &IosPart) {
        for at in 0..part.kinds.len() {
            let done_ns = part.done_ns[at];
            let column = usize::try_from(done_ns / self.column_ns).unwrap_or(COLUMNS);
            let column = column.min(COLUMNS - 1);
            let row = latency_row(done_ns.saturating_sub(part.due_ns[at]));
            self.rows = (self.rows.0.min(row), self.rows.1.max(row + 1));
            let kind = &mut self.kinds[part.kinds[at].index()];
            kind.ios += 1;
            count(&mut kind.latency, column * LATENCY_ROWS + row, COLUMNS * LATENCY_ROWS);
            if part.kinds[at] != OpKind::Flush {
                let place = u128::from(part.offset_bytes[at]) * PLACES as u128
                    / u128::from(self.span_bytes);
                let place = usize::try_from(place).unwrap_or(PLACES).min(PLACES - 1);
                count(&mut kind.offset, column * PLACES + place, COLUMNS * PLACES);
            }
        }
    }

    /// Turns the counts of an ended phase into their short form.
    fn pack(&mut self) {
        for kind in &mut self.kinds {
            if !kind.latency.is_empty() {
                kind.latency_turns = turns(&kind.latency, LATENCY_ROWS, self.rows);
                kind.offset_turns = turns(&kind.offset, PLACES, (0, PLACES));
                (kind.latency, kind.offset) = (Vec::new(), Vec::new());
            }
        }
    }

    fn view(mut self, run: &Run, index: usize) -> IosView {
        self.pack();
        let Self { column_ns, span_bytes, kinds, rows } = self;
        let place = |row: usize| (u128::from(span_bytes) * row as u128 / PLACES as u128) as u64;
        let ops = OpKind::ALL.iter().zip(kinds).filter(|(_, kind)| kind.ios > 0);
        IosView {
            phase: run.phases[index].name.clone(),
            choice: run.ios.as_ref().map(|ios| ios.choice.clone()).unwrap_or_default(),
            ios_lost: run.phases[index].ios_lost,
            column_ns,
            columns: COLUMNS as u32,
            latency_ns: (rows.0..=rows.1).map(latency_edge).collect(),
            offset_bytes: (0..=PLACES).map(place).collect(),
            ops: ops
                .map(|(op, kind)| OpDensity {
                    op: op.name().to_owned(),
                    ios: kind.ios,
                    by_latency: kind.latency_turns,
                    by_offset: kind.offset_turns,
                })
                .collect(),
        }
    }
}

fn count(cells: &mut Vec<u32>, cell: usize, all: usize) {
    if cells.is_empty() {
        cells.resize(all, 0);
    }
    cells[cell] = cells[cell].saturating_add(1);
}

/// The row of a latency, by its logarithm.
fn latency_row(latency_ns: u64) -> usize {
    let row = (latency_ns.max(1) as f64).log2() * ROWS_PER_DOUBLING;
    (row as usize).min(LATENCY_ROWS - 1)
}

/// The lower edge of a row.
fn latency_edge(row: usize) -> u64 {
    2_f64.powf(row as f64 / ROWS_PER_DOUBLING).round() as u64
}

/// The counts within these rows of each column, as turns.
fn turns(cells: &[u32], rows_each: usize, (low, high): (usize, usize)) -> Vec<u64> {
    let (mut turns, mut gap) = (Vec::new(), 0);
    for column in cells.chunks(rows_each) {
        for count in &column[low..high] {
            if *count == 0 {
                gap += 1;
            } else {
                turns.extend([gap, u64::from(*count)]);
                gap = 0;
            }
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_the_cell_of_its_time_latency_and_place() {
        let mut count = Count::new(320_000, 1_600);
        count.add(&IosPart {
            phase_index: 0,
            kinds: vec![OpKind::Read, OpKind::Read, OpKind::Read],
            due_ns: vec![0, 0, 319_000],
            done_ns: vec![1_500, 1_500, 400_000],
            offset_bytes: vec![0, 25, 1_599],
        });
        count.pack();
        let read = &count.kinds[0];
        let rows = (count.rows.1 - count.rows.0) as u64;
        let (short, long) = (latency_row(1_500), latency_row(81_000));
        assert_eq!(count.rows, (short, long + 1));
        // Column 1, lowest row, twice; then column 319, highest row.
        assert_eq!(read.latency_turns, [rows, 2, 317 * rows + rows - 1 + rows - 1, 1]);
        // Places 0 and 2 of column 1, the last place of column 319.
        assert_eq!(read.offset_turns, [160, 1, 1, 1, 157 + 317 * 160 + 159, 1]);
    }

    #[test]
    fn a_latency_lies_between_the_edges_of_its_row() {
        for latency_ns in [1_u64, 2, 999, 80_000, 1_234_567, 7_000_000_000, 86_400_000_000_000] {
            let row = latency_row(latency_ns);
            let (low, high) = (latency_edge(row), latency_edge(row + 1));
            assert!(low <= latency_ns + 1 && latency_ns <= high, "{low} {latency_ns} {high}");
        }
    }
}
