//! One pass of writes that leaves a drive in the state of endless uniform random writes.
//!
//! Theory (Robinson 1996, Desnoyers 2014): a log of alpha x U pages with U valid ones is written
//! once round while the host writes alpha / A x U, where A = 1 / (1 - e^(-alpha / A)) is the write
//! amplification. A page survives n uniform writes with probability e^(-n / U). Hence in steady
//! state, the part of the log that is older than all but the share x of it is valid to the share
//! e^(-y x), y = alpha / A, and cleaning takes the oldest part.
//!
//! The pass writes a log of that shape in the order of its age, on an empty drive. At the place x
//! from its end, a write is kept with probability e^(-y x): its block will not be written again.
//! Otherwise it goes to a block whose last write is still to come. No cleaning is necessary
//! meanwhile, so this costs alpha x U writes instead of several rounds of random ones. Uniform
//! writes do not depend on the places of blocks, so kept blocks come in the order of a random
//! permutation.
//!
//! Holds for FIFO cleaning, and for greedy cleaning of superblocks of thousands of pages, which is
//! the same.

use base::{Permutation, Rng};

use crate::workload::Workload;

/// The share of kept writes is constant over this share of the pass: e^(-y x) changes by y / 4,096.
const STEPS: u64 = 1 << 12;
/// Denominator of probabilities, which are integers.
const ONE: u64 = 1 << 32;

/// State of the order.
#[derive(Clone, Debug)]
pub struct OnePass {
    rng: Rng,
    permutation: Permutation,
    offset: u64,
    block_bytes: u32,
    log_blocks: u64,
    /// y above.
    decay: f64,
    written_blocks: u64,
    kept_blocks: u64,
    /// Writes until the next change of the probability.
    left_in_step: u64,
    keep_of_one: u64,
}

impl OnePass {
    pub(super) fn new(workload: &Workload, log_bytes: u64, mut rng: Rng) -> Self {
        let block_bytes = u64::from(workload.block_bytes);
        let (blocks, log_blocks) = (workload.span_bytes / block_bytes, log_bytes / block_bytes);
        Self {
            permutation: Permutation::new(blocks, &mut rng),
            rng,
            offset: workload.span_offset_bytes,
            block_bytes: workload.block_bytes,
            log_blocks,
            decay: decay(log_blocks as f64 / blocks.max(1) as f64),
            written_blocks: 0,
            kept_blocks: 0,
            left_in_step: 0,
            keep_of_one: 0,
        }
    }

    #[inline]
    pub(super) fn next_block(&mut self) -> Option<(u64, u32)> {
        let left_blocks = self.permutation.len() - self.kept_blocks;
        if left_blocks == 0 {
            return None;
        }
        if self.left_in_step == 0 {
            self.begin_step();
        }
        self.left_in_step -= 1;
        self.written_blocks += 1;
        let index = if self.keeps() {
            self.kept_blocks += 1;
            self.kept_blocks - 1
        } else {
            self.kept_blocks + self.rng.below(left_blocks)
        };
        let block = self.permutation.at(index);
        Some((self.offset + block * u64::from(self.block_bytes), self.block_bytes))
    }

    /// Draws at random; if chance has kept too few, all remaining writes are kept, so that the pass
    /// never becomes longer than its log.
    #[inline]
    fn keeps(&mut self) -> bool {
        let left_blocks = self.permutation.len() - self.kept_blocks;
        self.written_blocks + left_blocks > self.log_blocks
            || self.rng.chance(self.keep_of_one, ONE)
    }

    fn begin_step(&mut self) {
        self.left_in_step = (self.log_blocks / STEPS).max(1);
        let done = (self.written_blocks + self.left_in_step / 2) as f64 / self.log_blocks as f64;
        let kept = f64::exp(-self.decay * (1.0 - done.min(1.0)));
        self.keep_of_one = (kept * ONE as f64) as u64;
    }
}

