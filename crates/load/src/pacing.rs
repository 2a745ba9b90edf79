//! Due times of commands: at the end of another command, or by a schedule that no target can slow
//! down.
//!
//! In a closed loop, a stalled target determines how few commands feel the stall. A schedule does
//! not depend on it: a command that is due during the stall is due then, and its latency counts
//! from there.

mod shape;
mod text;

use base::{Nanos, Rng};

pub use text::PacingError;

/// The highest rate: one command per nanosecond.
pub const RATE_IOPS_MAX: u64 = 1_000_000_000;

/// Rule for the issue of the next command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// A new command for each one that ends; written `max`.
    #[default]
    ClosedLoop,
    /// At equal intervals; written `1000`.
    Fixed {
        /// Commands per second, 1 to [`RATE_IOPS_MAX`].
        rate_iops: u64,
    },
    /// At independent random times (a Poisson process), as from many users together; written
    /// `poisson:1000`.
    Poisson {
        /// Mean number of commands per second, 1 to [`RATE_IOPS_MAX`].
        rate_iops: u64,
    },
    /// At equal intervals for a time, then not at all for a time, and so on; written `bursts(20k, on=100ms,
    /// off=900ms)`.
    Bursts {
        /// Commands per second within a burst, 1 to [`RATE_IOPS_MAX`].
        rate_iops: u64,
        /// Length of a burst, above 0.
        on: Nanos,
        /// Time from the end of a burst to the begin of the next one.
        off: Nanos,
    },
    /// At a rate that changes evenly and then stays; written `ramp(1k, to=20k, over=60s)`.
    Ramp {
        /// Commands per second at the begin, 1 to [`RATE_IOPS_MAX`].
        from_iops: u64,
        /// Commands per second at the end of the change and from then on, 1 to [`RATE_IOPS_MAX`].
        to_iops: u64,
        /// Length of the change, above 0.
        over: Nanos,
    },
}

impl Pacing {
    /// The most commands per second at any time; `None` in a closed loop.
    pub fn highest_iops(self) -> Option<u64> {
        match self {
            Self::ClosedLoop => None,
            Self::Fixed { rate_iops }
            | Self::Poisson { rate_iops }
            | Self::Bursts { rate_iops, .. } => Some(rate_iops),
            Self::Ramp { from_iops, to_iops, .. } => Some(from_iops.max(to_iops)),
        }
    }
}

/// Bits behind the point of [`Schedule::due_q32`].
const FRACTION_BITS: u32 = 32;
const SECOND_Q32: u128 = (Nanos::SECOND.0 as u128) << FRACTION_BITS;

/// The due times of commands, from the start of a phase on, as integers: the same seed gives the
/// same times on every machine.
#[derive(Clone, Debug)]
pub struct Schedule {
    pacing: Pacing,
    rate_iops: u64,
    /// Index of the next command among those of all workers, and number of workers.
    index: u64,
    workers: u64,
    /// Due time of the next one, in ns times 2^32: rounding must not change the rate.
    due_q32: u128,
    gaps: Rng,
}

impl Schedule {
    /// The schedule of `pacing`; `None` for a closed loop, which has none.
    pub fn new(pacing: Pacing, seed: u64) -> Option<Self> {
        Self::of_worker(pacing, seed, 0, 1)
    }

    /// The part of one of several workers in the schedule of `pacing`: every `workers`-th command
    /// of a fixed rate, or a separate process at its share of the rate; together these form a
    /// Poisson process of the whole rate. `seed` is that of the worker.
    pub fn of_worker(pacing: Pacing, seed: u64, worker: u32, workers: u32) -> Option<Self> {
        let rate_iops = pacing.highest_iops()?;
        let gaps = Rng::split(seed, "gaps");
        let (index, workers) = (u64::from(worker), u64::from(workers));
        let mut schedule = Self { pacing, rate_iops, index, workers, due_q32: 0, gaps };
        schedule.due_q32 = match pacing {
            Pacing::Poisson { .. } => schedule.gap_q32(),
            _ => schedule.indexed_q32(),
        };
        Some(schedule)
    }

