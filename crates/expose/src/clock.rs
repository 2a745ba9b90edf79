//! The clock of a disk: its drive's time as fast as it can, or bound to the time of the machine.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::time::{Duration, Instant};

use base::Nanos;

/// Largest factor of a slow clock.
const SLOWDOWN_MAX: u32 = 1_000_000;

/// The pace of the drive's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Requests are answered at once, and time without requests does not pass.
    Fast,
    /// Requests are answered at their simulated times, stretched by this factor.
    Real {
        /// Seconds of the machine for a second of the drive.
        slowdown: u32,
    },
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected fast, real, or real*N with N from 1 to {SLOWDOWN_MAX}");
        match text {
            "fast" => Ok(Self::Fast),
            "real" => Ok(Self::Real { slowdown: 1 }),
            _ => {
                let factor = text.strip_prefix("real*").and_then(|factor| factor.parse().ok());
                let factor = factor.filter(|factor| (1..=SLOWDOWN_MAX).contains(factor));
                factor.map(|slowdown| Self::Real { slowdown }).ok_or_else(expected)
            }
        }
    }
}

impl Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fast => f.write_str("fast"),
            Self::Real { slowdown: 1 } => f.write_str("real"),
            Self::Real { slowdown } => write!(f, "real*{slowdown}"),
        }
    }
}

/// A relation between the two times.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    slowdown: u32,
    origin: Instant,
    origin_ns: u64,
}

impl Clock {
    /// A clock on which it is `now`.
    pub fn starting(slowdown: u32, now: Nanos) -> Self {
        Self { slowdown, origin: Instant::now(), origin_ns: now.0 }
    }

    /// Time of the drive.
    pub fn now(&self) -> Nanos {
        let passed_ns = self.origin.elapsed().as_nanos() / u128::from(self.slowdown);
        Nanos(self.origin_ns.saturating_add(passed_ns as u64))
    }

    /// Time of the machine at a time of the drive; the origin for earlier ones.
    pub fn instant(&self, time: Nanos) -> Instant {
        let passed_ns = time.0.saturating_sub(self.origin_ns);
        let passed = Duration::from_nanos(passed_ns.saturating_mul(u64::from(self.slowdown)));
        self.origin.checked_add(passed).unwrap_or(self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_fast_or_a_multiple_of_real_time() {
        let parse = |text: &str| text.parse::<Pace>();
        assert_eq!(parse("fast"), Ok(Pace::Fast));
        assert_eq!(parse("real"), Ok(Pace::Real { slowdown: 1 }));
        let slow = parse("real*10").expect("a factor");
        assert_eq!((slow, slow.to_string()), (Pace::Real { slowdown: 10 }, "real*10".to_owned()));
        for text in ["", "real*0", "real*", "real*1.5", "real10", "real*9999999", "slow"] {
            assert!(parse(text).expect_err(text).contains("expected fast, real"), "{text}");
        }
    }

    #[test]
    fn a_slow_clock_stretches_the_time_of_the_drive() {
        let clock = Clock::starting(10, Nanos(5));
        let later = clock.instant(Nanos(5 + 1_000_000));
        assert_eq!(later - clock.instant(Nanos(0)), Duration::from_millis(10));
        std::thread::sleep(Duration::from_millis(2));
        let passed_ns = clock.now().0 - 5;
        assert!(passed_ns >= 200_000, "a tenth of 2 ms: {passed_ns} ns");
        assert!(u128::from(passed_ns) <= clock.origin.elapsed().as_nanos() / 10);
    }
}
