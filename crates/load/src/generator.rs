//! From a description to commands.

use base::{Nanos, Op, OpKind, Rng};

use crate::address::Addresses;
use crate::address::append::AppendStep;
use crate::pacing::Schedule;
use crate::workload::{Mix, Workload};

/// The commands of one workload, in order. The same workload and seed give the same commands,
/// independent of the target.
#[derive(Clone, Debug)]
pub struct Generator {
    workload: Workload,
    addresses: Addresses,
    kinds: Rng,
    lengths: Rng,
    /// The due times; `None` in a closed loop.
    schedule: Option<Schedule>,
    /// Writes until the next flush of [`Workload::flush_every`].
    until_flush: Option<u32>,
    /// The rest of [`Workload::limit_bytes`].
    left_bytes: u64,
}

impl Generator {
    /// The commands of a workload that [`Workload::check`] has accepted.
    pub fn new(workload: Workload, seed: u64) -> Self {
        let schedule = Schedule::new(workload.pacing, seed);
        Self::with(workload, seed, schedule)
    }

    /// The commands in as many parts as there are workers, each with its own addresses and its
    /// share of the depth, of the rate and of the limit. One part if only one worker keeps the
    /// meaning of the workload: blocks in LBA order, or a depth of 1.
    pub fn shares(workload: &Workload, seed: u64, workers: u32) -> Vec<Self> {
        const STRIDE: u64 = 0xd1b5_4a32_d192_ed03;
        let workers = if workload.order.is_independent() { workers } else { 1 };
        let workers = workers.clamp(1, workload.queue_depth.max(1));
        let share = |worker: u32| {
            let seed = seed.wrapping_add(u64::from(worker).wrapping_mul(STRIDE));
            let schedule = Schedule::of_worker(workload.pacing, seed, worker, workers);
            Self::with(workload.share(worker, workers), seed, schedule)
        };
        (0..workers).map(share).collect()
    }

    fn with(workload: Workload, seed: u64, schedule: Option<Schedule>) -> Self {
        let addresses = Addresses::new(&workload, seed);
        let left_bytes = workload.limit_bytes.unwrap_or(u64::MAX);
        let [kinds, lengths] = ["kinds", "lengths"].map(|name| Rng::split(seed, name));
        let until_flush = workload.flush_every;
        Self { workload, addresses, kinds, lengths, schedule, until_flush, left_bytes }
    }

    /// The description.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Due time of the next command, from the start of the phase; `None` in a closed loop.
    #[inline]
    pub fn due(&self) -> Option<Nanos> {
        self.schedule.as_ref().map(Schedule::due)
    }

    /// Number of due commands not yet issued before `end`, which counts from the start of the
    /// phase; 0 in a closed loop.
    pub fn due_before(&self, end: Nanos) -> u64 {
        self.schedule.as_ref().map_or(0, |schedule| schedule.due_before(end))
    }

    /// The next command, under this tag; `None` at the end.
    #[inline]
    pub fn next_op(&mut self, tag: u32) -> Option<Op> {
        if self.left_bytes == 0 {
            return None;
        }
        if self.until_flush == Some(0) {
            self.until_flush = self.workload.flush_every;
            return Some(self.flush(tag));
        }
        let (kind, data) = (self.next_kind(), self.workload.data);
        if kind == OpKind::Flush {
            self.advance(0);
            return Some(self.flush(tag));
        }
        let len = self.next_len();
        if let Some(step) = self.addresses.next_append(len) {
            return Some(self.append_op(step, tag));
        }
        let (offset, len) = self.addresses.next_block(len)?;
        self.advance(len);
        self.count_write(kind);
        let (fua, placement) = (self.is_forced(kind), self.workload.placement);
        Some(Op { kind, data, fua, placement, len, tag, offset })
    }

    /// A step of appended zones: a deallocation belongs to the write after it, so it has no due time of its own.
    fn append_op(&mut self, step: AppendStep, tag: u32) -> Op {
        let (kind, offset, len, placement) = match step {
            AppendStep::Write(offset, len, handle) => (OpKind::Write, offset, len, handle),
            AppendStep::Deallocate(offset, len) => (OpKind::Deallocate, offset, len, 0),
        };
        let is_write = kind == OpKind::Write;
        if is_write {
            self.advance(len);
            self.count_write(kind);
        }
        let placement = placement.max(if is_write { self.workload.placement } else { 0 });
        let fua = self.is_forced(kind);
        Op { kind, data: self.workload.data, fua, placement, len, tag, offset }
    }

