//! Steps around the middle of the span by the normal distribution.
//!
//! George Marsaglia's polar method (1964): a point within the unit circle gives a normal variate. What falls
//! outside the span is drawn again.

use base::{Ratio, Rng};

use super::grid::Grid;
use super::skewed::zipf::unit;

/// State of the order.
#[derive(Clone, Debug)]
pub struct Normal {
    rng: Rng,
    grid: Grid,
    deviation: f64,
}

impl Normal {
    pub(super) fn new(grid: Grid, deviation: Ratio, rng: Rng) -> Self {
        Self { rng, grid, deviation: deviation.as_f64() }
    }

    #[inline]
    pub(super) fn next_block(&mut self, len: u32) -> (u64, u32) {
        loop {
            let share = 0.5 + self.deviation * normal(&mut self.rng);
            if (0.0..1.0).contains(&share) {
                let step = (share * self.grid.steps as f64) as u64;
                return self.grid.at(step.min(self.grid.steps - 1), len);
            }
        }
    }
}

/// A variate of mean 0 and standard deviation 1.
#[inline]
fn normal(rng: &mut Rng) -> f64 {
    loop {
        let (x, y) = (2.0 * unit(rng) - 1.0, 2.0 * unit(rng) - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * libm::log(square) / square).sqrt();
        }
    }
}
