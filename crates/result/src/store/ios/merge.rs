//! The slowest commands of each second among those that several threads kept.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::row::IoRow;

/// Collects the rows of the threads of a phase until all of them have ended a second.
#[derive(Debug)]
pub(super) struct Merge {
    most: usize,
    /// The seconds before this one are complete, for each thread.
    complete: Vec<u32>,
    open: BTreeMap<u32, Vec<IoRow>>,
}

impl Merge {
    /// Keeps at most this many rows of a second; `workers` threads deliver them.
    pub(super) fn new(most: u32, workers: usize) -> Self {
        Self { most: most as usize, complete: vec![0; workers], open: BTreeMap::new() }
    }

    /// Takes rows of one thread, whose seconds before `complete` have ended; returns the rows of the
    /// seconds that all have ended.
    pub(super) fn take(&mut self, worker: usize, complete: u32, rows: Vec<IoRow>) -> Vec<IoRow> {
        for row in rows {
            self.open.entry(row.second()).or_default().push(row);
        }
        if let Some(known) = self.complete.get_mut(worker) {
            *known = complete.max(*known);
        }
        let ended = self.complete.iter().copied().min().unwrap_or(u32::MAX);
        let still_open = self.open.split_off(&ended);
        let ended = std::mem::replace(&mut self.open, still_open);
        ended.into_values().flat_map(|rows| self.slowest(rows)).collect()
    }

    /// The rows of the seconds that no thread will add to any more.
    pub(super) fn rest(&mut self) -> Vec<IoRow> {
        let rest = std::mem::take(&mut self.open);
        rest.into_values().flat_map(|rows| self.slowest(rows)).collect()
    }

    fn slowest(&self, mut rows: Vec<IoRow>) -> Vec<IoRow> {
        if rows.len() > self.most {
            rows.sort_by_key(|row| (Reverse(row.latency_ns()), row.done_ns));
            rows.truncate(self.most);
        }
        rows.sort_by_key(|row| row.done_ns);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::super::slowest::tests::row;
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_second_is_decided_when_every_thread_has_ended_it() {
        let mut merge = Merge::new(2, 2);
        let (a, b, c) = (row(100, 50), row(200, 60), row(300, 40));
        let late = row(SECOND + 5, 9);
        assert!(merge.take(0, 1, vec![a, c]).is_empty(), "the other thread is in the second");
        assert_eq!(merge.take(1, 2, vec![b, late]), [a, b]);
        assert_eq!(merge.rest(), [late]);
        assert!(merge.rest().is_empty());
    }
}
