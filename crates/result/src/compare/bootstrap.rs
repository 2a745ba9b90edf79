//! Intervals by resampling: the runs of each side are drawn with replacement, many times, and the
//! spread of the results is the noise. No shape of the noise is assumed.
//!
//! Few runs show too little spread. The ends are moved outwards by the factor that the t
//! distribution needs over the normal one, after the expanded percentile interval of T. Hesterberg,
//! "What Teachers Should Know About the Bootstrap" (2015), section 4.1.

use base::Rng;
use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::{student, summary};

/// Number of resamples.
const RESAMPLES: usize = 2_000;

/// Share of the resamples beyond each end, before the ends are moved.
const TAIL: f64 = 0.05;
/// The value of the normal distribution with this share beyond it.
const NORMAL_AT_TAIL: f64 = 1.644_853_626_951_472_7;

/// The values that the noise leaves possible.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the value is one of them.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The interval of a mean; `chance` is the probability of a mean beyond each end, or `None` with
/// fewer than two values.
pub fn mean(values: &[f64], chance: f64, seed: u64) -> Option<Interval> {
    if values.len() < 2 {
        return None;
    }
    let mut rng = Rng::new(seed);
    let means: Vec<f64> = (0..RESAMPLES).map(|_| resampled_mean(values, &mut rng)).collect();
    Some(stretched(means, summary::mean(values), values.len() - 1, values.len() as f64, chance))
}

/// The interval of mean `b` less mean `a`; `chance` is the probability of a difference beyond each
/// end, or `None` with fewer than two values on a side.
pub fn difference_of_means(a: &[f64], b: &[f64], chance: f64, seed: u64) -> Option<Interval> {
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let mut rng = Rng::new(seed);
    let difference = |rng: &mut Rng| resampled_mean(b, rng) - resampled_mean(a, rng);
    let differences: Vec<f64> = (0..RESAMPLES).map(|_| difference(&mut rng)).collect();
    let runs = a.len() + b.len();
    let observed = summary::mean(b) - summary::mean(a);
    Some(stretched(differences, observed, runs - 2, runs as f64 / 2.0, chance))
}

/// The quantiles of the resamples, moved away from the observed value for `freedom` degrees of
/// freedom and `runs` on each side.
fn stretched(
    mut resamples: Vec<f64>,
    observed: f64,
    freedom: usize,
    runs: f64,
    chance: f64,
) -> Interval {
    resamples.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| resamples[((RESAMPLES - 1) as f64 * share).round() as usize];
    let factor = student::beyond(chance, freedom) / NORMAL_AT_TAIL * (runs / (runs - 1.0)).sqrt();
    let moved = |end: f64| if end == observed { end } else { observed + factor * (end - observed) };
    Interval { low: moved(at(TAIL)), high: moved(at(1.0 - TAIL)) }
}

fn resampled_mean(values: &[f64], rng: &mut Rng) -> f64 {
    let draw = |rng: &mut Rng| values[rng.below(values.len() as u64) as usize];
    (0..values.len()).map(|_| draw(rng)).sum::<f64>() / values.len() as f64
}
