//! Ranks by Zipf's law on a drive below full size.

use base::Rng;

/// The law over the pages of a drive at full size, each page of the smaller drive for as many of them as there are.
///
/// The probability of rank k is in proportion to k^-theta. Its integral from 1/2 to n + 1/2 is inverted, so that a draw
/// takes constant time; the integral of a rank differs from its probability by 10% for the first rank at theta = 1, and by
/// less than 2% for all others.
pub(super) struct PowerLaw {
    theta: f64,
    /// 1/2 and n + 1/2.
    ends: (f64, f64),
    /// Pages of the smaller drive for each of full size.
    scale: f64,
    pages: u64,
}

impl PowerLaw {
    /// The law with an exponent, over `full_pages` that `pages` stand for.
    pub(super) fn new(theta: f64, full_pages: u64, pages: u64) -> Self {
        let ends = (0.5, full_pages as f64 + 0.5);
        Self { theta, ends, scale: pages as f64 / full_pages as f64, pages }
    }

    /// A rank on the smaller drive, from 0 on.
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        let share = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let (begin, end) = self.ends;
        let exponent = 1.0 - self.theta;
        let rank = if exponent == 0.0 {
            begin * (end / begin).powf(share)
        } else {
            let (low, high) = (begin.powf(exponent), end.powf(exponent));
            (low + share * (high - low)).powf(1.0 / exponent)
        };
        (((rank - begin) * self.scale) as u64).min(self.pages - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of draws in the first tenth of the pages.
    fn first_tenth(theta: f64, pages: u64) -> f64 {
        let law = PowerLaw::new(theta, 1_000_000, pages);
        let mut rng = Rng::new(3);
        let hits = (0..100_000).filter(|_| law.draw(&mut rng) < pages / 10).count();
        hits as f64 / 100_000.0
    }

    #[test]
    fn a_smaller_drive_keeps_the_law_of_full_size() {
        let sum = |theta: f64, n: u32| (1..=n).map(|k| f64::from(k).powf(-theta)).sum::<f64>();
        for theta in [0.0, 0.4, 0.8, 1.0] {
            let exact = sum(theta, 100_000) / sum(theta, 1_000_000);
            for pages in [1_000_000, 10_000] {
                let drawn = first_tenth(theta, pages);
                assert!((drawn - exact).abs() < 0.01, "{theta}, {pages}: {drawn}, {exact}");
            }
        }
    }
}
