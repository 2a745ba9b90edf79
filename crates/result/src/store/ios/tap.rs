//! The side of the measuring thread: which commands get a row, and their way into the queue.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::{Completion, Nanos, Op, Ratio, Rng, Status};

use super::choice::IosChoice;
use super::message::{Batch, Link, Message, WhenFull};
use super::row::{IoRow, UNANSWERED};
use super::slowest::Slowest;

/// Rows in a batch: 48 KiB.
pub(super) const BATCH_ROWS: usize = 1 << 10;

/// A draw decides by this many equal parts of a share.
const SHARE_PARTS: u64 = 1 << 53;

/// Decides which commands get a row.
#[derive(Debug)]
enum Filter {
    All,
    Share(Ratio, Rng),
    Slowest(Slowest),
}

/// Takes the commands of one measuring thread in one phase, and delivers the last rows when it is
/// dropped.
#[derive(Debug)]
pub struct IosTap {
    link: Arc<Link>,
    worker: usize,
    filter: Filter,
    rows: Vec<IoRow>,
}

impl IosTap {
    /// The tap of thread `worker`. `seed` decides the draws of the phase.
    pub(super) fn new(link: Arc<Link>, choice: IosChoice, seed: u64, worker: usize) -> Self {
        let filter = match choice {
            IosChoice::All => Filter::All,
            IosChoice::Share(share) => {
                Filter::Share(share, Rng::split(seed, &format!("ios/{worker}")))
            }
            IosChoice::Slowest(most) => Filter::Slowest(Slowest::new(most)),
        };
        Self { link, worker, filter, rows: Vec::with_capacity(BATCH_ROWS) }
    }

    /// Takes a command that has ended. `end` has the time from which the latency counts as its
    /// `submitted`; `issued` is the time at which the target got the command; `job` its place in the
    /// jobs of the phase, or [`NO_JOB`](super::NO_JOB).
    #[inline]
    pub fn add(&mut self, op: &Op, issued: Nanos, end: &Completion, job: u32) {
        self.add_row(IoRow::new(self.link.start, op, issued, end, job));
    }

    /// Takes a command that was issued, and due, at `since` and has no answer `now`: the target is
    /// lost.
    pub fn given_up(&mut self, op: &Op, since: Nanos, now: Nanos, job: u32) {
        let end = Completion { tag: op.tag, status: Status::Ok, submitted: since, done: now };
        let row = IoRow::new(self.link.start, op, since, &end, job);
        self.add_row(IoRow { status: UNANSWERED, ..row });
    }

    #[inline]
    fn add_row(&mut self, row: IoRow) {
        match &mut self.filter {
            Filter::All => self.keep(row),
            Filter::Share(share, rng) => {
                if rng.chance(share.of(SHARE_PARTS), SHARE_PARTS) {
                    self.keep(row);
                }
            }
            Filter::Slowest(slowest) => {
                if let Some(rows) = slowest.offer(row) {
                    let complete = slowest.second();
                    self.send_all(&rows, complete, self.link.when_full);
                }
            }
        }
    }

    #[inline]
    fn keep(&mut self, row: IoRow) {
        self.rows.push(row);
        if self.rows.len() == BATCH_ROWS {
            let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(BATCH_ROWS));
            self.send(rows, 0, self.link.when_full);
        }
    }

    /// The rows of a second in batches; the last one says that it is complete.
    fn send_all(&self, rows: &[IoRow], complete: u32, when_full: WhenFull) {
        let batches = rows.len().div_ceil(BATCH_ROWS).max(1);
        for (number, rows) in rows.chunks(BATCH_ROWS).enumerate() {
            let complete = if number + 1 == batches { complete } else { 0 };
            self.send(rows.to_vec(), complete, when_full);
        }
    }

    fn send(&self, rows: Vec<IoRow>, complete: u32, when_full: WhenFull) {
        let count = rows.len() as u64;
        let message = Message::Rows(Batch { worker: self.worker, complete, rows });
        let sent = match when_full {
            WhenFull::Wait => self.link.sender.send(message).is_ok(),
            WhenFull::Lose => self.link.sender.try_send(message).is_ok(),
        };
        if !sent {
            self.link.lost.fetch_add(count, Ordering::Relaxed);
        }
    }
}

impl Drop for IosTap {
    /// Delivers the rest. The measurement of this thread is over, so that it may wait.
    fn drop(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        if let Filter::Slowest(slowest) = &mut self.filter {
            rows = slowest.take();
        }
        self.send_all(&rows, u32::MAX, WhenFull::Wait);
        // A thread without a last row still ends its seconds.
        self.send(Vec::new(), u32::MAX, WhenFull::Wait);
    }
}
