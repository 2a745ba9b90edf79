//! The monotonic clock of the machine as the clock of a target.

use base::Nanos;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use target::Clock;

/// Waits for a moment sleep to this long before it and spin the rest: a timer wakes up late by
/// 50 us and more, which an open-loop workload would see as jitter. The price is this much processor time
/// for each wait: 8% of a core at 1,000 commands a second, all of it from 12,500 on.
pub const SPIN_NS: u64 = 80_000;

/// The monotonic clock, counted from when the target was opened.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    origin_ns: u64,
}

impl MonotonicClock {
    /// Starts at zero now.
    pub fn start() -> Self {
        Self { origin_ns: monotonic_ns() }
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos(monotonic_ns() - self.origin_ns)
    }

    fn sleep_until(&self, until: Nanos) {
        let wake_ns = until.0.saturating_sub(SPIN_NS);
        if self.now().0 < wake_ns
            && clock_nanosleep_absolute(
                rustix::thread::ClockId::Monotonic,
                &timespec(self.origin_ns.saturating_add(wake_ns)),
            )
            .is_err()
        {
            return;
        }
        while self.now() < until {
            std::hint::spin_loop();
        }
    }
}

/// The monotonic clock of the machine, in nanoseconds.
#[inline]
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Processor time of the calling thread so far, in nanoseconds.
pub fn thread_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

fn timespec(ns: u64) -> Timespec {
    const NS_PER_S: u64 = 1_000_000_000;
    let tv_sec = i64::try_from(ns / NS_PER_S).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: (ns % NS_PER_S) as i64 }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// By the clock of the standard library: the one under test must not judge itself.
    #[test]
    fn the_clock_waits_long_enough() {
        let clock = MonotonicClock::start();
        // One wait that only spins, and one that sleeps first.
        for wait_ns in [SPIN_NS / 2, 50 * SPIN_NS] {
            let begin = Instant::now();
            clock.sleep_until(Nanos(clock.now().0 + wait_ns));
            assert!(begin.elapsed() >= Duration::from_nanos(wait_ns), "{wait_ns} ns");
        }
    }
}
