//! A share of the commands at random blocks; each of the others follows the command before it.

use base::Rng;

use super::grid::Grid;

/// State of the order.
#[derive(Clone, Debug)]
pub struct PartlyRandom {
    rng: Rng,
    grid: Grid,
    random_percent: u8,
    /// Bytes from the start of the span to the end of the command before.
    next: u64,
}

impl PartlyRandom {
    pub(super) fn new(grid: Grid, random_percent: u8, rng: Rng) -> Self {
        Self { rng, grid, random_percent, next: 0 }
    }

    #[inline]
    pub(super) fn next_block(&mut self, len: u32) -> (u64, u32) {
        let step_bytes = u64::from(self.grid.step_bytes);
        let whole = self.grid.steps * step_bytes;
        let is_random = self.rng.chance(self.random_percent.into(), 100);
        let step = if is_random {
            self.rng.below(self.grid.steps)
        } else if self.next + u64::from(len) > whole {
            0
        } else {
            self.next / step_bytes
        };
        self.next = (step * step_bytes + u64::from(len)).next_multiple_of(step_bytes).min(whole);
        self.grid.at(step, len)
    }
}