    /// A flush, at the due time of the command after it.
    fn flush(&self, tag: u32) -> Op {
        let data = self.workload.data;
        Op { kind: OpKind::Flush, data, fua: false, placement: 0, len: 0, tag, offset: 0 }
    }

    #[inline]
    fn count_write(&mut self, kind: OpKind) {
        if let Some(left) = self.until_flush.as_mut().filter(|_| kind == OpKind::Write) {
            *left = left.saturating_sub(1);
        }
    }

    /// Counts a command of `len` bytes as issued.
    #[inline]
    fn advance(&mut self, len: u32) {
        self.left_bytes = self.left_bytes.saturating_sub(u64::from(len));
        if let Some(schedule) = &mut self.schedule {
            schedule.advance();
        }
    }

    #[inline]
    fn next_len(&mut self) -> u32 {
        match &self.workload.sizes {
            None => self.workload.block_bytes,
            Some(sizes) => sizes.draw(&mut self.lengths),
        }
    }

    #[inline]
    fn is_forced(&mut self, kind: OpKind) -> bool {
        let percent = self.workload.fua_percent;
        percent > 0 && kind == OpKind::Write && self.kinds.chance(percent.into(), 100)
    }

    #[inline]
    fn next_kind(&mut self) -> OpKind {
        match self.workload.mix {
            Mix::One(kind) => kind,
            Mix::ReadPercent(percent) => self.read_or_write(percent, 100 - percent.min(100)),
            Mix::Shares(shares) => {
                let flush = u64::from(shares.flush_percent);
                let deallocate = flush + u64::from(shares.deallocate_percent);
                match self.kinds.below(100) {
                    drawn if drawn < flush => OpKind::Flush,
                    drawn if drawn < deallocate => OpKind::Deallocate,
                    _ => self.read_or_write(shares.reads, shares.writes),
                }
            }
        }
    }

