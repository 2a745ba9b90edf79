//! The locality of a trace: parts of its address space with their numbers of commands.
//!
//! The parts are as long as needed for at most a million of them, so that memory has a bound. The order of
//! the commands is not kept, and neither are their sizes: a replay keeps both.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::Rng;

use super::grid::Grid;
use crate::trace::{self, ImportOptions, Source};

/// The most parts.
const CELLS_MAX: usize = 1 << 20;
const SMALLEST_CELL_BYTES: u64 = 4_096;

/// The use of the parts of an address space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locality {
    name: String,
    /// Number of parts, used or not.
    parts: u64,
    /// Each used part, and the number of commands up to its end, in order.
    used: Vec<(u64, u64)>,
}

impl Locality {
    /// The use in a trace, by its name: a file of any format, or `synth:SCENARIO`.
    ///
    /// # Errors
    /// In words, if the trace cannot be read, or moves no data.
    pub fn read(name: &str) -> Result<Self, String> {
        let words = |error: trace::TraceError| format!("{name}: {error}");
        let mut source = trace::open(name, &ImportOptions::default()).map_err(words)?;
        let mut census =
            Census { cell_bytes: SMALLEST_CELL_BYTES, counts: BTreeMap::new(), end: 0 };
        while let Some(record) = source.next_record().map_err(words)? {
            if record.len > 0 {
                census.add(record.offset, record.len);
            }
        }
        census
            .locality(name)
            .ok_or_else(|| format!("{name}: no command of the trace has an address"))
    }

    /// The name of the trace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A used part, by its number of commands.
    #[inline]
    fn draw(&self, rng: &mut Rng) -> u64 {
        let total = self.used.last().map_or(1, |(_, total)| *total);
        let drawn = rng.below(total);
        let at = self.used.partition_point(|(_, end)| *end <= drawn);
        self.used.get(at).map_or(0, |(part, _)| *part)
    }
}

/// Commands by part, while a trace is read.
struct Census {
    cell_bytes: u64,
    counts: BTreeMap<u64, u64>,
    end: u64,
}

impl Census {
    fn add(&mut self, offset: u64, len: u32) {
        self.end = self.end.max(offset.saturating_add(len.into()));
        *self.counts.entry(offset / self.cell_bytes).or_default() += 1;
        while self.counts.len() > CELLS_MAX {
            self.cell_bytes *= 2;
            let mut coarser = BTreeMap::new();
            for (cell, count) in std::mem::take(&mut self.counts) {
                *coarser.entry(cell / 2).or_default() += count;
            }
            self.counts = coarser;
        }
    }

    fn locality(self, name: &str) -> Option<Locality> {
        let mut total = 0;
        let mut upto = |(cell, count): (u64, u64)| {
            total += count;
            (cell, total)
        };
        let used: Vec<_> = self.counts.into_iter().map(&mut upto).collect();
        let parts = self.end.div_ceil(self.cell_bytes);
        (!used.is_empty()).then(|| Locality { name: name.to_owned(), parts, used })
    }
}

/// State of the order.
#[derive(Clone, Debug)]
pub struct LikeTrace {
    rng: Rng,
    grid: Grid,
    locality: Arc<Locality>,
}

impl LikeTrace {
    pub(super) fn new(grid: Grid, locality: Arc<Locality>, rng: Rng) -> Self {
        Self { rng, grid, locality }
    }

    /// The address space of the trace is stretched, or shrunk, to the span.
    #[inline]
    pub(super) fn next_block(&mut self, len: u32) -> (u64, u32) {
        let part = self.locality.draw(&mut self.rng);
        let step = |part: u64| {
            let product = u128::from(part) * u128::from(self.grid.steps);
            (product / u128::from(self.locality.parts.max(1))) as u64
        };
        let (first, end) = (step(part), step(part + 1));
        let step = first + self.rng.below(end.saturating_sub(first).max(1));
        self.grid.at(step.min(self.grid.steps - 1), len)
    }
}
