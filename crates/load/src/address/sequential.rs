//! The blocks of the span in LBA order, once or repeatedly.

use crate::workload::Workload;

/// State of the order.
#[derive(Clone, Debug)]
pub struct Sequential {
    start: u64,
    next: u64,
    end: u64,
    block_bytes: u32,
    endless: bool,
}

impl Sequential {
    /// The whole span, with a shorter last block for the rest.
    pub(super) fn once(workload: &Workload) -> Self {
        let start = workload.span_offset_bytes;
        let end = start + workload.span_bytes;
        Self { start, next: start, end, block_bytes: workload.block_bytes, endless: false }
    }

    /// Whole blocks only, so that every command is of the same size.
    pub(super) fn endless(workload: &Workload) -> Self {
        let once = Self::once(workload);
        let end = once.end - workload.span_bytes % u64::from(workload.block_bytes);
        Self { end, endless: true, ..once }
    }

    #[inline]
    pub(super) fn next_block(&mut self) -> Option<(u64, u32)> {
        if self.next == self.end {
            if !self.endless {
                return None;
            }
            self.next = self.start;
        }
        let left = self.end - self.next;
        let len = self.block_bytes.min(u32::try_from(left).unwrap_or(u32::MAX));
        let offset = self.next;
        self.next += u64::from(len);
        Some((offset, len))
    }
}
