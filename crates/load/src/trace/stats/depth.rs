//! Commands outstanding at the moment of issue, the new one included.

use serde::Serialize;

use super::share;
use crate::trace::Record;

/// Largest separate depth; deeper queues count here.
const DEPTH_MAX: usize = 1024;

/// Rows of the table: first and last depth, as in the reviews of 2011.
pub const DEPTH_BINS: [(u16, u16); 8] =
    [(1, 1), (2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 32), (33, u16::MAX)];

/// The table of queue depths.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DepthTable {
    /// I/Os with a known depth.
    pub ios: u64,
    /// Mean over I/Os.
    pub mean: f64,
    /// Share of I/Os in each of [`DEPTH_BINS`].
    pub shares: [f64; DEPTH_BINS.len()],
    /// The deepest queue.
    pub max: u16,
}

pub(super) struct Depths {
    counts: Vec<u64>,
    sum: u64,
    max: u16,
}

impl Default for Depths {
    fn default() -> Self {
        Self { counts: vec![0; DEPTH_MAX + 1], sum: 0, max: 0 }
    }
}

impl Depths {
    pub(super) fn add(&mut self, record: &Record) {
        let depth = record.queue_depth;
        self.counts[usize::from(depth).min(DEPTH_MAX)] += 1;
        self.sum += u64::from(depth);
        self.max = self.max.max(depth);
    }

    pub(super) fn table(&self) -> Option<DepthTable> {
        let ios: u64 = self.counts[1..].iter().sum();
        if ios == 0 {
            return None;
        }
        let shares = DEPTH_BINS.map(|(first, last)| {
            let last = usize::from(last).min(DEPTH_MAX);
            share(self.counts[usize::from(first)..=last].iter().sum(), ios)
        });
        Some(DepthTable { ios, mean: share(self.sum, ios), shares, max: self.max })
    }
}
