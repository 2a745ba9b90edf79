//! Parts of the ranks with probabilities of their own: hot and cold data, and data that is never
//! touched.

use base::{Ratio, Rng};

use crate::order::Zone;

/// Steps of the probabilities.
const WHOLE: u64 = 1_000_000;

/// The distribution: of each part that gets commands, its first rank, its length, and the end of its share
/// of [`WHOLE`].
#[derive(Clone, Debug)]
pub(crate) struct Zones(Vec<(u64, u64, u64)>);

impl Zones {
    /// The parts of `ranks`; each has at least one.
    pub(crate) fn new(zones: &[Zone], ranks: u64) -> Self {
        let (mut size, mut commands) = (0.0, 0.0);
        let mut parts = Vec::with_capacity(zones.len());
        for zone in zones {
            let first = (ranks as f64 * size) as u64;
            size += zone.size.as_f64();
            commands += zone.commands.as_f64();
            let end = ((ranks as f64 * size).round() as u64).clamp(first + 1, ranks.max(first + 1));
            if !zone.commands.is_zero() {
                parts.push((
                    first.min(ranks - 1),
                    (end - first).min(ranks),
                    (commands * WHOLE as f64).round() as u64,
                ));
            }
        }
        if let Some((_, _, last)) = parts.last_mut() {
            *last = WHOLE;
        }
        Self(parts)
    }

    /// All ranks but the last `share` of them, uniformly.
    pub(crate) fn without(share: Ratio, ranks: u64) -> Self {
        Self(vec![(0, share.complement().of(ranks).max(1), WHOLE)])
    }

    /// A rank, from 0 on.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        let of_whole = rng.below(WHOLE);
        let part = self.0.iter().find(|(_, _, end)| of_whole < *end).or(self.0.last());
        part.map_or(0, |(first, len, _)| first + rng.below(*len))
    }
}
