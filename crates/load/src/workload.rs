//! The description of a workload: operations, sizes, addresses, order, rate.

use base::{Data, OpKind};

use crate::composite::Composite;
use crate::order::{Append, Order};
use crate::pacing::Pacing;
use crate::sizes::Sizes;

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
    /// Weight of the reads among the remaining commands.
    pub reads: u8,
    /// Weight of the writes among them.
    pub writes: u8,
}

impl Mix {
    /// Whether all commands are reads.
    pub fn only_reads(self) -> bool {
        match self {
            Self::One(kind) => kind == OpKind::Read,
            Self::ReadPercent(percent) => percent >= 100,
            Self::Shares(shares) => {
                shares.flush_percent == 0 && shares.deallocate_percent == 0 && shares.writes == 0
            }
        }
    }

    /// Whether some commands change the content of the target.
    pub fn writes(self) -> bool {
        match self {
            Self::One(kind) => !matches!(kind, OpKind::Read | OpKind::Flush),
            Self::ReadPercent(percent) => percent < 100,
            Self::Shares(shares) => shares.deallocate_percent > 0 || shares.writes > 0,
        }
    }

    /// Share of deallocations among all commands, in percent.
    pub const fn deallocate_percent(self) -> u8 {
        match self {
            Self::One(OpKind::Deallocate) => 100,
            Self::One(_) | Self::ReadPercent(_) => 0,
            Self::Shares(shares) => shares.deallocate_percent,
        }
    }

    /// Whether some commands deallocate.
    pub const fn deallocates(self) -> bool {
        self.deallocate_percent() > 0
    }

    /// Share of reads among the commands that move data, in percent.
    pub fn read_percent(self) -> u8 {
        match self {
            Self::One(OpKind::Read) => 100,
            Self::One(_) => 0,
            Self::ReadPercent(percent) => percent,
            Self::Shares(shares) => {
                let moving = u32::from(shares.reads) + u32::from(shares.writes);
                (100 * u32::from(shares.reads)).checked_div(moving).unwrap_or(100) as u8
            }
        }
    }

    /// Share of the commands that do not write, in percent.
    fn others_percent(self) -> u64 {
        match self {
            Self::One(kind) => {
                if kind == OpKind::Write {
                    0
                } else {
                    100
                }
            }
            Self::ReadPercent(percent) => percent.into(),
            Self::Shares(shares) => {
                let beside = u64::from(shares.flush_percent) + u64::from(shares.deallocate_percent);
                beside.max(u64::from(shares.reads > 0))
            }
        }
    }

    /// The value above 100%, or `None` if there is none: its name and the sum.
    fn too_much(self) -> Option<(&'static str, u64)> {
        let (what, sum) = match self {
            Self::One(_) => return None,
            Self::ReadPercent(read_percent) => ("the share of reads", read_percent.into()),
            Self::Shares(shares) => {
                let beside = u64::from(shares.flush_percent) + u64::from(shares.deallocate_percent);
                ("the share of flushes and deallocations", beside)
            }
        };
        (sum > 100).then_some((what, sum))
    }
}

/// A stream of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Kinds of the commands.
    pub mix: Mix,
    /// Content of writes.
    pub data: Data,
    /// Length of a command, and alignment of its offset where `align_bytes` has no other; the longest one of
    /// [`Order::Composite`] and of `sizes`.
    pub block_bytes: u32,
    /// Lengths drawn for each command; `None` if all have `block_bytes`.
    pub sizes: Option<Sizes>,
    /// Alignment of offsets; `None` for `block_bytes`, or for the shortest of `sizes`.
    pub align_bytes: Option<u32>,
    /// First byte of the tested span; a multiple of the alignment.
    pub span_offset_bytes: u64,
    /// Length of the tested span. [`Order::SequentialOnce`] also covers the rest after the last
    /// whole block, with a shorter command.
    pub span_bytes: u64,
    /// Order of the blocks.
    pub order: Order,
    /// Seed of the places of ranks ([`crate::order::Layout`]): the same one gives the same hot blocks.
    pub layout_seed: u64,
    /// Forced unit access, as a share of the writes in percent (0 to 100).
    pub fua_percent: u8,
    /// A flush after this many writes, beside those of the mix; `None` without.
    pub flush_every: Option<u32>,
    /// Placement handle of the writes; 0 is the default one.
    pub placement: u8,
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

fn fail(what: &'static str, value: u64, rule: String) -> Result<(), WorkloadError> {
    Err(WorkloadError { what, value, rule })
}

