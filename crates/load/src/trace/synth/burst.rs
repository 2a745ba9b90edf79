//! Queue depths in bursts: a burst climbs from depth 1 one command at a time, stays at its peak for
//! a while, and ends.
//!
//! A command at depth d is issued while d - 1 are outstanding. No depth exceeds the preceding one
//! by more than one. A replay that keeps the recorded depths can therefore reach every one of them
//! on any drive, and the depths of the trace are those of the replay.

use base::Rng;

/// Depths still to be distributed.
pub(super) struct Bursts {
    /// I/Os on the way up, by depth.
    climb: Vec<u64>,
    /// I/Os at the peak, by depth.
    stay: Vec<u64>,
    /// Bursts with their peak at a depth.
    bursts: Vec<u64>,
    bursts_left: u64,
    peak: usize,
    depth: usize,
    stay_left: u64,
}

impl Bursts {
    /// Bursts that use up `counts` (by depth), with about `burst_ios` at their peak.
    pub(super) fn new(counts: &[u64], burst_ios: u64) -> Self {
        let depths = counts.len();
        let (mut climb, mut stay, mut bursts) = (vec![0; depths], vec![0; depths], vec![0; depths]);
        let mut higher = 0;
        for depth in (1..depths).rev() {
            climb[depth] = higher.min(counts[depth]);
            stay[depth] = counts[depth] - climb[depth];
            if stay[depth] > 0 {
                let wanted = stay[depth].div_ceil(burst_ios.max(1));
                // Each burst climbs through every lower depth; they must have enough for that.
                let lower = counts[1..depth].iter().min().copied().unwrap_or(u64::MAX);
                bursts[depth] = wanted.min(lower.saturating_sub(higher)).max(1);
                higher += bursts[depth];
            }
        }
        let bursts_left = bursts.iter().sum();
        Self { climb, stay, bursts, bursts_left, peak: 0, depth: 0, stay_left: 0 }
    }

    /// The depth of the next I/O, and whether a burst begins with it; `None` at the end.
    pub(super) fn next_depth(&mut self, rng: &mut Rng) -> Option<(u16, bool)> {
        let begins = self.depth >= self.peak && self.stay_left == 0;
        if begins && !self.begin(rng) {
            return None;
        }
        while self.depth + 1 < self.peak {
            self.depth += 1;
            if self.climb[self.depth] > 0 {
                self.climb[self.depth] -= 1;
                return Some((self.depth as u16, begins));
            }
        }
        self.depth = self.peak;
        self.stay_left -= 1;
        Some((self.peak as u16, begins))
    }

    fn begin(&mut self, rng: &mut Rng) -> bool {
        if self.bursts_left == 0 {
            return false;
        }
        let mut at = rng.below(self.bursts_left);
        for (depth, &bursts) in self.bursts.iter().enumerate() {
            if at < bursts {
                self.peak = depth;
                break;
            }
            at -= bursts;
        }
        let (stay, bursts) = (&mut self.stay[self.peak], &mut self.bursts[self.peak]);
        // One for every burst to come; what is above is dealt out evenly around the mean.
        let spare = *stay - *bursts;
        let extra =
            if *bursts == 1 { spare } else { rng.below(2 * spare / *bursts + 1).min(spare) };
        self.stay_left = 1 + extra;
        *stay -= self.stay_left;
        *bursts -= 1;
        self.bursts_left -= 1;
        self.depth = 0;
        true
    }
}