    #[inline]
    fn read_or_write(&mut self, reads: u8, writes: u8) -> OpKind {
        let all = (u64::from(reads) + u64::from(writes)).max(1);
        if self.kinds.below(all) < u64::from(reads) { OpKind::Read } else { OpKind::Write }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composite::{Composite, PTS_COMPOSITE, PTS_COMPOSITE_4K};
    use crate::order::Order;
    use crate::workload::Shares;

    fn workload(order: Order, block_bytes: u32, span_bytes: u64) -> Workload {
        let workload = Workload::new(OpKind::Write, order, block_bytes, 4, span_bytes);
        Workload { span_offset_bytes: 8192, ..workload }
    }

    #[test]
    fn a_sequential_pass_covers_the_span_exactly_once() {
        let mut generator =
            Generator::new(workload(Order::SequentialOnce, 4096, 3 * 4096 + 512), 1);
        let mut next = 8192;
        let mut lengths = Vec::new();
        while let Some(op) = generator.next_op(0) {
            assert_eq!(op.offset, next);
            next += u64::from(op.len);
            lengths.push(op.len);
        }
        assert_eq!(lengths, [4096, 4096, 4096, 512]);
    }

    #[test]
    fn an_endless_pass_starts_again_after_the_last_whole_block() {
        let mut generator = Generator::new(workload(Order::Sequential, 4096, 2 * 4096 + 512), 1);
        let ops: Vec<_> = (0..5).map(|_| generator.next_op(0).unwrap()).collect();
        let offsets: Vec<_> = ops.iter().map(|op| op.offset).collect();
        assert_eq!(offsets, [8192, 12_288, 8192, 12_288, 8192]);
        assert!(ops.iter().all(|op| op.len == 4096));
    }

    #[test]
    fn a_limit_ends_any_order() {
        for order in [Order::SequentialOnce, Order::Sequential, Order::Uniform] {
            let limited =
                Workload { limit_bytes: Some(5 * 4096), ..workload(order.clone(), 4096, 1 << 20) };
            assert_eq!(limited.total_bytes(), Some(5 * 4096));
            let mut generator = Generator::new(limited, 1);
            assert_eq!(std::iter::from_fn(|| generator.next_op(0)).count(), 5, "{order:?}");
        }
        assert_eq!(workload(Order::SequentialOnce, 4096, 1 << 20).total_bytes(), Some(1 << 20));
        assert_eq!(workload(Order::Uniform, 4096, 1 << 20).total_bytes(), None);
    }

    #[test]
    fn a_mix_keeps_its_share_and_leaves_the_addresses_alone() {
        let mixed = |mix| Workload { mix, ..workload(Order::Uniform, 4096, 1 << 20) };
        let ops = |mix| {
            let mut generator = Generator::new(mixed(mix), 1);
            (0..10_000).map(|_| generator.next_op(0).unwrap()).collect::<Vec<_>>()
        };
        let reads = |percent| {
            let ops = ops(Mix::ReadPercent(percent));
            ops.iter().filter(|op| op.kind == OpKind::Read).count()
        };
        assert_eq!((reads(0), reads(100)), (0, 10_000));
        // Five standard deviations of a binomial count: 5 x sqrt(10,000 x 0.65 x 0.35) = 238.
        assert!(reads(65).abs_diff(6_500) < 240, "{}", reads(65));
        let offsets = |mix| ops(mix).iter().map(|op| op.offset).collect::<Vec<_>>();
        assert_eq!(offsets(Mix::ReadPercent(65)), offsets(Mix::One(OpKind::Write)));
        let error = mixed(Mix::ReadPercent(101)).check(512).unwrap_err().to_string();
        assert!(error.contains("101, but it is in percent, so at most 100"), "{error}");
    }

    #[test]
    fn flushes_and_deallocations_have_their_shares_and_a_flush_has_no_address() {
        let shares = Shares { flush_percent: 5, deallocate_percent: 15, reads: 50, writes: 50 };
        let mixed = |mix| Workload { mix, ..workload(Order::Uniform, 4096, 1 << 20) };
        mixed(Mix::Shares(shares)).check(512).unwrap();
        let mut generator = Generator::new(mixed(Mix::Shares(shares)), 1);
        let ops: Vec<_> = (0..10_000).map(|_| generator.next_op(0).unwrap()).collect();
        let near = |kind, want: usize| {
            let count = ops.iter().filter(|op| op.kind == kind).count();
            // Five standard deviations of a binomial count: 5 x sqrt(10,000 x 0.4 x 0.6) = 245.
            assert!(count.abs_diff(want) < 245, "{count} of {kind:?}");
        };
        near(OpKind::Flush, 500);
        near(OpKind::Deallocate, 1_500);
        near(OpKind::Read, 4_000);
        near(OpKind::Write, 4_000);
        let with_address = |op: &&Op| op.kind != OpKind::Flush;
        let offsets: Vec<_> = ops.iter().filter(with_address).map(|op| op.offset).collect();
        let mut plain = Generator::new(mixed(Mix::One(OpKind::Write)), 1);
        assert!(offsets.iter().all(|offset| plain.next_op(0).unwrap().offset == *offset));
        assert!(ops.iter().all(|op| (op.kind == OpKind::Flush) == (op.len == 0)));
        let too_much = Shares { flush_percent: 60, deallocate_percent: 60, ..shares };
        let error = mixed(Mix::Shares(too_much)).check(512).unwrap_err().to_string();
        assert!(error.contains("flushes and deallocations is 120"), "{error}");
    }

    #[test]
    fn a_flush_comes_after_every_so_many_writes() {
        let mix = Mix::ReadPercent(50);
        let flushed =
            Workload { mix, flush_every: Some(3), ..workload(Order::Uniform, 4096, 1 << 20) };
        let mut generator = Generator::new(flushed, 1);
        let kinds: Vec<_> = (0..1_000).map(|_| generator.next_op(0).unwrap().kind).collect();
        let mut writes = 0;
        for kind in kinds {
            match kind {
                OpKind::Flush => assert_eq!(std::mem::take(&mut writes), 3),
                kind => writes += u32::from(kind == OpKind::Write),
            }
        }
        assert!(writes <= 3);
    }

    #[test]
    fn uniform_addresses_are_aligned_inside_and_depend_on_the_seed_alone() {
        let offsets = |seed| {
            let mut generator = Generator::new(workload(Order::Uniform, 4096, 16 * 4096), seed);
            (0..1000).map(|_| generator.next_op(0).unwrap().offset).collect::<Vec<_>>()
        };
        let first = offsets(1);
        assert_eq!(first, offsets(1));
        assert_ne!(first, offsets(2));
        assert!(first.iter().all(|o| o.is_multiple_of(4096) && (8192..8192 + 65536).contains(o)));
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), 16, "every block of the span comes up");
    }

    #[test]
    fn a_composite_keeps_the_shares_of_sizes_and_regions() {
        const OPS: usize = 100_000;
        let span = 100 << 20;
        let composite = Order::Composite(PTS_COMPOSITE);
        let block_bytes = PTS_COMPOSITE.largest_bytes();
        let workload = Workload::new(OpKind::Write, composite, block_bytes, 4, span);
        workload.check(512).unwrap();
        let mut generator = Generator::new(workload, 1);
        let ops: Vec<_> = (0..OPS).map(|_| generator.next_op(0).unwrap()).collect();
        // Five standard deviations of a binomial count, 5 x sqrt(100,000 x 0.5 x 0.5), at most 791.
        let near = |count: usize, percent: u32| {
            let want = percent as usize * OPS / 100;
            assert!(count.abs_diff(want) < 800, "{count} are not {percent}%");
        };
        for (bytes, percent) in PTS_COMPOSITE.sizes {
            near(ops.iter().filter(|op| op.len == *bytes).count(), *percent);
        }
        for (from, to, percent) in [(0, 5, 50), (5, 20, 30), (20, 100, 20)] {
            let region = span * from / 100..span * to / 100;
            near(ops.iter().filter(|op| region.contains(&op.offset)).count(), percent);
        }
        let inside = |op: &Op| op.offset + u64::from(op.len) <= span;
        assert!(ops.iter().all(|op| inside(op) && op.offset.is_multiple_of(512)));
        let aligned = |op: &&Op| op.len.is_power_of_two();
        assert!(ops.iter().filter(aligned).all(|op| op.offset % u64::from(op.len) == 0));
    }

    #[test]
    fn a_composite_that_a_target_cannot_do_is_named() {
        let small = |composite: Composite, span| {
            let order = Order::Composite(composite);
            Workload::new(OpKind::Write, order, composite.largest_bytes(), 4, span)
        };
        let error = small(PTS_COMPOSITE, 100 << 20).check(4096).unwrap_err().to_string();
        assert!(error.contains("a block size is 512"), "{error}");
        small(PTS_COMPOSITE_4K, 100 << 20).check(4096).unwrap();
        let error = small(PTS_COMPOSITE_4K, 1 << 20).check(4096).unwrap_err().to_string();
        assert!(error.contains("at least 1310720 bytes"), "{error}");
    }

    #[test]
    fn shares_add_up_to_the_workload() {
        let whole = Workload {
            limit_bytes: Some(101 * 4096),
            queue_depth: 7,
            ..workload(Order::Uniform, 4096, 1 << 20)
        };
        for workers in [1, 2, 3, 7] {
            let shares = Generator::shares(&whole, 1, workers);
            assert_eq!(shares.len(), workers as usize);
            let depths = shares.iter().map(|share| share.workload().queue_depth);
            assert_eq!(depths.sum::<u32>(), 7);
            let count = |mut share: Generator| std::iter::from_fn(|| share.next_op(0)).count();
            assert_eq!(shares.into_iter().map(count).sum::<usize>(), 101, "{workers} workers");
        }
        let offsets =
            |mut share: Generator| std::iter::from_fn(move || share.next_op(0)?.offset.into());
        let shares = Generator::shares(&whole, 1, 2);
        let [first, second] =
            [0, 1].map(|worker| offsets(shares[worker].clone()).collect::<Vec<u64>>());
        assert_ne!(first[..10], second[..10], "each has addresses of its own");
    }

    #[test]
    fn what_must_stay_in_order_is_not_shared() {
        assert_eq!(
            Generator::shares(&workload(Order::SequentialOnce, 4096, 1 << 20), 1, 4).len(),
            1
        );
        let one = Workload { queue_depth: 1, ..workload(Order::Uniform, 4096, 1 << 20) };
        assert_eq!(Generator::shares(&one, 1, 4).len(), 1);
    }

    #[test]
    fn impossible_workloads_are_named() {
        let error = workload(Order::Uniform, 4096, 4095).check(512).unwrap_err().to_string();
        assert!(error.contains("length of the span in bytes is 4095"), "{error}");
        let error = workload(Order::Uniform, 1000, 1 << 20).check(512).unwrap_err().to_string();
        assert!(error.contains("block size in bytes is 1000"), "{error}");
    }
}
