//! Whole blocks of the span, uniformly, with repetition.

use base::Rng;

use crate::workload::Workload;

/// State of the order.
#[derive(Clone, Debug)]
pub struct Uniform {
    rng: Rng,
    offset: u64,
    blocks: u64,
    block_bytes: u32,
}

impl Uniform {
    pub(super) fn new(workload: &Workload, rng: Rng) -> Self {
        Self {
            rng,
            offset: workload.span_offset_bytes,
            blocks: workload.span_bytes / u64::from(workload.block_bytes),
            block_bytes: workload.block_bytes,
        }
    }

    #[inline]
    pub(super) fn next_block(&mut self) -> (u64, u32) {
        let block = self.rng.below(self.blocks);
        (self.offset + block * u64::from(self.block_bytes), self.block_bytes)
    }
}
