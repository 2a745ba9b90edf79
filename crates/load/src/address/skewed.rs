//! Ranks of unequal use, and their places on the span.

pub(super) mod pareto;
pub(super) mod zipf;
pub(super) mod zones;

use base::{Permutation, Rng};

use super::grid::Grid;
use crate::order::Layout;
use pareto::Pareto;
use zipf::Zipf;
use zones::Zones;

/// A distribution of ranks; rank 0 is that of most use.
#[derive(Clone, Debug)]
pub(super) enum Ranks {
    Zipf(Zipf),
    Pareto(Pareto),
    Zones(Zones),
}

impl Ranks {
    /// A rank below the number of steps.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            Self::Zipf(zipf) => zipf.draw(rng),
            Self::Pareto(pareto) => pareto.draw(rng),
            Self::Zones(zones) => zones.draw(rng),
        }
    }
}

/// State of the order.
#[derive(Clone, Debug)]
pub struct SkewedOrder {
    rng: Rng,
    grid: Grid,
    ranks: Ranks,
    /// The place of each rank, or `None` if they lie in LBA order.
    places: Option<Permutation>,
}

impl SkewedOrder {
    /// `layout_seed` decides the places, which all workers share.
    pub(super) fn new(
        grid: Grid,
        ranks: Ranks,
        (layout, layout_seed): (Layout, u64),
        rng: Rng,
    ) -> Self {
        let scattered = || Permutation::new(grid.steps, &mut Rng::split(layout_seed, "layout"));
        let places = (layout == Layout::Scattered).then(scattered);
        Self { rng, grid, ranks, places }
    }

    #[inline]
    pub(super) fn next_block(&mut self, len: u32) -> (u64, u32) {
        let rank = self.ranks.draw(&mut self.rng);
        let step = self.places.as_ref().map_or(rank, |places| places.at(rank));
        self.grid.at(step, len)
    }
}
