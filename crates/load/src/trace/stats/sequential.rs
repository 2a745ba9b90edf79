//! The sequential share. An I/O is sequential if it begins at the end of one of the preceding reads
//! and writes. The module remembers several, because a few programs that each proceed in order are
//! sequential work for a drive.

use crate::trace::Record;

/// Remembered reads and writes: the queue of a SATA drive.
pub const WINDOW: usize = 32;

pub(super) struct Sequential {
    ends: [u64; WINDOW],
    next: usize,
    ios: u64,
}

impl Default for Sequential {
    fn default() -> Self {
        // No I/O begins at the last byte there can be.
        Self { ends: [u64::MAX; WINDOW], next: 0, ios: 0 }
    }
}

impl Sequential {
    pub(super) fn add(&mut self, record: &Record) {
        // Without a branch for each: the compiler compares them side by side.
        let goes_on = self.ends.iter().fold(false, |found, &end| found | (end == record.offset));
        self.ios += u64::from(goes_on);
        self.ends[self.next] = record.end();
        self.next = (self.next + 1) % WINDOW;
    }

    pub(super) fn ios(&self) -> u64 {
        self.ios
    }
}
