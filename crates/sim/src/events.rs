//! The next event of each die: a tree of minima instead of an event heap.
//!
//! Every die has at most one operation in progress, so the future of the drive is one time per die.
//! A tree of minima gives the earliest in constant time and takes a change in log2(dies) steps
//! without a branch or an allocation. Ties go to the lower die, so the order never depends on
//! history.

/// No event.
pub const NEVER: u64 = u64::MAX;

/// Bits of a key that hold the source.
const SOURCE_BITS: u32 = 16;
/// Times this far after the epoch make a new epoch (39 hours).
const EPOCH_NS: u64 = 1 << (63 - SOURCE_BITS);
/// The key of a source without an event.
const NO_EVENT: u64 = u64::MAX;

/// Nodes of the tree of drives with at most 64 dies.
const USUAL_NODES: usize = 128;

/// The next event of each of a fixed number of sources.
///
/// Time and source share one 64-bit key, so that one comparison without a branch orders both; times
/// count from an epoch that moves along, because 48 bits of nanoseconds last three days.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct EventTree {
    /// The earliest event under each node: the children of node `n` are `2 n` and `2 n + 1`, the
    /// root is node 1, the sources are the second half.
    earliest: Vec<u64>,
    epoch_ns: u64,
    /// The event at the root: its time and its source, asked for at every event of the drive.
    next: (u64, u32),
}

impl EventTree {
    /// A tree for `sources` sources, none with an event.
    ///
    /// # Panics
    /// With more than 65,536 sources. A model with more dies is refused.
    pub fn new(sources: u32) -> Self {
        assert!(sources <= 1 << SOURCE_BITS, "{sources} sources do not fit a key");
        let nodes = 2 * sources.next_power_of_two() as usize;
        Self { earliest: vec![NO_EVENT; nodes.max(USUAL_NODES)], epoch_ns: 0, next: (NEVER, 0) }
    }

    /// Time ([`NEVER`] if there is none) and source of the earliest event.
    #[inline]
    pub fn earliest(&self) -> (u64, u32) {
        self.next
    }

    /// Sets the next event of `source`.
    ///
    /// # Panics
    /// When the time lies before the epoch: an event in the past, a bug in the caller.
    #[inline]
    pub fn set(&mut self, source: u32, time_ns: u64) {
        let since_epoch_ns = time_ns - self.epoch_ns;
        if since_epoch_ns >= EPOCH_NS {
            return self.set_in_new_epoch(source, time_ns);
        }
        self.put(source, since_epoch_ns << SOURCE_BITS | u64::from(source));
    }

    #[cold]
    #[inline(never)]
    fn set_in_new_epoch(&mut self, source: u32, time_ns: u64) {
        self.begin_epoch(time_ns);
        self.set(source, time_ns);
    }

    /// Removes the next event of `source`.
    #[inline]
    pub fn clear(&mut self, source: u32) {
        self.put(source, NO_EVENT);
    }

    #[inline]
    fn put(&mut self, source: u32, key: u64) {
        match <&mut [u64; USUAL_NODES]>::try_from(self.earliest.as_mut_slice()) {
            Ok(nodes) => {
                let root = climb(nodes, source, key);
                self.set_root(root);
            }
            Err(_) => self.put_any(source, key),
        }
    }

    #[inline]
    fn set_root(&mut self, key: u64) {
        let time_ns = self.epoch_ns + (key >> SOURCE_BITS);
        self.next = (if key == NO_EVENT { NEVER } else { time_ns }, u32::from(key as u16));
    }

    /// Puts the key of a source into a larger tree.
    #[cold]
    #[inline(never)]
    fn put_any(&mut self, source: u32, key: u64) {
        let root = climb(&mut self.earliest, source, key);
        self.set_root(root);
    }

    /// Moves the epoch to well before the earliest event, which may be the one at `time_ns`: the
    /// present is earlier than both, and other sources may still get events between.
    fn begin_epoch(&mut self, time_ns: u64) {
        let earliest_ns = self.next.0.min(time_ns);
        let step_ns = (earliest_ns - self.epoch_ns).saturating_sub(EPOCH_NS / 2);
        self.epoch_ns += step_ns;
        for key in self.earliest.iter_mut().filter(|key| **key != NO_EVENT) {
            *key -= step_ns << SOURCE_BITS;
        }
        assert!(time_ns - self.epoch_ns < EPOCH_NS, "two events lie more than 19 hours apart");
    }
}

/// Sets the key of a source and returns that of the root. If the number of nodes is known at
/// compile time, the levels are unrolled without a branch.
#[inline(always)]
fn climb(nodes: &mut [u64], source: u32, mut key: u64) -> u64 {
    let mut node = (nodes.len() / 2 + source as usize) & (nodes.len() - 1);
    nodes[node] = key;
    for _ in 0..nodes.len().ilog2() - 1 {
        key = key.min(nodes[node ^ 1]);
        node /= 2;
        nodes[node] = key;
    }
    key
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
            tree.clear(2);
            assert_eq!(tree.earliest(), (time_ns + 7, 0));
            tree.clear(0);
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
                if time == NEVER {
                    tree.clear(source);
                } else {
                    tree.set(source, time);
                }
                let (want, first) = plain.iter().zip(0..).min().map(|(t, s)| (*t, s)).unwrap();
                let (got, winner) = tree.earliest();
                assert_eq!(got, want);
                assert!(want == NEVER || winner == first, "ties go to the lower source");
            }
        }
    }
}