    /// Due time of the next command, from the start of the phase.
    #[inline]
    pub fn due(&self) -> Nanos {
        Nanos((self.due_q32 >> FRACTION_BITS) as u64)
    }

    /// Advances to the next command.
    #[inline]
    pub fn advance(&mut self) {
        self.index += self.workers;
        self.due_q32 = match self.pacing {
            Pacing::Poisson { .. } => self.due_q32 + self.gap_q32(),
            _ => self.indexed_q32(),
        };
    }

    #[inline]
    fn indexed_q32(&self) -> u128 {
        if let Pacing::Fixed { rate_iops } = self.pacing {
            return shape::fixed_q32(rate_iops, self.index);
        }
        shape::due_q32(self.pacing, self.index).unwrap_or(0)
    }

    #[inline]
    fn gap_q32(&mut self) -> u128 {
        let (whole, fraction) = exponential(&mut self.gaps);
        let mean_q32 = SECOND_Q32 * u128::from(self.workers) / u128::from(self.rate_iops);
        u128::from(whole) * mean_q32 + ((u128::from(fraction) * mean_q32) >> u64::BITS)
    }

    /// Number of commands, from the next one on, that are due before `end`; the expected number in
    /// a Poisson process.
    pub fn due_before(&self, end: Nanos) -> u64 {
        let rate_iops = u128::from(self.rate_iops);
        let all = match self.pacing {
            Pacing::Poisson { .. } => {
                let left_q32 = (u128::from(end.0) << FRACTION_BITS).saturating_sub(self.due_q32);
                (left_q32 * rate_iops).div_ceil(SECOND_Q32)
            }
            Pacing::Bursts { .. } | Pacing::Ramp { .. } => {
                shape::first_due_at(self.pacing, end).saturating_sub(self.index).into()
            }
            // From the index: a rounded due time would count a command that is due at `end`.
            _ => (u128::from(end.0) * rate_iops)
                .div_ceil(Nanos::SECOND.0.into())
                .saturating_sub(self.index.into()),
        };
        let commands = all.div_ceil(u128::from(self.workers));
        u64::try_from(commands).unwrap_or(u64::MAX)
    }
}

