//! Self-similar ranks: the first share h of them gets the share 1 - h of the commands, and the first
//! share h of these again.
//!
//! Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994): a rank is
//! n u^p with a uniform u and p = log(h) / log(1 - h). fio calls it `pareto:h`.

use base::{Ratio, Rng};

use super::zipf::unit;

/// The distribution.
#[derive(Clone, Debug)]
pub(crate) struct Pareto {
    power: f64,
    ranks: u64,
}

impl Pareto {
    /// The distribution of `ranks` (at least 1), with a `share` above 0 and at most 1/2.
    pub(crate) fn new(share: Ratio, ranks: u64) -> Self {
        let h = share.as_f64();
        Self { power: libm::log(h) / libm::log1p(-h), ranks }
    }

    /// A rank, from 0 on.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        let rank = (self.ranks as f64 * libm::pow(unit(rng), self.power)) as u64;
        rank.min(self.ranks - 1)
    }
}
