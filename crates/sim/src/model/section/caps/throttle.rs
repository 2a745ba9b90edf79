//! `[throttle]`: a firmware cap on sustained host writes.

use crate::firmware::caps::throttle::Throttle;
use crate::geometry::PAGE_BYTES;
use crate::host::transfer_ns;
use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, TB_PER_S, section};
use crate::model::{ModelError, Sourced};
use base::Ratio;

section! {
    /// A firmware cap on sustained host writes.
    pub struct ThrottleModel {
        /// Volume that a rested drive writes at full speed.
        pub burst_bytes: Sourced<u64> [PAGE_BYTES, 1 << 60],
        /// Rate after that, and rate at which the allowance returns.
        pub bytes_per_s: Sourced<u64> [PAGE_BYTES, TB_PER_S],
    }
}

impl ThrottleModel {
    /// A smaller drive accepts a smaller volume at full speed, so that its curve has the same
    /// shape.
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        scale: Ratio,
    ) -> Result<Throttle, ModelError> {
        let (burst_bytes, bytes_per_s) = (self.burst_bytes.value, self.bytes_per_s.value);
        let page_ns = transfer_ns(PAGE_BYTES, bytes_per_s);
        let burst_ns = page_ns.checked_mul((scale.of(burst_bytes) / PAGE_BYTES).max(1));
        let Some(burst_ns) = burst_ns.filter(|&time| time <= 100 * 365 * 24 * HOUR_NS) else {
            let rule = "at throttle.bytes_per_s it must come back within 100 years";
            return check.fail("throttle.burst_bytes", burst_bytes, rule);
        };
        Ok(Throttle { page_ns, burst_ns })
    }
}
