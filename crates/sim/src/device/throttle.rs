//! A firmware cap on sustained host writes: a token bucket before the write buffer.
//!
//! Phenomenon: a drive that takes a volume at full speed and then a fixed rate, whatever its NAND could do,
//! until it has had rest. Source: the long slow-down of SandForce drives after torture, which a reviewer put
//! down to lifetime throttling (SweClockers): a theory, no vendor said so; caps on sustained writes are
//! also how warranty classes are kept apart. Simplification: no temperature and no wear in it; the
//! bucket fills at the capped rate, also while the host writes. Test: `tests/throttle.rs`.
//!
//! Kept as one time (the generic cell rate algorithm, ITU-T I.371): each page moves the moment at which the
//! bucket is full again by the time that a page takes at the capped rate; a page may enter while that
//! moment is no further away than the time in which an empty bucket fills.

use super::Device;
use super::timers::Timer;
use crate::probe::Probe;

/// The cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// Time of a page at the capped rate.
    pub page_ns: u64,
    /// Time in which an empty bucket fills.
    pub burst_ns: u64,
}

/// The bucket's state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    full_at_ns: u64,
}

impl Bucket {
    /// When it is full again if a page is taken out now.
    #[inline]
    fn full_after_page_ns(self, throttle: Throttle, now_ns: u64) -> u64 {
        self.full_at_ns.max(now_ns) + throttle.page_ns
    }
}

impl<P: Probe, const OPTIONS: bool> Device<P, OPTIONS> {
    /// True where the cap lets one more host page in; else the clock will say when.
    #[inline]
    pub(super) fn bucket_has_page(&mut self) -> bool {
        let Some(throttle) = self.config.options.throttle else { return true };
        let full_at_ns = self.bucket.full_after_page_ns(throttle, self.now_ns);
        let allowed_ns = full_at_ns.saturating_sub(throttle.burst_ns);
        if allowed_ns > self.now_ns {
            self.timers.set(Timer::Throttle, allowed_ns);
        }
        allowed_ns <= self.now_ns
    }

    /// Counts a host page that goes in.
    #[inline]
    pub(super) fn take_from_bucket(&mut self) {
        if let Some(throttle) = self.config.options.throttle {
            self.bucket.full_at_ns = self.bucket.full_after_page_ns(throttle, self.now_ns);
        }
    }
}
