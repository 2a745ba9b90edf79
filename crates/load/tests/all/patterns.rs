//! Do patterns draw what they say? Distributions against their formulas, by chi-square and by
//! Kolmogorov and Smirnov; orders command by command.

mod distributions;
mod orders;

use base::{Op, OpKind};
use load::{Generator, Workload};

/// Bytes of a block.
const BLOCK: u32 = 4_096;

/// Writes in this pattern over so many blocks.
fn workload(pattern: &str, blocks: u64) -> Workload {
    let order = pattern.parse().unwrap();
    let workload = Workload::new(OpKind::Write, order, BLOCK, 1, blocks * u64::from(BLOCK));
    workload.check(512).unwrap();
    workload
}

/// The commands of a workload.
fn ops(workload: Workload, seed: u64) -> impl Iterator<Item = Op> {
    let mut generator = Generator::new(workload, seed);
    std::iter::from_fn(move || generator.next_op(0))
}

/// The blocks in which the commands of a pattern begin.
fn blocks(pattern: &str, blocks: u64, seed: u64) -> impl Iterator<Item = u64> + use<> {
    ops(workload(pattern, blocks), seed).map(|op| op.offset / u64::from(BLOCK))
}
