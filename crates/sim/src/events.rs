//! When each die is next done: a winner tree instead of an event heap.
//!
//! Every die has at most one thing under way, so the future of the drive is one time per die. A
//! winner tree gives the earliest in constant time and takes a change in log2(dies) compares,
//! without allocation. Ties go to the lower die, so the order never depends on history.

/// No event.
pub const NEVER: u64 = u64::MAX;

/// The next event of each of a fixed number of sources.
#[derive(Clone, Debug)]
pub struct EventTree {
    /// The earliest event under each node, as time and source in one number so that one comparison
    /// orders both; node 1 is the root, the leaves come last.
    earliest: Vec<u128>,
    leaves: usize,
}

#[inline]
fn event(time_ns: u64, source: u32) -> u128 {
    u128::from(time_ns) << 32 | u128::from(source)
}

impl EventTree {
    /// A tree for `sources` sources, none with an event.
    #[must_use]
    pub fn new(sources: u32) -> Self {
        let leaves = sources.max(2).next_power_of_two();
        let mut tree =
            Self { earliest: vec![u128::MAX; 2 * leaves as usize], leaves: leaves as usize };
        for source in 0..leaves {
            tree.set(source, NEVER);
        }
        tree
    }

    /// The earliest event: its time ([`NEVER`] where there is none) and its source.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> (u64, u32) {
        let event = self.earliest[1];
        ((event >> 32) as u64, event as u32)
    }

    /// Sets the next event of `source`; [`NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, source: u32, time_ns: u64) {
        let mut node = self.leaves + source as usize;
        let mut earliest = event(time_ns, source);
        self.earliest[node] = earliest;
        while node > 1 {
            earliest = earliest.min(self.earliest[node ^ 1]);
            node /= 2;
            self.earliest[node] = earliest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    #[test]
    fn gives_the_earliest_of_any_history() {
        for sources in [1, 2, 3, 7, 64, 100] {
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
