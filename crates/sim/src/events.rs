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
    times: Vec<u64>,
    /// `winners[node]` is the source with the earliest time under `node`; node 1 is the root.
    winners: Vec<u32>,
    leaves: usize,
}

impl EventTree {
    /// A tree for `sources` sources, none with an event.
    #[must_use]
    pub fn new(sources: u32) -> Self {
        let leaves = (sources.max(2) as usize).next_power_of_two();
        let mut winners = vec![0; 2 * leaves];
        for (source, winner) in winners[leaves..].iter_mut().enumerate() {
            *winner = source as u32;
        }
        for node in (1..leaves).rev() {
            winners[node] = winners[2 * node];
        }
        Self { times: vec![NEVER; leaves], winners, leaves }
    }

    /// The earliest event: its time ([`NEVER`] where there is none) and its source.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> (u64, u32) {
        let source = self.winners[1];
        (self.times[source as usize], source)
    }

    /// Sets the next event of `source`; [`NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, source: u32, time_ns: u64) {
        self.times[source as usize] = time_ns;
        let mut node = (self.leaves + source as usize) / 2;
        while node > 0 {
            let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
            let left_first = self.times[left as usize] <= self.times[right as usize];
            self.winners[node] = if left_first { left } else { right };
            node /= 2;
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
