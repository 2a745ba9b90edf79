//! The blocks of the span in LBA order, once or repeatedly.

use crate::workload::Workload;

/// State of the order.
#[derive(Clone, Debug)]
pub struct Sequential {
    start: u64,
    next: u64,
    end: u64,
    endless: bool,
}

impl Sequential {
    /// The whole span, with a shorter last block for the rest.
    pub(super) fn once(workload: &Workload) -> Self {
        let start = workload.span_offset_bytes;
        let end = start + workload.span_bytes;
        Self { start, next: start, end, endless: false }
    }

    /// Whole steps only, so that no command is cut.
    pub(super) fn endless(workload: &Workload) -> Self {
        let once = Self::once(workload);
        let end = once.end - workload.span_bytes % u64::from(workload.step_bytes());
        Self { end, endless: true, ..once }
    }

    #[inline]
    pub(super) fn next_block(&mut self, len: u32) -> Option<(u64, u32)> {
        let mut left = self.end - self.next;
        if self.endless && left < u64::from(len) {
            (self.next, left) = (self.start, self.end - self.start);
        }
        if left == 0 {
            return None;
        }
        let len = len.min(u32::try_from(left).unwrap_or(u32::MAX));
        let offset = self.next;
        self.next += u64::from(len);
        Some((offset, len))
    }
}
