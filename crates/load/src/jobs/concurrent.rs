//! The largest load of jobs that may run at one time.
//!
//! Jobs with a begin after the end of others are a partial order, and those that may run at one time
//! are pairwise without order. By Dilworth's theorem, with a weight for each job, the largest sum of
//! such jobs is that of all weights without what chains of jobs can share: a maximum flow.

use std::collections::VecDeque;

/// The largest sum of `weights` over jobs of which none lies before another; `before[job]` tells for
/// each job whether it lies before `job`, over any number of jobs between them.
pub(super) fn largest_sum(weights: &[u32], before: &[Vec<bool>]) -> u32 {
    let all: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
    let mut flow = Flow {
        before,
        // The weight that a job can still hand over to later ones, and take over from earlier ones.
        gives: weights.iter().map(|weight| u64::from(*weight)).collect(),
        takes: weights.iter().map(|weight| u64::from(*weight)).collect(),
        handed: vec![vec![0; weights.len()]; weights.len()],
    };
    let mut shared = 0;
    while let Some(more) = flow.augment() {
        shared += more;
    }
    u32::try_from(all.saturating_sub(shared)).unwrap_or(u32::MAX)
}

/// Weights that earlier jobs hand over to later ones.
struct Flow<'a> {
    before: &'a [Vec<bool>],
    gives: Vec<u64>,
    takes: Vec<u64>,
    /// By the earlier and the later job.
    handed: Vec<Vec<u64>>,
}

impl Flow<'_> {
    /// Hands over more along the shortest way, and returns how much; `None` if nothing more can be.
    fn augment(&mut self) -> Option<u64> {
        let count = self.gives.len();
        // The giver from which a taker was reached, and the taker from which a giver was.
        let (mut giver_of, mut taker_of) = (vec![None; count], vec![None; count]);
        let mut seen: Vec<_> = self.gives.iter().map(|left| *left > 0).collect();
        let mut open: VecDeque<_> = (0..count).filter(|giver| seen[*giver]).collect();
        while let Some(giver) = open.pop_front() {
            for taker in 0..count {
                if giver_of[taker].is_some() || !self.before[taker][giver] {
                    continue;
                }
                giver_of[taker] = Some(giver);
                if self.takes[taker] > 0 {
                    return Some(self.hand_over(taker, &giver_of, &taker_of));
                }
                for other in 0..count {
                    if !seen[other] && self.handed[other][taker] > 0 {
                        (seen[other], taker_of[other]) = (true, Some(taker));
                        open.push_back(other);
                    }
                }
            }
        }
        None
    }

    /// Hands over as much as the way to a taker permits.
    fn hand_over(
        &mut self,
        last: usize,
        giver_of: &[Option<usize>],
        taker_of: &[Option<usize>],
    ) -> u64 {
        let mut way = Vec::new();
        let mut taker = Some(last);
        while let Some((at, giver)) = taker.and_then(|at| Some((at, giver_of[at]?))) {
            way.push((giver, at));
            taker = taker_of[giver];
        }
        let first = way.last().map_or(0, |(giver, _)| self.gives[*giver]);
        let back = way.windows(2).map(|pair| self.handed[pair[0].0][pair[1].1]);
        let amount = back.chain([first, self.takes[last]]).min().unwrap_or(0);
        for (giver, taker) in &way {
            self.handed[*giver][*taker] += amount;
        }
        for pair in way.windows(2) {
            self.handed[pair[0].0][pair[1].1] -= amount;
        }
        if let Some((giver, _)) = way.last() {
            self.gives[*giver] -= amount;
        }
        self.takes[last] -= amount;
        amount
    }
}

#[cfg(test)]
mod tests {
    use base::Rng;

    use super::*;

    /// The sum by trying every set of jobs.
    fn tried(weights: &[u32], before: &[Vec<bool>]) -> u32 {
        let sets = (0..1_u32 << weights.len()).filter_map(|set| {
            let own: Vec<_> = (0..weights.len()).filter(|job| set >> job & 1 == 1).collect();
            let is_free = own.iter().all(|a| own.iter().all(|b| !before[*a][*b]));
            is_free.then(|| own.iter().map(|job| weights[*job]).sum())
        });
        sets.max().unwrap_or(0)
    }

    #[test]
    fn the_largest_sum_is_that_of_all_sets() {
        let mut rng = Rng::new(7);
        for _ in 0..300 {
            let count = 1 + rng.below(9) as usize;
            let weights: Vec<_> = (0..count).map(|_| 1 + rng.below(40) as u32).collect();
            let mut before = vec![vec![false; count]; count];
            for job in 0..count {
                for other in 0..job {
                    if rng.below(3) == 0 {
                        let earlier = before[other].clone();
                        before[job][other] = true;
                        (0..count).for_each(|at| before[job][at] |= earlier[at]);
                    }
                }
            }
            assert_eq!(largest_sum(&weights, &before), tried(&weights, &before), "{before:?}");
        }
    }

    #[test]
    fn two_jobs_in_turn_have_the_depth_of_one() {
        let alone = vec![vec![false; 2]; 2];
        assert_eq!(largest_sum(&[32, 32], &alone), 64);
        let in_turn = vec![vec![false, false], vec![true, false]];
        assert_eq!(largest_sum(&[32, 32], &in_turn), 32);
        assert_eq!(largest_sum(&[], &[]), 0);
        assert_eq!(largest_sum(&[u32::MAX, 7], &alone), u32::MAX);
    }
}
