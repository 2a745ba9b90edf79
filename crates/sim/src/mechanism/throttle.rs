//! A firmware cap on sustained host writes: a token bucket before the write buffer.
//!
//! Phenomenon: a drive accepts a volume at full speed and then a fixed rate, whatever its NAND
//! could do, until it has rested. Source: the long slow-down of SandForce drives after torture,
//! which a reviewer attributed to lifetime throttling (SweClockers): a theory without confirmation
//! from a vendor. Caps on sustained writes also separate warranty classes. Simplification: no
//! temperature and no wear; the bucket fills at the capped rate, also while the host writes. Test:
//! `tests/mechanisms/throttle.rs`.
//!
//! The state is one time (the generic cell rate algorithm, ITU-T I.371): each page delays the
//! moment at which the bucket is full again by the time of a page at the capped rate. A page may
//! enter while that moment is no further away than the time in which an empty bucket fills.

use base::facts::Sourced;

use crate::geometry::{Geometry, PAGE_BYTES};
use crate::host::transfer_ns;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{HOUR_NS, ModelError, TB_PER_S, section};

section! {
    /// A firmware cap on sustained host writes.
    pub struct ThrottleSection {
        /// Volume that a rested drive writes at full speed.
        pub burst_bytes: Sourced<u64> [PAGE_BYTES, 1 << 60],
        /// Rate after that, and rate at which the allowance returns.
        pub bytes_per_s: Sourced<u64> [PAGE_BYTES, TB_PER_S],
    }
}

/// The cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Throttle {
    /// Time of a page at the capped rate.
    pub page_ns: u64,
    /// Time in which an empty bucket fills.
    pub burst_ns: u64,
}

impl Section for ThrottleSection {
    type Plan = Throttle;
    type State = Bucket;

    /// A smaller drive accepts a smaller volume at full speed, so that its curve has the same shape.
    fn resolve(&self, basis: &Basis<'_>) -> Result<Throttle, ModelError> {
        let (burst_bytes, bytes_per_s) = (self.burst_bytes.value, self.bytes_per_s.value);
        let page_ns = transfer_ns(PAGE_BYTES, bytes_per_s);
        let burst_ns = page_ns.checked_mul((basis.scale.of(burst_bytes) / PAGE_BYTES).max(1));
        let Some(burst_ns) = burst_ns.filter(|&time| time <= 100 * 365 * 24 * HOUR_NS) else {
            let rule = "at throttle.bytes_per_s it must come back within 100 years";
            return basis.check.fail("throttle.burst_bytes", burst_bytes, rule);
        };
        Ok(Throttle { page_ns, burst_ns })
    }

    fn begin(plan: Throttle, _: &Geometry, _: usize) -> Bucket {
        Bucket::new(plan)
    }
}

/// The cap with its state.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Bucket {
    throttle: Throttle,
    full_at_ns: u64,
}

impl Bucket {
    /// A full bucket.
    pub fn new(throttle: Throttle) -> Self {
        Self { throttle, full_at_ns: 0 }
    }

    /// Another cap from now on.
    pub fn set(&mut self, throttle: Throttle) {
        self.throttle = throttle;
    }

    /// Time at which it is full again if this number of pages is taken out now.
    #[inline]
    fn full_after_ns(&self, now_ns: u64, pages: u32) -> u64 {
        self.full_at_ns.max(now_ns) + u64::from(pages) * self.throttle.page_ns
    }

    /// Time from which a page may enter; it may be in the past.
    #[inline]
    pub fn opens_ns(&self, now_ns: u64) -> u64 {
        self.full_after_ns(now_ns, 1).saturating_sub(self.throttle.burst_ns)
    }

    /// Counts pages that go in together; those after the first may take more than there is.
    #[inline]
    pub fn take(&mut self, now_ns: u64, pages: u32) {
        debug_assert!(self.opens_ns(now_ns) <= now_ns, "a page went past the cap");
        self.full_at_ns = self.full_after_ns(now_ns, pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_at_once_and_then_a_page_at_a_time() {
        let mut bucket = Bucket::new(Throttle { page_ns: 10, burst_ns: 30 });
        for _ in 0..3 {
            assert!(bucket.opens_ns(100) <= 100);
            bucket.take(100, 1);
        }
        assert_eq!(bucket.opens_ns(100), 110);
        bucket.take(110, 1);
        assert_eq!(bucket.opens_ns(110), 120);
        // Rest fills it, and no further than to the brim.
        assert_eq!(bucket.opens_ns(1_000), 980);
        bucket.take(1_000, 4);
        assert_eq!(bucket.opens_ns(1_000), 1_020);
    }
}
