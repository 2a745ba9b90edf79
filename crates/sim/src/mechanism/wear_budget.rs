//! A budget of NAND programs: the firmware slows the host down so that its cells last as long as promised.
//!
//! Phenomenon: a compressing drive that was tortured with incompressible data stays slow, also when all of it has been
//! deallocated; after the same volume of compressible data it is as fast as ever. Source: `SandForce` drives do not
//! recover through TRIM after incompressible torture (`AnandTech` 6107); a reviewer attributes their long slow-down to
//! lifetime throttling (`SweClockers`): a theory without confirmation from a vendor. It explains both halves: what
//! counts is not what the host writes ([`throttle`](super::throttle)) but what NAND takes for it, and a deallocation
//! gives no program back. Rules: every program of data, parity, padding and map takes from the budget; time alone fills
//! it, at a fixed rate, up to a burst; while it is empty, host writes wait. Collection does not wait, so that the host
//! pays for it afterwards.
//!
//! Simplifications: it is overdrawn by a superblock at most; a host write that waits does so for what was spent before
//! it came, and not for programs meanwhile; erases cost nothing; a loss of power fills it. Test:
//! `tests/mechanisms/wear_budget.rs`.

use base::facts::Sourced;

use crate::geometry::Geometry;
use crate::host::transfer_ns;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{HOUR_NS, ModelError, TB_PER_S, section};

section! {
    /// A budget of NAND programs.
    pub struct WearBudgetSection {
        /// Bytes that a rested drive of full size programs before it slows its host down.
        pub burst_bytes: Sourced<u64> [1, 1 << 60],
        /// Bytes programmed in a second after that, and rate at which the budget returns.
        pub bytes_per_s: Sourced<u64> [1_000_000, TB_PER_S],
    }
}

/// The budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WearPlan {
    /// Time of a program at the rate of the budget.
    pub unit_ns: u64,
    /// Time in which an empty budget fills.
    pub burst_ns: u64,
    /// Time in which the deepest debt is paid.
    pub debt_ns_max: u64,
}

impl Section for WearBudgetSection {
    type Plan = WearPlan;
    type State = WearBudget;

    /// A smaller drive has a smaller budget, so that its curve has the same shape.
    fn resolve(&self, basis: &Basis<'_>) -> Result<WearPlan, ModelError> {
        let (burst_bytes, bytes_per_s) = (self.burst_bytes.value, self.bytes_per_s.value);
        let unit_bytes = basis.geometry.unit_bytes();
        let unit_ns = transfer_ns(unit_bytes, bytes_per_s);
        let burst_units = basis.scale.of(burst_bytes).div_ceil(unit_bytes).max(1);
        let burst_ns = unit_ns.checked_mul(burst_units);
        let Some(burst_ns) = burst_ns.filter(|&time| time <= 100 * 365 * 24 * HOUR_NS) else {
            let rule = "at wear_budget.bytes_per_s it must come back within 100 years";
            return basis.check.fail("wear_budget.burst_bytes", burst_bytes, rule);
        };
        let debt_ns_max = unit_ns.saturating_mul(basis.geometry.superblock_units.into());
        Ok(WearPlan { unit_ns, burst_ns, debt_ns_max: debt_ns_max.min(HOUR_NS) })
    }

    fn begin(plan: WearPlan, _: &Geometry, _: usize) -> WearBudget {
        WearBudget::new(plan)
    }
}

/// The budget with its state.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct WearBudget {
    plan: WearPlan,
    /// Time at which it is full.
    full_at_ns: u64,
    /// Time at which the host write that waits may enter.
    opens_ns: Option<u64>,
}

impl WearBudget {
    /// A full budget.
    pub fn new(plan: WearPlan) -> Self {
        Self { plan, full_at_ns: 0, opens_ns: None }
    }

    /// A unit has been programmed.
    #[inline]
    pub fn spend(&mut self, now_ns: u64) {
        let latest_ns = now_ns + self.plan.burst_ns + self.plan.debt_ns_max;
        self.full_at_ns = (self.full_at_ns.max(now_ns) + self.plan.unit_ns).min(latest_ns);
    }

    /// The time until which a host write has to wait, or `None` if it may enter.
    #[inline]
    pub fn wait_until(&mut self, now_ns: u64) -> Option<u64> {
        let opens_ns = self.opens_ns.unwrap_or(self.full_at_ns.saturating_sub(self.plan.burst_ns));
        self.opens_ns = (opens_ns > now_ns).then_some(opens_ns);
        self.opens_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spent_is_waited_for_and_no_more_than_the_deepest_debt() {
        let mut budget = WearBudget::new(WearPlan { unit_ns: 10, burst_ns: 20, debt_ns_max: 30 });
        (0..2).for_each(|_| budget.spend(100));
        assert_eq!(budget.wait_until(100), None, "the burst is used up");
        (0..2).for_each(|_| budget.spend(100));
        assert_eq!(budget.wait_until(100), Some(120));
        // Programs meanwhile are for the next one to wait for.
        (0..9).for_each(|_| budget.spend(100));
        assert_eq!([budget.wait_until(119), budget.wait_until(120)], [Some(120), None]);
        assert_eq!(budget.wait_until(120), Some(130));
        // Rest fills it, and no further than to the brim.
        assert_eq!(budget.wait_until(1_000), None);
        (0..2).for_each(|_| budget.spend(1_000));
        assert_eq!(budget.wait_until(1_000), None);
        budget.spend(1_000);
        assert_eq!(budget.wait_until(1_000), Some(1_010));
    }
}
