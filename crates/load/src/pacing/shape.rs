//! Due times of rates that change over time, from the index of a command. The rates are the same on every
//! machine: integers, and operations on floats that IEEE 754 rounds correctly.

use base::Nanos;

use super::{FRACTION_BITS, Pacing, SECOND_Q32};

/// Due time of the command `index` from the start of the phase, in ns times 2^32; `None` for a pace that is
/// no function of the index.
pub(super) fn due_q32(pacing: Pacing, index: u64) -> Option<u128> {
    match pacing {
        Pacing::Fixed { rate_iops } => Some(fixed_q32(rate_iops, index)),
        Pacing::Bursts { rate_iops, on, off } => Some(burst_q32(rate_iops, on, off, index)),
        Pacing::Ramp { from_iops, to_iops, over } => {
            Some(ramp_q32(from_iops, to_iops, over, index))
        }
        Pacing::ClosedLoop | Pacing::Poisson { .. } => None,
    }
}

/// From the index, so that no error adds up.
#[inline]
pub(super) fn fixed_q32(rate_iops: u64, index: u64) -> u128 {
    u128::from(index) * SECOND_Q32 / u128::from(rate_iops)
}

/// The due time of a command at a fixed rate within bursts.
fn burst_q32(rate_iops: u64, on: Nanos, off: Nanos, index: u64) -> u128 {
    let second = u128::from(Nanos::SECOND.0);
    let per_burst = (u128::from(on.0) * u128::from(rate_iops)).div_ceil(second).max(1);
    let (burst, within) = (u128::from(index) / per_burst, u128::from(index) % per_burst);
    let start = (burst * (u128::from(on.0) + u128::from(off.0))) << FRACTION_BITS;
    start + within * SECOND_Q32 / u128::from(rate_iops)
}

/// The time at which the integral of the rate reaches the index: `from t + (to - from) t^2 / 2 over`, solved for
/// t; then at equal intervals.
fn ramp_q32(from_iops: u64, to_iops: u64, over: Nanos, index: u64) -> u128 {
    let (from, to, over_s) = (from_iops as f64, to_iops as f64, over.as_secs_f64());
    let (count, in_ramp) = (index as f64, f64::midpoint(from, to) * over_s);
    let seconds = if count >= in_ramp {
        over_s + (count - in_ramp) / to
    } else {
        let root = (from * from + 2.0 * (to - from) / over_s * count).max(0.0).sqrt();
        // Stable for equal rates, unlike the textbook's form.
        2.0 * count / (from + root)
    };
    // Below 2^53 ns, whose fractions a float does not hold anyway.
    u128::from((seconds * Nanos::SECOND.0 as f64).round() as u64) << FRACTION_BITS
}

/// Index of the first command that is due at `end` or later.
pub(super) fn first_due_at(pacing: Pacing, end: Nanos) -> u64 {
    let highest = u128::from(pacing.highest_iops().unwrap_or(0));
    let bound = u128::from(end.0) * highest / u128::from(Nanos::SECOND.0) + 2;
    let is_before = |index: u64| {
        due_q32(pacing, index).is_some_and(|due| due < u128::from(end.0) << FRACTION_BITS)
    };
    let (mut low, mut high) = (0, u64::try_from(bound).unwrap_or(u64::MAX));
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use crate::pacing::{Pacing, Schedule};
    use base::Nanos;

    fn due_ns(text: &str, count: usize) -> Vec<u64> {
        let mut schedule = Schedule::new(text.parse::<Pacing>().unwrap(), 1).unwrap();
        let next = || {
            let due = schedule.due().0;
            schedule.advance();
            due
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    #[test]
    fn a_burst_has_its_rate_and_then_silence() {
        let due = due_ns("bursts(1k, on=3ms, off=7ms)", 7);
        let ms: Vec<_> = due.iter().map(|ns| ns / 1_000_000).collect();
        assert_eq!(ms, [0, 1, 2, 10, 11, 12, 20]);
    }

    #[test]
    fn a_ramp_reaches_its_rates() {
        for text in ["ramp(100, to=1000, over=10s)", "ramp(1000, to=100, over=10s)"] {
            let due = due_ns(text, 6_500);
            let within = |from: u64, to: u64| {
                let range = from * 1_000_000_000..to * 1_000_000_000;
                due.iter().filter(|ns| range.contains(ns)).count() as u64
            };
            // The mean of the rates at the ends of a second.
            let first_is_low = text.starts_with("ramp(100,");
            for second in 0..10 {
                let mean = if first_is_low { 145 + 90 * second } else { 955 - 90 * second };
                assert!(within(second, second + 1).abs_diff(mean) <= 1, "{text}: second {second}");
            }
            assert!(within(10, 11).abs_diff(if first_is_low { 1_000 } else { 100 }) <= 1);
            assert!(due.is_sorted());
        }
        assert_eq!(due_ns("ramp(7, to=7, over=1s)", 2), [0, 142_857_143]);
    }

    #[test]
    fn every_command_before_a_time_is_counted() {
        for text in ["bursts(777, on=3ms, off=7ms)", "ramp(10, to=5k, over=500ms)", "333"] {
            let due = due_ns(text, 1_000);
            for end in [0, 1, 4_000_000, 10_000_000, 123_456_789, 400_000_000] {
                let counted: u64 = (0..3)
                    .map(|worker| {
                        let pacing = text.parse().unwrap();
                        let part = Schedule::of_worker(pacing, 1, worker, 3).unwrap();
                        part.due_before(Nanos(end))
                    })
                    .sum();
                let want = due.iter().filter(|ns| **ns < end).count() as u64;
                assert_eq!(counted, want, "{text} before {end}");
            }
        }
    }
}
