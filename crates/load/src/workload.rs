//! The description of a workload: what, how large, where, in which order.

use base::{Data, OpKind};

/// In which order blocks are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Every block once, in LBA order, then the workload ends.
    SequentialOnce,
    /// Blocks drawn uniformly with repetition, without end.
    Uniform,
}

/// A stream of commands of one kind, issued closed loop: a new one for each that ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// What each command does.
    pub kind: OpKind,
    /// Content of writes.
    pub data: Data,
    /// Length of a command and alignment of its offset.
    pub block_bytes: u32,
    /// First byte of the tested span; a multiple of `block_bytes`.
    pub span_offset_bytes: u64,
    /// Length of the tested span. What is left after the last whole block is used by
    /// [`Order::SequentialOnce`] as a shorter command, so that the whole span is covered.
    pub span_bytes: u64,
    /// Order of the blocks.
    pub order: Order,
    /// Commands kept outstanding.
    pub queue_depth: u32,
}

/// A workload that cannot be issued. Names the value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {value}, but {rule}")]
pub struct WorkloadError {
    what: &'static str,
    value: u64,
    rule: String,
}

impl Workload {
    /// Checks the description against the block size of a target.
    ///
    /// # Errors
    /// [`WorkloadError`] with the first value that breaks a rule.
    pub fn check(&self, logical_block_bytes: u32) -> Result<(), WorkloadError> {
        let fail = |what, value, rule: String| Err(WorkloadError { what, value, rule });
        let block = u64::from(self.block_bytes);
        if block == 0 || !block.is_multiple_of(u64::from(logical_block_bytes)) {
            let rule = format!("it must be a multiple of the target's {logical_block_bytes} B");
            return fail("the block size", block, rule);
        }
        if !self.span_offset_bytes.is_multiple_of(block) {
            let rule = format!("it must be a multiple of the block size {block}");
            return fail("the start of the span", self.span_offset_bytes, rule);
        }
        if self.span_bytes < block {
            let rule = format!("it must hold at least one block of {block} B");
            return fail("the length of the span", self.span_bytes, rule);
        }
        if self.queue_depth == 0 {
            return fail("the queue depth", 0, "it must be at least 1".to_owned());
        }
        Ok(())
    }
}
