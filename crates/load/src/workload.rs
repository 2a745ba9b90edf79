//! The description of a workload: operations, sizes, addresses, order, rate.

use base::{Data, OpKind};

use crate::composite::Composite;
use crate::pacing::Pacing;

/// Order of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Every block once, in LBA order; then the workload ends.
    SequentialOnce,
    /// Whole blocks in LBA order, from the start again after the last one, without end.
    Sequential,
    /// Blocks drawn uniformly with repetition, without end.
    Uniform,
    /// Every block at least once, in an order that leaves a drive in the state of endless uniform
    /// writes; ends by itself, after `log_bytes` or a little less. See
    /// [`crate::address::one_pass`].
    OnePass {
        /// NAND that holds data in steady state, valid or not; more than the span.
        log_bytes: u64,
    },
    /// Blocks of many sizes, drawn with repetition from regions of unequal use, without end.
    Composite(Composite),
}

impl Order {
    /// Whether addresses are random.
    #[must_use]
    pub const fn is_random(self) -> bool {
        matches!(self, Self::Uniform | Self::Composite(_))
    }
}

/// Kinds of commands of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// One kind only.
    One(OpKind),
    /// Reads with this probability in percent (0 to 100), writes otherwise, drawn for each command.
    ReadPercent(u8),
    /// Flushes and deallocations among reads and writes, drawn for each command.
    Shares(Shares),
}

/// Probabilities in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Flushes, of all commands.
    pub flush_percent: u8,
    /// Deallocations, of all commands.
    pub deallocate_percent: u8,
    /// Reads, of the remaining commands; the others write.
    pub read_percent: u8,
}

impl Mix {
    /// Whether some commands change the content of the target.
    #[must_use]
    pub const fn writes(self) -> bool {
        match self {
            Self::One(kind) => !matches!(kind, OpKind::Read | OpKind::Flush),
            Self::ReadPercent(percent) => percent < 100,
            Self::Shares(shares) => shares.deallocate_percent > 0 || shares.read_percent < 100,
        }
    }

    /// Whether some commands deallocate.
    #[must_use]
    pub const fn deallocates(self) -> bool {
        match self {
            Self::One(kind) => matches!(kind, OpKind::Deallocate),
            Self::ReadPercent(_) => false,
            Self::Shares(shares) => shares.deallocate_percent > 0,
        }
    }

    /// Share of reads among the commands that move data, in percent.
    #[must_use]
    pub const fn read_percent(self) -> u8 {
        match self {
            Self::One(OpKind::Read) => 100,
            Self::One(_) => 0,
            Self::ReadPercent(percent) => percent,
            Self::Shares(shares) => shares.read_percent,
        }
    }

    /// The value above 100%, or `None` if there is none: its name and the sum.
    fn too_much(self) -> Option<(&'static str, u64)> {
        let Shares { flush_percent, deallocate_percent, read_percent } = match self {
            Self::One(_) => return None,
            Self::ReadPercent(read_percent) => {
                Shares { flush_percent: 0, deallocate_percent: 0, read_percent }
            }
            Self::Shares(shares) => shares,
        };
        let beside = u64::from(flush_percent) + u64::from(deallocate_percent);
        let sums = [
            ("the share of reads", read_percent.into()),
            ("the share of flushes and deallocations", beside),
        ];
        sums.into_iter().find(|(_, sum)| *sum > 100)
    }
}

/// A stream of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Kinds of the commands.
    pub mix: Mix,
    /// Content of writes.
    pub data: Data,
    /// Length of a command and alignment of its offset; the longest one of [`Order::Composite`].
    pub block_bytes: u32,
    /// First byte of the tested span; a multiple of `block_bytes`.
    pub span_offset_bytes: u64,
    /// Length of the tested span. [`Order::SequentialOnce`] also covers the rest after the last
    /// whole block, with a shorter command.
    pub span_bytes: u64,
    /// Order of the blocks.
    pub order: Order,
    /// Commands kept outstanding; in an open loop the most that may be outstanding, the others
    /// wait.
    pub queue_depth: u32,
    /// Rule for the issue of commands.
    pub pacing: Pacing,
    /// Bytes of issued commands after which the workload ends; `None` if its order or a time ends
    /// it.
    pub limit_bytes: Option<u64>,
}

