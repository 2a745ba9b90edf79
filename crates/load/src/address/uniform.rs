//! Steps of the span, uniformly, with repetition.

use base::Rng;

use super::grid::Grid;

/// State of the order.
#[derive(Clone, Debug)]
pub struct Uniform {
    rng: Rng,
    grid: Grid,
}

impl Uniform {
    pub(super) fn new(grid: Grid, rng: Rng) -> Self {
        Self { rng, grid }
    }

    #[inline]
    pub(super) fn next_block(&mut self, len: u32) -> (u64, u32) {
        let step = self.rng.below(self.grid.steps);
        self.grid.at(step, len)
    }
}
