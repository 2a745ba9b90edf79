//! `[wear_budget]`: a budget of NAND programs.

use crate::firmware::caps::wear_budget::WearPlan;
use crate::geometry::Geometry;
use crate::host::transfer_ns;
use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, TB_PER_S, section};
use crate::model::{ModelError, Sourced};
use base::Ratio;

section! {
    /// A budget of NAND programs, see [`crate::firmware::caps::wear_budget`].
    pub struct WearBudgetModel {
        /// Bytes that a rested drive of full size programs before it slows its host down.
        pub burst_bytes: Sourced<u64> [1, 1 << 60],
        /// Bytes programmed in a second after that, and rate at which the budget returns.
        pub bytes_per_s: Sourced<u64> [1_000_000, TB_PER_S],
    }
}

impl WearBudgetModel {
    /// A smaller drive has a smaller budget, so that its curve has the same shape.
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        scale: Ratio,
        geometry: &Geometry,
    ) -> Result<WearPlan, ModelError> {
        let (burst_bytes, bytes_per_s) = (self.burst_bytes.value, self.bytes_per_s.value);
        let unit_ns = transfer_ns(geometry.unit_bytes(), bytes_per_s);
        let burst_units = scale.of(burst_bytes).div_ceil(geometry.unit_bytes()).max(1);
        let burst_ns = unit_ns.checked_mul(burst_units);
        let Some(burst_ns) = burst_ns.filter(|&time| time <= 100 * 365 * 24 * HOUR_NS) else {
            let rule = "at wear_budget.bytes_per_s it must come back within 100 years";
            return check.fail("wear_budget.burst_bytes", burst_bytes, rule);
        };
        let debt_ns_max = unit_ns.saturating_mul(geometry.superblock_units.into());
        Ok(WearPlan { unit_ns, burst_ns, debt_ns_max: debt_ns_max.min(HOUR_NS) })
    }
}