/// An exponential variate of mean 1: its whole part, and its fraction in units of 2^-64.
///
/// John von Neumann's method ("Various techniques used in connection with random digits", 1951)
/// draws uniform numbers while they fall. If the run that begins with `first` has odd length,
/// `first` is the fraction; otherwise the whole part grows by one. The method is exact, and needs
/// no logarithm, whose last digit depends on the library.
#[inline]
fn exponential(rng: &mut Rng) -> (u64, u64) {
    let mut whole = 0;
    loop {
        let first = rng.next_u64();
        let mut last = first;
        let mut odd = true;
        loop {
            let next = rng.next_u64();
            if next >= last {
                break;
            }
            (last, odd) = (next, !odd);
        }
        if odd {
            return (whole, first);
        }
        whole += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(pacing: Pacing, seed: u64) -> impl Iterator<Item = u64> {
        let mut schedule = Schedule::new(pacing, seed).expect("an open loop");
        std::iter::from_fn(move || {
            let due = schedule.due();
            schedule.advance();
            Some(due.0)
        })
    }

    #[test]
    fn a_fixed_rate_is_exact_however_odd() {
        for rate_iops in [1, 3, 7, 1_000, 333_333, 999_983, 1_000_000, RATE_IOPS_MAX] {
            let pacing = Pacing::Fixed { rate_iops };
            let second = Nanos::SECOND.0;
            for (index, due) in (0..).zip(moments(pacing, 1)).take(1_000) {
                assert_eq!(due, index * second / rate_iops, "{rate_iops}");
            }
            let mut schedule = Schedule::new(pacing, 1).unwrap();
            assert_eq!(schedule.due_before(Nanos(0)), 0);
            for passed in 0..100.min(rate_iops) {
                let left = 10 * rate_iops - passed;
                assert_eq!(schedule.due_before(Nanos(10 * second)), left, "{rate_iops}");
                schedule.advance();
            }
        }
    }

    /// The largest distance between the distribution of `values` and the exponential one of mean
    /// `mean` (Kolmogorov and Smirnov).
    fn distance_to_exponential(mut values: Vec<u64>, mean: f64) -> f64 {
        values.sort_unstable();
        let count = values.len() as f64;
        let distance = |(index, value): (usize, &u64)| {
            let expected = -(-(*value as f64) / mean).exp_m1();
            let (below, upto) = (index as f64 / count, (index as f64 + 1.0) / count);
            (expected - below).abs().max((expected - upto).abs())
        };
        values.iter().enumerate().map(distance).fold(0.0, f64::max)
    }

    #[test]
    fn poisson_gaps_are_exponential_at_every_rate() {
        const GAPS: usize = 100_000;
        // The bound of 99% of true samples (Kolmogorov's limit distribution).
        let critical = 1.628 / (GAPS as f64).sqrt();
        for (seed, rate_iops) in [(1, 10), (2, 1_000), (3, 100_000), (4, 600_000), (5, 1_000_000)] {
            let due: Vec<_> = moments(Pacing::Poisson { rate_iops }, seed).take(GAPS + 1).collect();
            let gaps: Vec<_> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let mean = 1e9 / rate_iops as f64;
            let distance = distance_to_exponential(gaps, mean);
            assert!(distance < critical, "{rate_iops} IOPS: {distance} of at most {critical}");
            // Five standard deviations of the mean of so many gaps.
            let found = due[GAPS] as f64 / GAPS as f64;
            assert!(
                (found / mean - 1.0).abs() < 5.0 / (GAPS as f64).sqrt(),
                "{rate_iops}: {found}"
            );
        }
    }

    #[test]
    fn the_distance_finds_gaps_that_are_not_exponential() {
        let even: Vec<_> = (0..10_000_u64).map(|index| index % 2_000).collect();
        assert!(distance_to_exponential(even, 1_000.0) > 0.1);
    }

    #[test]
    fn poisson_gaps_know_nothing_of_each_other() {
        let due: Vec<_> = moments(Pacing::Poisson { rate_iops: 1_000 }, 9).take(100_001).collect();
        let gaps: Vec<_> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let products: f64 = gaps.windows(2).map(|pair| (pair[0] - 1.0) * (pair[1] - 1.0)).sum();
        // The correlation of independent neighbours has a standard deviation of 1/sqrt(n).
        let correlation = products / gaps.len() as f64;
        assert!(correlation.abs() < 5.0 / (gaps.len() as f64).sqrt(), "{correlation}");
    }

    #[test]
    fn the_same_seed_gives_the_same_moments() {
        let first = |seed| moments(Pacing::Poisson { rate_iops: 1_000 }, seed).take(5).collect();
        let moments: Vec<Vec<u64>> = [1, 1, 2].into_iter().map(first).collect();
        assert_eq!(moments[0], moments[1]);
        assert_ne!(moments[0], moments[2]);
    }

    #[test]
    fn workers_share_a_fixed_rate_without_a_gap() {
        let pacing = Pacing::Fixed { rate_iops: 1_000 };
        let end = Nanos(Nanos::SECOND.0);
        let mut due = Vec::new();
        for worker in 0..3 {
            let mut schedule = Schedule::of_worker(pacing, 1, worker, 3).unwrap();
            let mut own = 0;
            let announced = schedule.due_before(end);
            while schedule.due() < end {
                due.push(schedule.due().0);
                schedule.advance();
                own += 1;
            }
            assert_eq!(announced, own);
        }
        due.sort_unstable();
        assert_eq!(due, moments(pacing, 1).take(1_000).collect::<Vec<_>>());
    }

    #[test]
    fn workers_make_one_poisson_process_of_the_whole_rate() {
        let mut due = Vec::new();
        for worker in 0..3 {
            let pacing = Pacing::Poisson { rate_iops: 3_000 };
            let mut schedule = Schedule::of_worker(pacing, u64::from(worker), worker, 3).unwrap();
            while schedule.due() < Nanos(20 * Nanos::SECOND.0) {
                due.push(schedule.due().0);
                schedule.advance();
            }
        }
        due.sort_unstable();
        let gaps: Vec<_> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let critical = 1.628 / (gaps.len() as f64).sqrt();
        assert!(distance_to_exponential(gaps, 1e9 / 3_000.0) < critical);
    }
}
