//! The drive with a budget of NAND programs; see [`WearBudget`](crate::mechanism::wear_budget::WearBudget).

use super::Device;
use super::timers::Timer;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// A unit is in NAND, which takes from the budget of a drive that has one.
    #[inline]
    pub(super) fn spend_program(&mut self) {
        if let Some(budget) = &mut self.mechanisms.wear_budget {
            budget.spend(self.now_ns);
        }
    }

    /// Whether the budget of programs lets a host write enter; if not, a timer is set for that time.
    pub(super) fn budget_is_open(&mut self) -> bool {
        let now_ns = self.now_ns;
        let opens_ns =
            self.mechanisms.wear_budget.as_mut().and_then(|budget| budget.wait_until(now_ns));
        if let Some(opens_ns) = opens_ns {
            self.timers.set(Timer::Throttle, opens_ns);
        }
        opens_ns.is_none()
    }
}
