//! A random order without repetition over `0..n`, in constant memory.
//!
//! Four rounds of a balanced Feistel network (Luby and Rackoff 1988) over the smallest even number
//! of bits that covers `n`, with cycle walking (Black and Rogaway 2002) for the rest. Invertible:
//! the inverse answers "when will block x come up?".

use crate::rng::Rng;

const ROUNDS: usize = 4;

/// A bijection of `0..n` onto itself, drawn by the generator.
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// A permutation of `0..n`.
    pub fn new(n: u64, rng: &mut Rng) -> Self {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        Self { n, half_bits, keys: std::array::from_fn(|_| rng.next_u64()) }
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Whether there is nothing to permute.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The element at `index`.
    ///
    /// # Panics
    /// When `index` is not below `n`.
    pub fn at(&self, index: u64) -> u64 {
        self.walk(index, Self::forward)
    }

    /// The index at which `element` stands.
    ///
    /// # Panics
    /// When `element` is not below `n`.
    pub fn index_of(&self, element: u64) -> u64 {
        self.walk(element, Self::backward)
    }

    /// Applies the network until the value falls inside `0..n`; the domain is less than four times
    /// `n`, so a few steps do on average.
    fn walk(&self, mut value: u64, step: impl Fn(&Self, u64) -> u64) -> u64 {
        assert!(value < self.n, "{value} is outside the permutation of {} elements", self.n);
        loop {
            value = step(self, value);
            if value < self.n {
                return value;
            }
        }
    }

    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }

    fn round(&self, value: u64, key: u64) -> u64 {
        let mut z = (value ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 32)) & self.mask()
    }

    fn forward(&self, value: u64) -> u64 {
        let (mut left, mut right) = (value >> self.half_bits, value & self.mask());
        for &key in &self.keys {
            (left, right) = (right, left ^ self.round(right, key));
        }
        left << self.half_bits | right
    }

    fn backward(&self, value: u64) -> u64 {
        let (mut left, mut right) = (value >> self.half_bits, value & self.mask());
        for &key in self.keys.iter().rev() {
            (left, right) = (right ^ self.round(left, key), left);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::{Permutation, Rng};
    use proptest::prelude::{prop_assert_eq, proptest};

    #[test]
    fn is_a_bijection_for_every_small_size() {
        for n in 1..=1030_u64 {
            let permutation = Permutation::new(n, &mut Rng::new(n));
            let mut seen = vec![false; usize::try_from(n).unwrap()];
            for index in 0..n {
                let element = permutation.at(index);
                let slot = &mut seen[usize::try_from(element).unwrap()];
                assert!(!*slot, "{element} comes up twice among {n}");
                *slot = true;
            }
        }
    }

    proptest! {
        #[test]
        fn the_inverse_finds_the_index(n in 1..=u64::MAX >> 2, seed: u64, pick: u64) {
            let permutation = Permutation::new(n, &mut Rng::new(seed));
            let index = pick % n;
            prop_assert_eq!(permutation.index_of(permutation.at(index)), index);
        }
    }

    #[test]
    fn looks_random() {
        let n = 1 << 16;
        let permutation = Permutation::new(n, &mut Rng::new(1));
        let rises = (1..n).filter(|&i| permutation.at(i) > permutation.at(i - 1)).count();
        assert!((32_000..33_600).contains(&rises), "{rises} rises in {n}");
    }
}
