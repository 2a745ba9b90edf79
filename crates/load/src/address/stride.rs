//! A block at every multiple of a distance. Each round through the span begins one step later, so that
//! all blocks come up.

use super::grid::Grid;

/// State of the order.
#[derive(Clone, Debug)]
pub struct Stride {
    grid: Grid,
    stride_steps: u64,
    first: u64,
    next: u64,
}

impl Stride {
    pub(super) fn new(grid: Grid, stride_bytes: u64) -> Self {
        let stride_steps = (stride_bytes / u64::from(grid.step_bytes)).max(1);
        Self { grid, stride_steps, first: 0, next: 0 }
    }

    #[inline]
    pub(super) fn next_block(&mut self, len: u32) -> (u64, u32) {
        let step = self.next;
        self.next += self.stride_steps;
        if self.next >= self.grid.steps {
            self.first = (self.first + 1) % self.stride_steps.min(self.grid.steps);
            self.next = self.first;
        }
        self.grid.at(step, len)
    }
}