/// An invalid workload. Names the value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {value}, but {rule}")]
pub struct WorkloadError {
    what: &'static str,
    value: u64,
    rule: String,
}

impl Workload {
    /// Incompressible commands of one kind over the first `span_bytes` of a target, without a limit.
    #[must_use]
    pub const fn new(
        kind: OpKind,
        order: Order,
        block_bytes: u32,
        queue_depth: u32,
        span_bytes: u64,
    ) -> Self {
        Self {
            mix: Mix::One(kind),
            data: Data::Incompressible,
            block_bytes,
            span_offset_bytes: 0,
            span_bytes,
            order,
            queue_depth,
            pacing: Pacing::ClosedLoop,
            limit_bytes: None,
        }
    }

    /// The part of one of several workers: its share of the depth and, in whole blocks, of the limit.
    #[must_use]
    pub(crate) fn share(&self, worker: u32, workers: u32) -> Self {
        let block = u64::from(self.block_bytes);
        let limit = |bytes: u64| {
            let blocks = bytes.div_ceil(block);
            (blocks / u64::from(workers)
                + u64::from(u64::from(worker) < blocks % u64::from(workers)))
                * block
        };
        let queue_depth =
            self.queue_depth / workers + u32::from(worker < self.queue_depth % workers);
        Self { queue_depth, limit_bytes: self.limit_bytes.map(limit), ..self.clone() }
    }

    /// Bytes after which the workload ends by itself; `None` if it never does.
    #[must_use]
    pub fn total_bytes(&self) -> Option<u64> {
        let once = match self.order {
            Order::SequentialOnce => Some(self.span_bytes),
            Order::OnePass { log_bytes } => Some(log_bytes),
            Order::Sequential | Order::Uniform | Order::Composite(_) => None,
        };
        self.limit_bytes.into_iter().chain(once).min()
    }

    /// Checks the description against the block size of a target.
    ///
    /// # Errors
    /// [`WorkloadError`] with the first value that breaks a rule.
    pub fn check(&self, logical_block_bytes: u32) -> Result<(), WorkloadError> {
        let fail = |what, value, rule: String| Err(WorkloadError { what, value, rule });
        let block = u64::from(self.block_bytes);
        if block == 0 || !block.is_multiple_of(u64::from(logical_block_bytes)) {
            let rule = format!("it must be a multiple of the target's {logical_block_bytes} bytes");
            return fail("the block size in bytes", block, rule);
        }
        if !self.span_offset_bytes.is_multiple_of(block) {
            let rule = format!("it must be a multiple of the block size {block} bytes");
            return fail("the start of the span", self.span_offset_bytes, rule);
        }
        if self.span_bytes < block {
            let rule = format!("it must hold at least one block of {block} bytes");
            return fail("the length of the span in bytes", self.span_bytes, rule);
        }
        if let Order::OnePass { log_bytes } = self.order
            && log_bytes.saturating_sub(self.span_bytes) < block
        {
            let span = self.span_bytes;
            let rule =
                format!("it must be larger than the span of {span} bytes, or nothing is spare");
            return fail("the NAND for a pass in one go", log_bytes, rule);
        }
        if let Some((what, sum)) = self.mix.too_much() {
            return fail(what, sum, "it is in percent, so at most 100".to_owned());
        }
        if let Order::Composite(composite) = self.order {
            self.check_composite(&composite, logical_block_bytes)?;
        }
        if self.queue_depth == 0 {
            return fail("the queue depth", 0, "it must be at least 1".to_owned());
        }
        Ok(())
    }

    fn check_composite(
        &self,
        composite: &Composite,
        logical_block_bytes: u32,
    ) -> Result<(), WorkloadError> {
        if let Some(bytes) = composite.impossible_bytes(logical_block_bytes).next() {
            let rule = format!("it must be a multiple of the target's {logical_block_bytes} bytes");
            return Err(WorkloadError { what: "a block size", value: bytes.into(), rule });
        }
        let smallest_percent = composite.regions.iter().map(|(percent, _)| *percent).min();
        let least = 100 * u64::from(composite.largest_bytes())
            / u64::from(smallest_percent.unwrap_or(100).max(1));
        if self.span_bytes < least {
            return Err(WorkloadError {
                what: "the length of the span in bytes",
                value: self.span_bytes,
                rule: format!("each region must hold a block: at least {least} bytes"),
            });
        }
        Ok(())
    }
}