/// The y of the module's text, from alpha = y / (1 - e^(-y)): e^(-y) is the valid share of the
/// oldest part, and alpha / y the write amplification. Zero without spare.
pub fn decay(alpha: f64) -> f64 {
    // The right side grows with y, and y < alpha.
    let (mut low, mut high) = (0.0, alpha.max(0.0));
    for _ in 0..100 {
        let y = f64::midpoint(low, high);
        if y < alpha * -f64::exp_m1(-y) { low = y } else { high = y }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Order;
    use base::OpKind;

    fn pass(blocks: u64, log_blocks: u64, seed: u64) -> Vec<u64> {
        let order = Order::OnePass { log_bytes: log_blocks * 4096 };
        let workload = Workload::new(OpKind::Write, order, 4096, 1, blocks * 4096);
        let workload = Workload { span_offset_bytes: 8192, ..workload };
        let mut addresses = OnePass::new(&workload, log_blocks * 4096, Rng::new(seed));
        let next = || addresses.next_block().map(|(offset, _)| (offset - 8192) / 4096);
        std::iter::from_fn(next).collect()
    }

    /// Whether a write is the last one of its block.
    fn kept(writes: &[u64]) -> Vec<bool> {
        let mut seen = std::collections::BTreeSet::new();
        let mut kept: Vec<bool> = writes.iter().rev().map(|block| seen.insert(*block)).collect();
        kept.reverse();
        kept
    }

    #[test]
    fn the_formula_gives_the_published_write_amplification() {
        // FIFO rows of the reference table.
        for (alpha, waf) in [(1.07, 7.8172), (1.127, 4.6173), (1.15, 4.0160), (1.5, 1.7158)] {
            let got = alpha / decay(alpha);
            assert!((got - waf).abs() < 1e-4, "alpha {alpha}: {got}, not {waf}");
        }
        assert!(decay(1.0) < 1e-6 && decay(8.0) > 7.99);
    }

    #[test]
    fn every_block_is_written_and_the_pass_is_as_long_as_its_log() {
        for (blocks, log_blocks) in [(1, 2), (7, 8), (1_000, 1_070), (50_000, 57_500)] {
            let writes = pass(blocks, log_blocks, 1);
            let kept = kept(&writes).iter().filter(|&&kept| kept).count() as u64;
            assert_eq!(kept, blocks, "every block once for good");
            assert!(writes.iter().all(|&block| block < blocks));
            let length = writes.len() as u64;
            assert!(length <= log_blocks, "{length} of {log_blocks}");
            // The blocks kept of the log scatter like a binomial: five standard deviations at most.
            let missing = (log_blocks - length) as f64;
            assert!(missing <= 5.0 * (log_blocks as f64 / 4.0).sqrt() + 2.0, "{missing} missing");
        }
    }

    #[test]
    fn what_stays_of_each_part_of_the_log_is_what_theory_says() {
        const PARTS: usize = 20;
        for alpha in [1.07, 1.15, 1.5, 4.0] {
            let blocks = 200_000_u64;
            let writes = pass(blocks, (alpha * blocks as f64) as u64, 3);
            let kept = kept(&writes);
            let y = decay(alpha);
            for (part, kept) in kept.chunks(kept.len().div_ceil(PARTS)).enumerate() {
                let share = kept.iter().filter(|&&kept| kept).count() as f64 / kept.len() as f64;
                let x = 1.0 - (part as f64 + 0.5) / PARTS as f64;
                let theory = f64::exp(-y * x);
                assert!((share - theory).abs() < 0.015, "alpha {alpha} at {x}: {share}, {theory}");
            }
        }
    }

    #[test]
    fn kept_blocks_come_in_random_order_that_the_seed_decides() {
        let writes = pass(10_000, 11_500, 1);
        assert_eq!(writes, pass(10_000, 11_500, 1));
        assert_ne!(writes, pass(10_000, 11_500, 2));
        let rises = writes.windows(2).filter(|pair| pair[1] > pair[0]).count();
        assert!((0.47..0.53).contains(&(rises as f64 / writes.len() as f64)), "{rises}");
    }
}
