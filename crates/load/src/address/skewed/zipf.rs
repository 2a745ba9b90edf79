//! Ranks by Zipf's law, in constant memory and time: the probability of rank k is in proportion to
//! k^-theta.
//!
//! Rejection from steps that cover the law (Devroye, "Non-Uniform Random Variate Generation", 1986, chapter
//! II.3). The first ranks have a step each; after them a step is a sixteenth as long as its first rank, so that
//! few hundred of them reach any span. A step is drawn by its area with an alias table (Walker 1977; Vose
//! 1991), a rank uniformly within, and kept with the probability (first rank / rank)^theta, for theta 1 at
//! least 16/17. The power itself is needed only beyond the smallest value that it has in the step. The
//! functions come from `libm`, so that a seed gives the same ranks on every machine.

use base::Rng;

use crate::order::Theta;

/// Ranks with a step each, and the length of later steps as a part of their first rank.
const SINGLE_RANKS: u64 = 256;
const STEPS_PER_OWN_LENGTH: u64 = 16;

/// The distribution over `1..=n`.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    theta: f64,
    steps: Vec<Step>,
}

/// Neighbouring ranks, and an entry of the alias table.
#[derive(Clone, Debug)]
struct Step {
    first: u64,
    len: u64,
    /// The smallest probability to keep a rank of the step.
    least_kept: f64,
    /// The entry stands for itself below this value of 2^64, and else for `alias`.
    own_below: u64,
    alias: usize,
}

impl Zipf {
    /// The distribution of `ranks` (at least 1).
    pub(crate) fn new(theta: Theta, ranks: u64) -> Self {
        let theta = f64::from(theta.thousandths) / 1000.0;
        let mut steps = Vec::new();
        let mut first = 1;
        while first <= ranks {
            let len = if first < SINGLE_RANKS { 1 } else { first / STEPS_PER_OWN_LENGTH };
            let len = len.min(ranks - first + 1);
            let least_kept = power(theta, first, first + len - 1);
            steps.push(Step { first, len, least_kept, own_below: 0, alias: 0 });
            first += len;
        }
        let areas = steps.iter().map(|step| step.len as f64 * power(theta, 1, step.first));
        fill_aliases(areas.collect(), &mut steps);
        Self { theta, steps }
    }

    /// A rank, from 0 on.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let product = u128::from(rng.next_u64()) * self.steps.len() as u128;
            let mut step = &self.steps[(product >> 64) as usize];
            if product as u64 >= step.own_below {
                step = &self.steps[step.alias];
            }
            if step.len == 1 {
                return step.first - 1;
            }
            let rank = step.first + rng.below(step.len);
            let kept = unit(rng);
            if kept < step.least_kept || kept < power(self.theta, step.first, rank) {
                return rank - 1;
            }
        }
    }
}

/// (first / rank)^theta.
fn power(theta: f64, first: u64, rank: u64) -> f64 {
    libm::pow(first as f64 / rank as f64, theta)
}

/// Vose's method: each entry that is too small gets the rest of its column from one that is too large.
fn fill_aliases(mut weights: Vec<f64>, steps: &mut [Step]) {
    const WHOLE: f64 = 18_446_744_073_709_551_616.0;
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..weights.len()).partition(|at| weights[*at] < mean);
    while let (Some(&low), Some(&high)) = (small.last(), large.last()) {
        small.pop();
        steps[low].own_below = (weights[low] / mean * WHOLE) as u64;
        steps[low].alias = high;
        weights[high] -= mean - weights[low];
        if weights[high] < mean {
            large.pop();
            small.push(high);
        }
    }
    for rest in small.into_iter().chain(large) {
        (steps[rest].own_below, steps[rest].alias) = (u64::MAX, rest);
    }
}

/// A number from 0 to below 1 in steps of 2^-53.
#[inline]
pub(crate) fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
