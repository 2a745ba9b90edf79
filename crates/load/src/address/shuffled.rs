//! Every block of the span once, in a random order.

use base::{Permutation, Rng};

use super::grid::Grid;

/// State of the order.
#[derive(Clone, Debug)]
pub struct ShuffledOrder {
    grid: Grid,
    permutation: Permutation,
    next: u64,
}

impl ShuffledOrder {
    pub(super) fn new(grid: Grid, mut rng: Rng) -> Self {
        Self { grid, permutation: Permutation::new(grid.steps, &mut rng), next: 0 }
    }

    #[inline]
    pub(super) fn next_block(&mut self, len: u32) -> Option<(u64, u32)> {
        if self.next == self.permutation.len() {
            return None;
        }
        self.next += 1;
        Some(self.grid.at(self.permutation.at(self.next - 1), len))
    }
}
