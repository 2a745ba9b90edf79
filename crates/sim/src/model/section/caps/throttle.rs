//! `[throttle]`: a firmware cap on sustained host writes.

use base::Ratio;
use serde::Deserialize;

use crate::firmware::caps::throttle::Throttle;
use crate::geometry::PAGE_BYTES;
use crate::host::transfer_ns;
use crate::model::check::{Check, HOUR_NS};
use crate::model::{ModelError, Sourced};

/// A firmware cap on sustained host writes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThrottleModel {
    /// Volume that a rested drive writes at full speed.
    pub burst_bytes: Sourced<u64>,
    /// Rate after that, and rate at which the allowance returns.
    pub bytes_per_s: Sourced<u64>,
}

impl ThrottleModel {
    /// A smaller drive accepts a smaller volume at full speed, so that its curve has the same
    /// shape.
    pub(in crate::model) fn resolve(
        &self,
        check: &Check<'_>,
        scale: Ratio,
    ) -> Result<Throttle, ModelError> {
        let (burst_bytes, bytes_per_s) = (self.burst_bytes.value, self.bytes_per_s.value);
        check.within("throttle.burst_bytes", burst_bytes, PAGE_BYTES, 1 << 60)?;
        check.within("throttle.bytes_per_s", bytes_per_s, PAGE_BYTES, 1_000_000_000_000)?;
        let page_ns = transfer_ns(PAGE_BYTES, bytes_per_s);
        let burst_ns = page_ns.checked_mul((scale.of(burst_bytes) / PAGE_BYTES).max(1));
        let Some(burst_ns) = burst_ns.filter(|&time| time <= 100 * 365 * 24 * HOUR_NS) else {
            let rule = "at throttle.bytes_per_s it must come back within 100 years";
            return check.fail("throttle.burst_bytes", burst_bytes, rule);
        };
        Ok(Throttle { page_ns, burst_ns })
    }
}
