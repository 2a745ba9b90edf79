//! Order of blocks: one order, one file.

pub(crate) mod append;
mod composite;
mod grid;
pub mod locality;
mod normal;
pub mod one_pass;
mod partly_random;
mod sequential;
mod shuffled;
mod skewed;
mod streams;
mod stride;
mod uniform;
mod whole_zones;

use base::Rng;

use crate::order::{Layout, Order};
use crate::workload::Workload;
use append::{AppendStep, Appends};
use composite::CompositeBlocks;
use grid::Grid;
use locality::LikeTrace;
use normal::Normal;
use one_pass::OnePass;
use partly_random::PartlyRandom;
use sequential::Sequential;
use shuffled::ShuffledOrder;
use skewed::pareto::Pareto;
use skewed::zipf::Zipf;
use skewed::zones::Zones;
use skewed::{Ranks, SkewedOrder};
use streams::Streams;
use stride::Stride;
use uniform::Uniform;
use whole_zones::ZoneTurns;

/// The addresses of a workload.
#[derive(Clone, Debug)]
pub enum Addresses {
    /// See [`Order::SequentialOnce`] and [`Order::Sequential`].
    Sequential(Sequential),
    /// See [`Order::Uniform`].
    Uniform(Uniform),
    /// See [`Order::OnePass`].
    OnePass(OnePass),
    /// See [`Order::Composite`].
    Composite(CompositeBlocks),
    /// See [`Order::Shuffled`].
    Shuffled(ShuffledOrder),
    /// See [`Order::Streams`].
    Streams(Streams),
    /// See [`Order::Stride`].
    Stride(Stride),
    /// See [`Order::Zipf`], [`Order::Pareto`], [`Order::Zones`] and [`Order::ReadOnly`].
    Skewed(SkewedOrder),
    /// See [`Order::PartlyRandom`].
    PartlyRandom(PartlyRandom),
    /// See [`Order::Normal`].
    Normal(Normal),
    /// See [`Order::Append`].
    Append(Appends),
    /// See [`Order::WholeZones`].
    WholeZones(ZoneTurns),
    /// See [`Order::Trace`].
    LikeTrace(LikeTrace),
}

impl Addresses {
    /// The addresses of a checked workload; `seed` determines every random choice but the layout of ranks.
    pub fn new(workload: &Workload, seed: u64) -> Self {
        let random = || Rng::split(seed, "addresses");
        let (start, span_bytes) = (workload.span_offset_bytes, workload.span_bytes);
        let grid = Grid::new(start, span_bytes, workload.step_bytes());
        let skewed = |ranks, layout: Layout| {
            Self::Skewed(SkewedOrder::new(grid, ranks, (layout, workload.layout_seed), random()))
        };
        match &workload.order {
            Order::SequentialOnce => Self::Sequential(Sequential::once(workload)),
            Order::Sequential => Self::Sequential(Sequential::endless(workload)),
            Order::Uniform => Self::Uniform(Uniform::new(grid, random())),
            Order::Composite(composite) => {
                Self::Composite(CompositeBlocks::new(workload, *composite, random()))
            }
            Order::OnePass { log_bytes } => {
                Self::OnePass(OnePass::new(workload, *log_bytes, Rng::split(seed, "one pass")))
            }
            Order::Shuffled => Self::Shuffled(ShuffledOrder::new(grid, random())),
            Order::Streams { count } => Self::Streams(Streams::new(workload, *count)),
            Order::Stride { stride_bytes } => Self::Stride(Stride::new(grid, *stride_bytes)),
            Order::Zipf { theta, layout } => {
                skewed(Ranks::Zipf(Zipf::new(*theta, grid.steps)), *layout)
            }
            Order::Pareto { share, layout } => {
                skewed(Ranks::Pareto(Pareto::new(*share, grid.steps)), *layout)
            }
            Order::Zones { zones, layout } => {
                skewed(Ranks::Zones(Zones::new(zones, grid.steps)), *layout)
            }
            Order::ReadOnly { share, layout } => {
                skewed(Ranks::Zones(Zones::without(*share, grid.steps)), *layout)
            }
            Order::PartlyRandom { random_percent } => {
                Self::PartlyRandom(PartlyRandom::new(grid, *random_percent, random()))
            }
            Order::Normal { deviation } => Self::Normal(Normal::new(grid, *deviation, random())),
            Order::Append(append) => Self::Append(Appends::new(workload, *append, random())),
            Order::WholeZones(order) => Self::WholeZones(ZoneTurns::new(workload, *order)),
            Order::Trace(locality) => {
                Self::LikeTrace(LikeTrace::new(grid, locality.clone(), random()))
            }
        }
    }

    /// Offset and length of the next command, in bytes, for a command of this length; `None` at the end.
    /// Appended zones have steps of their own: [`Addresses::next_append`].
    #[inline]
    pub fn next_block(&mut self, len: u32) -> Option<(u64, u32)> {
        match self {
            Self::Sequential(addresses) => addresses.next_block(len),
            Self::Uniform(addresses) => Some(addresses.next_block(len)),
            Self::OnePass(addresses) => addresses.next_block(),
            Self::Composite(addresses) => Some(addresses.next_block()),
            Self::Shuffled(addresses) => addresses.next_block(len),
            Self::Streams(addresses) => Some(addresses.next_block(len)),
            Self::Stride(addresses) => Some(addresses.next_block(len)),
            Self::Skewed(addresses) => Some(addresses.next_block(len)),
            Self::PartlyRandom(addresses) => Some(addresses.next_block(len)),
            Self::Normal(addresses) => Some(addresses.next_block(len)),
            Self::LikeTrace(addresses) => Some(addresses.next_block(len)),
            Self::WholeZones(addresses) => addresses.next_block(len),
            Self::Append(_) => None,
        }
    }

    /// The next command of appended zones; `None` for other orders.
    #[inline]
    pub(crate) fn next_append(&mut self, len: u32) -> Option<AppendStep> {
        match self {
            Self::Append(appends) => Some(appends.next_step(len)),
            _ => None,
        }
    }
}
