//! The slowest commands of each second.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::row::IoRow;

/// A row in the order of the contest: by latency, and the earlier of equals first.
type Entry = Reverse<(u64, Reverse<u64>)>;

/// Keeps the slowest rows of the open second.
#[derive(Debug)]
pub(super) struct Slowest {
    most: usize,
    /// The open second.
    second: u32,
    /// Number of rows offered so far.
    offered: u64,
    /// The kept entries with their places in `rows`; the fastest on top.
    heap: BinaryHeap<(Entry, usize)>,
    rows: Vec<IoRow>,
}

impl Slowest {
    /// Keeps at most this many rows of a second.
    pub(super) fn new(most: u32) -> Self {
        Self {
            most: most as usize,
            second: 0,
            offered: 0,
            heap: BinaryHeap::new(),
            rows: Vec::new(),
        }
    }

    /// The open second: rows of the ones before are complete.
    pub(super) fn second(&self) -> u32 {
        self.second
    }

    /// Takes a row into the contest of its second; returns the rows of the second that ended by it.
    /// Ends are offered in their order; a row of an earlier second takes part in the open one.
    #[inline]
    pub(super) fn offer(&mut self, row: IoRow) -> Option<Vec<IoRow>> {
        let second = row.second();
        let ended = (second > self.second).then(|| self.take());
        self.second = self.second.max(second);
        self.offered += 1;
        let entry = Reverse((row.latency_ns(), Reverse(self.offered)));
        if self.rows.len() < self.most {
            self.heap.push((entry, self.rows.len()));
            self.rows.push(row);
        } else if let Some(mut fastest) = self.heap.peek_mut()
            && entry < fastest.0
        {
            self.rows[fastest.1] = row;
            fastest.0 = entry;
        }
        ended
    }

    /// The rows of the open second, in the order of their ends.
    pub(super) fn take(&mut self) -> Vec<IoRow> {
        let mut kept: Vec<_> = self.heap.drain().collect();
        kept.sort_unstable_by_key(|(Reverse((_, Reverse(number))), _)| *number);
        let rows = kept.into_iter().map(|(_, place)| self.rows[place]).collect();
        self.rows.clear();
        rows
    }
}

#[cfg(test)]
pub(super) mod tests {
    use base::{OpKind, Rng};

    use super::super::row::NO_JOB;
    use super::*;

    /// A read that ended at `done_ns` after `latency_ns`.
    pub(in super::super) fn row(done_ns: u64, latency_ns: u64) -> IoRow {
        IoRow {
            due_ns: done_ns - latency_ns,
            issued_ns: done_ns - latency_ns,
            done_ns,
            offset_bytes: 0,
            length_bytes: 4096,
            job: NO_JOB,
            status: 0,
            kind: OpKind::Read,
        }
    }

    #[test]
    fn the_slowest_of_each_second_are_those_of_a_full_sort() {
        let mut rng = Rng::new(11);
        let mut done_ns = 0;
        let rows: Vec<_> = (0..20_000)
            .map(|_| {
                done_ns += rng.below(400_000);
                row(done_ns, rng.below(50).min(done_ns))
            })
            .collect();
        let mut slowest = Slowest::new(7);
        let mut kept = Vec::new();
        for row in &rows {
            kept.extend(slowest.offer(*row).into_iter().flatten());
        }
        kept.extend(slowest.take());
        let mut wanted = Vec::new();
        for second in rows.chunk_by(|a, b| a.second() == b.second()) {
            let mut order: Vec<_> = second.iter().enumerate().collect();
            order.sort_by_key(|(at, row)| (Reverse(row.latency_ns()), *at));
            order.truncate(7);
            order.sort_by_key(|(at, _)| *at);
            wanted.extend(order.into_iter().map(|(_, row)| *row));
        }
        assert_eq!(kept, wanted);
        assert!(kept.len() < rows.len() / 10);
    }
}
