//! Orders of blocks, as data. Each of those with states has its file in [`crate::address`].

mod text;

use std::sync::Arc;

use base::Ratio;

use crate::address::locality::Locality;
use crate::composite::Composite;

pub use text::OrderError;

/// Order of the blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Every block once, in a random order; then the workload ends.
    Shuffled,
    /// Sequential streams that take turns, each in a part of the span of its own, without end.
    Streams {
        /// Number of streams, at least 1.
        count: u32,
    },
    /// One block at every multiple of a distance; the next round begins a block later; without end.
    Stride {
        /// The distance; a multiple of the alignment.
        stride_bytes: u64,
    },
    /// A share of the commands at blocks drawn uniformly; each of the others follows the command before it;
    /// without end.
    PartlyRandom {
        /// The share in percent, below 100.
        random_percent: u8,
    },
    /// The block of rank k is drawn with a probability in proportion to k^-theta, without end.
    Zipf {
        /// The exponent; 0 is uniform.
        theta: Theta,
        /// Places of the ranks.
        layout: Layout,
    },
    /// The first share h of the ranks is drawn with the probability 1 - h, and so within that share
    /// again (self-similar), without end.
    Pareto {
        /// The share h, above 0 and at most 1/2; 1/2 is uniform.
        share: Ratio,
        /// Places of the ranks.
        layout: Layout,
    },
    /// Blocks around the middle of the span by the normal distribution, without end; those outside
    /// are drawn again.
    Normal {
        /// The standard deviation as a share of the span, above 0.
        deviation: Ratio,
    },
    /// Parts of the span with their probabilities, uniform within each, without end.
    Zones {
        /// The parts, from the first rank on; the sums of sizes and of probabilities are 1.
        zones: Arc<[Zone]>,
        /// Places of the ranks.
        layout: Layout,
    },
    /// A share of the blocks is left alone, the others are drawn uniformly, without end.
    ReadOnly {
        /// The share, below 1.
        share: Ratio,
        /// Places of the ranks.
        layout: Layout,
    },
    /// Zones written in order, several at a time, as by a store that keeps logs; without end.
    Append(Append),
    /// Every zone of a drive with zones once, in order, several of them at a time in turn; then the workload ends.
    WholeZones(WholeZones),
    /// Parts of the span with the probabilities that a trace has there, without end.
    Trace(Arc<Locality>),
}

/// The exponent of a Zipf distribution in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theta {
    /// Thousandths of the exponent, at most [`Theta::MAX`].
    pub thousandths: u32,
}

impl Theta {
    /// The largest exponent: with it, the first rank gets more than nine of ten commands.
    pub const MAX: Self = Self { thousandths: 4_000 };
}

/// A part of the ranks with its probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Size as a share of the span.
    pub size: Ratio,
    /// Share of the commands.
    pub commands: Ratio,
}

/// Places of the ranks of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// At random over the span, so that blocks of much and of little use are neighbours. The seed is
    /// [`crate::Workload::layout_seed`].
    #[default]
    Scattered,
    /// In LBA order: the blocks of most use come first.
    Contiguous,
}

/// Zones that are written in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Append {
    /// Zones that are written at the same time, at least 1.
    pub zones: u32,
    /// Size of a zone; a multiple of the block.
    pub zone_bytes: u64,
    /// Whether a zone is deallocated before it is written.
    pub deallocate: bool,
    /// Placement handles that the active zones share; 0 for none.
    pub handles: u8,
}

/// Zones of a drive that demands such an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeZones {
    /// Zones that are written at the same time, at least 1.
    pub at_a_time: u32,
    /// Distance of two zones.
    pub size_bytes: u64,
    /// Bytes that a zone can hold, from its begin on.
    pub capacity_bytes: u64,
}

impl Order {
    /// Whether addresses are random.
    pub const fn is_random(&self) -> bool {
        self.is_independent()
            || matches!(self, Self::Shuffled | Self::Append(_) | Self::PartlyRandom { .. })
    }

    /// Whether each address is drawn without regard to the others, so that several workers may
    /// share the order.
    pub const fn is_independent(&self) -> bool {
        matches!(
            self,
            Self::Uniform
                | Self::Composite(_)
                | Self::Zipf { .. }
                | Self::Pareto { .. }
                | Self::Normal { .. }
                | Self::Zones { .. }
                | Self::ReadOnly { .. }
                | Self::Trace(_)
        )
    }
}
