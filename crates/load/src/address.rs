//! Order of blocks: one order, one file.

mod composite;
pub mod one_pass;
mod sequential;
mod uniform;

use base::Rng;

use crate::workload::{Order, Workload};
use composite::CompositeBlocks;
use one_pass::OnePass;
use sequential::Sequential;
use uniform::Uniform;

/// The addresses of a workload as (offset, length) in bytes.
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
}

impl Addresses {
    /// The addresses of a checked workload; `seed` determines every random choice.
    #[must_use]
    pub fn new(workload: &Workload, seed: u64) -> Self {
        let random = || Rng::split(seed, "addresses");
        match workload.order {
            Order::SequentialOnce => Self::Sequential(Sequential::once(workload)),
            Order::Sequential => Self::Sequential(Sequential::endless(workload)),
            Order::Uniform => Self::Uniform(Uniform::new(workload, random())),
            Order::Composite(composite) => {
                Self::Composite(CompositeBlocks::new(workload, composite, random()))
            }
            Order::OnePass { log_bytes } => {
                Self::OnePass(OnePass::new(workload, log_bytes, Rng::split(seed, "one pass")))
            }
        }
    }

    /// The next address; `None` at the end.
    #[inline]
    pub fn next_block(&mut self) -> Option<(u64, u32)> {
        match self {
            Self::Sequential(addresses) => addresses.next_block(),
            Self::Uniform(addresses) => Some(addresses.next_block()),
            Self::OnePass(addresses) => addresses.next_block(),
            Self::Composite(addresses) => Some(addresses.next_block()),
        }
    }
}
