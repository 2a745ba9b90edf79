//! Every block of the span once, in LBA order.

use crate::workload::Workload;

/// State of the order.
#[derive(Clone, Debug)]
pub struct Sequential {
    next: u64,
    end: u64,
    block_bytes: u32,
}

impl Sequential {
    pub(super) fn new(workload: &Workload) -> Self {
        let next = workload.span_offset_bytes;
        Self { next, end: next + workload.span_bytes, block_bytes: workload.block_bytes }
    }

    #[inline]
    pub(super) fn next_block(&mut self) -> Option<(u64, u32)> {
        let left = self.end - self.next;
        if left == 0 {
            return None;
        }
        let len = self.block_bytes.min(u32::try_from(left).unwrap_or(u32::MAX));
        let offset = self.next;
        self.next += u64::from(len);
        Some((offset, len))
    }
}
