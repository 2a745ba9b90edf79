//! A test of the promises of a drive: does acknowledged data survive?
//!
//! [`writer`] writes blocks that identify themselves, in batches that end with a flush, and records
//! each batch in a [`journal`] on another drive once the flush is acknowledged. [`check`] reads all
//! blocks back, at once or after a power cut, and compares them: each block must contain the last
//! promised version, or a later one. Other content is a loss.

pub mod check;
pub mod journal;
pub mod promises;
pub mod writer;

use base::{Completion, Data, Op, OpKind, Status};
use target::{Limits, Target, TargetError};

use crate::error::{RunError, command_failed};

/// The places of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes used, from LBA 0.
    pub span_bytes: u64,
    /// Size of a block.
    pub block_bytes: u32,
}

impl Layout {
    /// Whole blocks in the span.
    ///
    /// # Errors
    /// [`RunError::Usage`] if the target cannot have such blocks, or there is no room for two.
    pub fn new(span_bytes: u64, block_bytes: u64, limits: &Limits) -> Result<Self, RunError> {
        let (least, most) = (limits.logical_block_bytes, limits.transfer_bytes_max);
        let block_bytes = u32::try_from(block_bytes)
            .ok()
            .filter(|bytes| bytes.is_power_of_two() && (least.max(512)..=most).contains(bytes))
            .ok_or_else(|| {
                RunError::Usage(format!(
                    "a block of {block_bytes} bytes cannot be used; expected a power of two from {least} to \
                     {most}"
                ))
            })?;
        let layout =
            Self { span_bytes: span_bytes - span_bytes % u64::from(block_bytes), block_bytes };
        if layout.blocks() < 2 {
            return Err(RunError::Usage(format!(
                "a span of {span_bytes} bytes has no room for two blocks of {block_bytes} bytes"
            )));
        }
        Ok(layout)
    }

    /// Whole blocks in the span.
    pub const fn blocks(&self) -> u64 {
        self.span_bytes / self.block_bytes as u64
    }

    /// Makes sure that a target can contain the blocks of a journal.
    ///
    /// # Errors
    /// [`TargetError::Refused`] with both sizes: another drive, or one that has changed.
    pub fn require_held_by(&self, target: &impl Target) -> Result<(), TargetError> {
        let (found, limits) = (target.identity(), target.limits());
        let refused = |code, wrote: String, now: String| {
            let message = format!(
                "the journal is of {wrote}, and {} now {now}: another one, or no longer as it was written, so \
                 that nothing can be said about its promises",
                found.spec
            );
            Err(TargetError::Refused { code, message })
        };
        if self.span_bytes > found.capacity_bytes {
            let (wrote, now) = (self.span_bytes, found.capacity_bytes);
            return refused("wrong-capacity", format!("{wrote} bytes"), format!("has {now} bytes"));
        }
        let (least, most) = (limits.logical_block_bytes, limits.transfer_bytes_max);
        if !(least..=most).contains(&self.block_bytes) {
            let wrote = format!("blocks of {} bytes", self.block_bytes);
            return refused(
                "wrong-block-size",
                wrote,
                format!("takes {least} to {most} bytes at a time"),
            );
        }
        Ok(())
    }

    const fn offset_bytes(&self, block: u64) -> u64 {
        block * self.block_bytes as u64
    }

    fn op(&self, kind: OpKind, block: u64, tag: u32) -> Op {
        let offset = self.offset_bytes(block);
        Op {
            kind,
            data: Data::Incompressible,
            fua: false,
            placement: 0,
            len: self.block_bytes,
            tag,
            offset,
        }
    }
}

/// Submits one command for each block, tags in order, and waits for all of them; returns their
/// outcomes.
fn all(
    target: &mut impl Target,
    layout: &Layout,
    kind: OpKind,
    blocks: &[u64],
) -> Result<Vec<CommandOutcome>, RunError> {
    let ops: Vec<Op> =
        blocks.iter().zip(0..).map(|(block, tag)| layout.op(kind, *block, tag)).collect();
    target.submit(&ops);
    let mut ended: Vec<Completion> = Vec::with_capacity(ops.len());
    while ended.len() < ops.len() {
        target.reap(ops.len() - ended.len(), &mut ended)?;
    }
    let mut by_tag: Vec<CommandOutcome> =
        ops.into_iter().map(|op| CommandOutcome { op, status: Status::Ok }).collect();
    for Completion { tag, status, .. } in ended {
        by_tag[tag as usize].status = status;
    }
    Ok(by_tag)
}

/// A command and its outcome.
struct CommandOutcome {
    op: Op,
    status: Status,
}

impl CommandOutcome {
    /// The error of a failed command.
    fn require_ok(&self, target: &impl Target) -> Result<(), RunError> {
        match self.status {
            Status::Failed { errno } => {
                Err(RunError::Target(command_failed(&self.op, errno, target.failure_words())))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