impl Workload {
    /// Incompressible commands of one kind over the first `span_bytes` of a target, without a limit.
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
            sizes: None,
            align_bytes: None,
            span_offset_bytes: 0,
            span_bytes,
            order,
            layout_seed: 1,
            fua_percent: 0,
            flush_every: None,
            placement: 0,
            queue_depth,
            pacing: Pacing::ClosedLoop,
            limit_bytes: None,
        }
    }

    /// Distance between the places at which commands may begin.
    pub fn step_bytes(&self) -> u32 {
        let shortest = || self.sizes.as_ref()?.weighted().iter().map(|(bytes, _)| *bytes).min();
        self.align_bytes.or_else(shortest).unwrap_or(self.block_bytes)
    }

    /// Whether some commands deallocate.
    pub const fn deallocates(&self) -> bool {
        self.mix.deallocates()
            || matches!(self.order, Order::Append(Append { deallocate: true, .. }))
    }

    /// The part of one of several workers: its share of the depth and, in whole blocks, of the limit.
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
    pub fn total_bytes(&self) -> Option<u64> {
        let once = match self.order {
            Order::SequentialOnce | Order::Shuffled => Some(self.span_bytes),
            Order::OnePass { log_bytes } => Some(log_bytes),
            Order::WholeZones(zones) => {
                Some(self.span_bytes / zones.size_bytes.max(1) * zones.capacity_bytes)
            }
            _ => None,
        };
        self.limit_bytes.into_iter().chain(once).min()
    }

    /// Checks the description against the block size of a target.
    ///
    /// # Errors
    /// [`WorkloadError`] with the first value that breaks a rule.
    pub fn check(&self, logical_block_bytes: u32) -> Result<(), WorkloadError> {
        self.check_lengths(u64::from(logical_block_bytes))?;
        let step = u64::from(self.step_bytes());
        if !self.span_offset_bytes.is_multiple_of(u64::from(logical_block_bytes)) {
            let rule = format!(
                "it must be a multiple of the target's blocks of {logical_block_bytes} bytes"
            );
            return fail("the start of the span", self.span_offset_bytes, rule);
        }
        let block = u64::from(self.block_bytes);
        if self.span_bytes < block.max(step) {
            let rule = format!("it must hold at least one block of {block} bytes");
            return fail("the length of the span in bytes", self.span_bytes, rule);
        }
        if let Some((what, sum)) = self.mix.too_much() {
            return fail(what, sum, "it is in percent, so at most 100".to_owned());
        }
        if self.fua_percent > 100 {
            let rule = "it is in percent, so at most 100".to_owned();
            return fail("the share of forced writes", self.fua_percent.into(), rule);
        }
        if self.queue_depth == 0 {
            return fail("the queue depth", 0, "it must be at least 1".to_owned());
        }
        self.check_order(logical_block_bytes)
    }

    /// Every length and the alignment are multiples of the target's blocks.
    fn check_lengths(&self, logical_block_bytes: u64) -> Result<(), WorkloadError> {
        let sizes = self.sizes.iter().flat_map(Sizes::weighted).map(|(bytes, _)| *bytes);
        let lengths =
            sizes.chain([self.block_bytes]).map(|bytes| ("the block size in bytes", bytes));
        let steps = self.align_bytes.into_iter().map(|bytes| ("the alignment in bytes", bytes));
        for (what, bytes) in lengths.chain(steps) {
            let bytes = u64::from(bytes);
            if bytes == 0 || !bytes.is_multiple_of(logical_block_bytes) {
                let rule =
                    format!("it must be a multiple of the target's {logical_block_bytes} bytes");
                return fail(what, bytes, rule);
            }
        }
        Ok(())
    }

    /// The demands of the order on the span and on the commands.
    fn check_order(&self, logical_block_bytes: u32) -> Result<(), WorkloadError> {
        let (block, span) = (u64::from(self.block_bytes), self.span_bytes);
        match &self.order {
            Order::OnePass { log_bytes } if log_bytes.saturating_sub(span) < block => {
                let rule =
                    format!("it must be larger than the span of {span} bytes, or nothing is spare");
                fail("the NAND for a pass in one go", *log_bytes, rule)
            }
            Order::Composite(composite) => self.check_composite(composite, logical_block_bytes),
            Order::Streams { count } if span / u64::from((*count).max(1)) < block => {
                let rule = format!(
                    "each must have room for a block of {block} bytes in a span of {span} bytes"
                );
                fail("the number of streams", (*count).into(), rule)
            }
            Order::Stride { stride_bytes } => self.check_stride(*stride_bytes),
            Order::Append(append) => self.check_append(append),
            Order::WholeZones(zones) if span / zones.size_bytes.max(1) < zones.at_a_time.into() => {
                let rule = format!("{} are written at a time", zones.at_a_time);
                fail("the number of zones in the span", span / zones.size_bytes.max(1), rule)
            }
            Order::Shuffled if self.sizes.is_some() || self.step_bytes() != self.block_bytes => {
                let rule = "an order that meets each block once takes one size, aligned to itself"
                    .to_owned();
                fail("the largest block in bytes", block, rule)
            }
            _ => Ok(()),
        }
    }

    fn check_stride(&self, stride_bytes: u64) -> Result<(), WorkloadError> {
        let step = u64::from(self.step_bytes());
        if stride_bytes == 0 || !stride_bytes.is_multiple_of(step) {
            let rule = format!("it must be a multiple of the alignment of {step} bytes");
            return fail("the stride in bytes", stride_bytes, rule);
        }
        if stride_bytes > self.span_bytes {
            let rule = format!("it must not be longer than the span of {} bytes", self.span_bytes);
            return fail("the stride in bytes", stride_bytes, rule);
        }
        Ok(())
    }

    fn check_append(&self, append: &Append) -> Result<(), WorkloadError> {
        let step = u64::from(self.step_bytes());
        if append.zone_bytes < u64::from(self.block_bytes)
            || !append.zone_bytes.is_multiple_of(step)
        {
            let rule = format!(
                "it must be a multiple of {step} bytes, and hold a block of {} bytes",
                self.block_bytes
            );
            return fail("the size of a zone", append.zone_bytes, rule);
        }
        // Each stream has its zone and the next one, and something must be left to choose from.
        let least = 2 * u64::from(append.zones) + 1;
        let zones = self.span_bytes / append.zone_bytes;
        if zones < least || u32::try_from(zones).is_err() {
            let rule = format!(
                "{} active zones need at least {least} (and at most {})",
                append.zones,
                u32::MAX
            );
            return fail("the number of zones in the span", zones, rule);
        }
        if self.mix != Mix::One(OpKind::Write) {
            let rule = "an order of appended zones takes writes alone".to_owned();
            return fail(
                "the share of reads, flushes and deallocations",
                self.mix.others_percent(),
                rule,
            );
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
