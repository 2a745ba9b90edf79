//! When each die is next done: a tree of minima instead of an event heap.
//!
//! Every die has at most one thing under way, so the future of the drive is one time per die. A
//! tree of minima gives the earliest in constant time and takes a change in log8(dies) steps, without
//! allocation. Ties go to the lower die, so the order never depends on history.

/// No event.
pub const NEVER: u64 = u64::MAX;

/// Bits of a key that hold the source.
const SOURCE_BITS: u32 = 16;
/// Times this far after the epoch make a new epoch (39 hours).
const EPOCH_NS: u64 = 1 << (63 - SOURCE_BITS);
/// The key of a source without an event.
const NO_EVENT: u64 = u64::MAX;

/// Children of a group.
const FAN: usize = 8;

/// The next event of each of a fixed number of sources.
///
/// Time and source share one 64-bit key, so that one comparison without a branch orders both; times
/// count from an epoch that moves along, because 48 bits of nanoseconds last three days.
#[derive(Clone, Debug)]
pub struct EventTree {
    /// The earliest event under each child of each group; the children of slot `s` of group `g` are in
    /// group `8 g + 1 + s`, the sources in the last groups. Eight at a time, because a group is one
    /// cache line and its minimum needs no branch.
    groups: Vec<[u64; FAN]>,
    /// Group of the first eight sources.
    first_leaf: usize,
    earliest: u64,
    epoch_ns: u64,
}

impl EventTree {
    /// A tree for `sources` sources, none with an event.
    ///
    /// # Panics
    /// With more than 65,536 sources. A model with so many dies is refused.
    #[must_use]
    pub fn new(sources: u32) -> Self {
        assert!(sources <= 1 << SOURCE_BITS, "{sources} sources do not fit a key");
        let (mut first_leaf, mut leaves) = (0, 1);
        while leaves * FAN < sources as usize {
            first_leaf += leaves;
            leaves *= FAN;
        }
        let groups = vec![[NO_EVENT; FAN]; first_leaf + leaves];
        Self { groups, first_leaf, earliest: NO_EVENT, epoch_ns: 0 }
    }

    /// The earliest event: its time ([`NEVER`] where there is none) and its source.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> (u64, u32) {
        let source = self.earliest as u32 & ((1 << SOURCE_BITS) - 1);
        if self.earliest == NO_EVENT {
            (NEVER, 0)
        } else {
            (self.epoch_ns + (self.earliest >> SOURCE_BITS), source)
        }
    }

    /// Sets the next event of `source`; [`NEVER`] clears it.
    ///
    /// # Panics
    /// When the time lies before the epoch: an event in the past, a bug in the caller.
    #[inline]
    pub fn set(&mut self, source: u32, time_ns: u64) {
        let key = if time_ns == NEVER {
            NO_EVENT
        } else {
            if time_ns - self.epoch_ns >= EPOCH_NS {
                self.begin_epoch(time_ns);
            }
            (time_ns - self.epoch_ns) << SOURCE_BITS | u64::from(source)
        };
        self.put(source as usize, key);
    }

    #[inline]
    fn put(&mut self, source: usize, mut key: u64) {
        let mut group = self.first_leaf + source / FAN;
        let mut slot = source % FAN;
        loop {
            let keys = &mut self.groups[group];
            keys[slot] = key;
            key = least(keys);
            if group == 0 {
                self.earliest = key;
                return;
            }
            (group, slot) = ((group - 1) / FAN, (group - 1) % FAN);
        }
    }

    /// Counts from well before the earliest event on, which may be the one at `time_ns`: the present is
    /// earlier than both, and other sources may still get events between.
    #[cold]
    fn begin_epoch(&mut self, time_ns: u64) {
        let earliest_ns = self.earliest().0.min(time_ns);
        let step_ns = (earliest_ns - self.epoch_ns).saturating_sub(EPOCH_NS / 2);
        self.epoch_ns += step_ns;
        let keys = self.groups.iter_mut().flatten().chain([&mut self.earliest]);
        for key in keys.filter(|key| **key != NO_EVENT) {
            *key -= step_ns << SOURCE_BITS;
        }
        assert!(time_ns - self.epoch_ns < EPOCH_NS, "two events lie more than 19 hours apart");
    }
}

#[inline]
fn least(keys: &[u64; FAN]) -> u64 {
    let [a, b, c, d, e, f, g, h] = *keys;
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    #[test]
    fn epochs_change_nothing() {
        let mut tree = EventTree::new(3);
        for day in 0..10_000 {
            let time_ns = day * 86_400_000_000_000;
            tree.set(2, time_ns + 5);
            tree.set(0, time_ns + 7);
            assert_eq!(tree.earliest(), (time_ns + 5, 2));
            tree.set(2, NEVER);
            assert_eq!(tree.earliest(), (time_ns + 7, 0));
            tree.set(0, NEVER);
            assert_eq!(tree.earliest().0, NEVER);
        }
    }

    #[test]
    fn an_epoch_begins_before_the_present() {
        const DAY_NS: u64 = 86_400_000_000_000;
        let mut tree = EventTree::new(2);
        tree.set(0, 3 * DAY_NS);
        tree.set(1, 3 * DAY_NS - DAY_NS / 24);
        assert_eq!(tree.earliest(), (3 * DAY_NS - DAY_NS / 24, 1));
    }

    #[test]
    fn gives_the_earliest_of_any_history() {
        for sources in [1, 2, 3, 8, 9, 64, 100] {
            let mut tree = EventTree::new(sources);
            let mut plain = vec![NEVER; sources as usize];
            let mut rng = Rng::new(u64::from(sources));
            for _ in 0..2_000 {
                let source = rng.below(u64::from(sources)) as u32;
                let time = if rng.chance(1, 8) { NEVER } else { rng.below(50) };
                plain[source as usize] = time;
                tree.set(source, time);
                let (want, first) = plain.iter().zip(0..).min().map(|(t, s)| (*t, s)).unwrap();
                let (got, winner) = tree.earliest();
                assert_eq!(got, want);
                assert!(want == NEVER || winner == first, "ties go to the lower source");
            }
        }
    }
}
