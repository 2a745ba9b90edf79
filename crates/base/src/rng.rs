//! The random numbers of every simulation and workload.
//!
//! xoshiro256++ 1.0 (Blackman and Vigna, 2019), seeded through `SplitMix64` as its authors advise.
//! Our own code on purpose: a seed in an old result must give the same run for as long as ssdlab
//! exists, and libraries reserve the right to change theirs. Integers only.

use crate::fnv::Fnv;

/// A seeded generator. Give every consumer its own by [`Rng::split`]; a new consumer then does
/// not shift the numbers of the others.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Rng {
    state: [u64; 4],
}

fn split_mix_64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        let mut mix = seed;
        Self { state: std::array::from_fn(|_| split_mix_64(&mut mix)) }
    }

    /// The generator of the consumer `name` under `seed` (FNV-1a of the name, mixed with the seed).
    pub fn split(seed: u64, name: &str) -> Self {
        let mut of_name = Fnv::EMPTY;
        of_name.add(name.bytes().map(u64::from));
        let mut mix = seed;
        Self::new(split_mix_64(&mut mix) ^ of_name.value())
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number below `bound` (not zero), without bias (Lemire 2019, multiply and reject).
    ///
    /// # Panics
    /// When `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a number below zero was asked for");
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// True with probability `numerator / denominator`.
    #[inline]
    pub fn chance(&mut self, numerator: u64, denominator: u64) -> bool {
        self.below(denominator) < numerator
    }

    /// A number with this mean, exponential but for straight lines: each time that its probability halves it is larger
    /// by two thirds of the mean.
    #[inline]
    pub fn exponential(&mut self, mean: u64) -> u64 {
        let bits = self.next_u64();
        let halvings = bits.leading_zeros();
        let rest = bits.checked_shl(halvings + 1).unwrap_or(0);
        let third = u128::from(mean) * (u128::from(halvings) << 64 | u128::from(rest)) / 3;
        (third >> 63) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs for the state {1, 2, 3, 4}, as the authors' reference program prints them.
    #[test]
    fn gives_the_published_sequence() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let want = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
        ];
        for value in want {
            assert_eq!(rng.next_u64(), value);
        }
    }

    /// First outputs of `SplitMix64` for the seed 1234567, as published with the reference code.
    #[test]
    fn seeds_through_the_published_mixer() {
        let mut state = 1_234_567;
        assert_eq!(split_mix_64(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix_64(&mut state), 3_203_168_211_198_807_973);
        assert_eq!(split_mix_64(&mut state), 9_817_491_932_198_370_423);
    }

    #[test]
    fn names_give_streams_of_their_own() {
        let first = Rng::split(7, "addresses").next_u64();
        assert_eq!(first, Rng::split(7, "addresses").next_u64());
        assert_ne!(first, Rng::split(7, "gc").next_u64());
        assert_ne!(first, Rng::split(8, "addresses").next_u64());
    }

    #[test]
    fn an_exponential_number_has_its_mean_and_rises_by_two_thirds_of_it_per_halving() {
        const DRAWS: usize = 1 << 20;
        let mut rng = Rng::new(5);
        let mut drawn: Vec<u64> = (0..DRAWS).map(|_| rng.exponential(3_000)).collect();
        drawn.sort_unstable();
        let mean = drawn.iter().sum::<u64>() / DRAWS as u64;
        // Four deviations of the mean of so many: 4 x 3,000 / 2^10.
        assert!(mean.abs_diff(3_000) < 12, "{mean}");
        for halvings in 1..10 {
            let above = DRAWS >> halvings;
            let quantile = drawn[DRAWS - above];
            // Four deviations of the share, each worth 2,000 / (share x ln 2).
            let slack = 4 * 2_900 / above.isqrt() as u64;
            assert!(quantile.abs_diff(halvings * 2_000) <= slack, "{halvings}: {quantile}");
        }
    }

    #[test]
    fn below_is_uniform_and_never_out_of_range() {
        let mut rng = Rng::new(3);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[usize::try_from(rng.below(7)).unwrap()] += 1;
        }
        // Chi-square with 6 degrees of freedom stays under 22.5 in 99.9% of fair generators.
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 22.5, "{chi} {counts:?}");
    }
}
