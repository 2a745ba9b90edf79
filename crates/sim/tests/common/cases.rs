//! The selection of cases for tests with random ones.
//!
//! A plain call tries a tenth. If [`FIRST_VARIABLE`] names the first seed, as `cargo xtask test`
//! does, these are new seeds; otherwise always the same. With [`FULL_VARIABLE`] the test tries all,
//! always the same. With [`ONE_VARIABLE`] it tries only the one that a failure has named.

use std::ops::Range;

/// The one seed to repeat.
const ONE_VARIABLE: &str = "SSDLAB_TEST_SEED";
/// The first of the seeds to try.
const FIRST_VARIABLE: &str = "SSDLAB_TEST_FIRST_SEED";
/// `1` for all seeds.
const FULL_VARIABLE: &str = "SSDLAB_TEST_FULL";
/// A plain call tries one case in this number.
const SHARE: u64 = 10;

/// The selected cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cases {
    /// All, from seed 0 on.
    All,
    /// A tenth of them, from this seed on.
    Tenth(u64),
    /// One, which need not contain every event.
    One(u64),
}

impl Cases {
    /// The selection by the environment.
    pub fn chosen() -> Self {
        let number = |name: &str| {
            let text = std::env::var(name).ok()?;
            Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a seed")))
        };
        if let Some(seed) = number(ONE_VARIABLE) {
            return Self::One(seed);
        }
        if number(FULL_VARIABLE) == Some(1) {
            return Self::All;
        }
        Self::Tenth(number(FIRST_VARIABLE).unwrap_or(0))
    }

    /// The selected seeds of a test with this number of seeds.
    pub fn seeds(self, all: u64) -> Range<u64> {
        match self {
            Self::All => 0..all,
            Self::Tenth(first) => first..first.saturating_add(all / SHARE),
            Self::One(seed) => seed..seed + 1,
        }
    }

    /// The selected part of a number of cases.
    pub fn part(self, of_all: u64) -> u64 {
        match self {
            Self::All => of_all,
            Self::Tenth(_) => of_all / SHARE,
            Self::One(_) => 0,
        }
    }

    /// The selected members of a series: all of them, or one, which changes with the seed.
    pub fn members<T: Copy>(self, series: &[T]) -> Vec<T> {
        let (Self::Tenth(seed) | Self::One(seed)) = self else {
            return series.to_vec();
        };
        vec![series[seed as usize % series.len()]]
    }

    /// Least number of events, if all cases together need this many. A few cases can cause most of
    /// a sum, so that a tenth of them needs only one event.
    pub fn least(self, in_all: u64) -> u64 {
        if self == Self::All { in_all } else { in_all / 1_000 }
    }

    /// Whether one seed is repeated.
    pub fn is_repetition(self) -> bool {
        matches!(self, Self::One(_))
    }
}

/// The command that repeats one case.
pub fn how_to_repeat(test: &str, seed: u64) -> String {
    format!("to see it again: {ONE_VARIABLE}={seed} cargo test -p ssdlab-sim --test {test}")
}
