//! Lengths of commands with their weights.

use std::sync::Arc;

use base::Rng;

/// Lengths in bytes with their weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(Arc<[(u32, u32)]>);

impl Sizes {
    /// Lengths with weights, or `None` if there are none, or one has no length or no weight.
    pub fn new(weighted: &[(u32, u32)]) -> Option<Self> {
        let is_empty = weighted.is_empty()
            || weighted.iter().any(|(bytes, weight)| *bytes == 0 || *weight == 0);
        (!is_empty).then(|| Self(weighted.into()))
    }

    /// Each length in bytes with its weight.
    pub fn weighted(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// The longest one in bytes.
    pub fn largest_bytes(&self) -> u32 {
        self.0.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0)
    }

    /// A length, drawn by the weights.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> u32 {
        self.0[drawn(rng, &self.0)].0
    }
}

/// Index of an entry, drawn by the weights in second place.
#[inline]
pub(crate) fn drawn(rng: &mut Rng, weighted: &[(u32, u32)]) -> usize {
    let total: u64 = weighted.iter().map(|(_, weight)| u64::from(*weight)).sum();
    let mut left = rng.below(total);
    for (at, (_, weight)) in weighted.iter().enumerate() {
        match left.checked_sub((*weight).into()) {
            Some(rest) => left = rest,
            None => return at,
        }
    }
    weighted.len() - 1
}
