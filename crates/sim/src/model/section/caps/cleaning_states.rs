//! `[cleaning_states]`: rates of random writes that depend on the reserve of erased superblocks.

use super::write_caps::{RANDOM_IOPS_MAX, command_ns};
use crate::firmware::caps::cleaning_states::CleaningPlan;
use crate::model::check::CrossCheck;
use crate::model::schema::section;
use crate::model::{ModelError, Sourced};

section! {
    /// Rates of random writes that depend on the reserve of erased superblocks, see
    /// [`crate::firmware::caps::cleaning_states`].
    pub struct CleaningStatesModel {
        /// Erased superblocks up to which the drive is starved.
        pub starved_free: Sourced<u32>,
        /// Erased superblocks with which it is in balance, from below and from above.
        pub balance_free: Sourced<u32>,
        /// Erased superblocks from which on it has its reserve.
        pub reserve_free: Sourced<u32>,
        /// Random writes in a second while it is starved.
        pub starved_random_iops: Sourced<u64> [1, RANDOM_IOPS_MAX],
        /// Random writes in a second in balance.
        pub balance_random_iops: Sourced<u64> [1, RANDOM_IOPS_MAX],
    }
}

impl CleaningStatesModel {
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
    ) -> Result<CleaningPlan, ModelError> {
        let [starved_free, balance_free, reserve_free] =
            [&self.starved_free, &self.balance_free, &self.reserve_free].map(|level| level.value);
        let free_low = check.model.gc.free_low.value;
        for (key, value, min) in [
            ("cleaning_states.starved_free", starved_free, free_low),
            ("cleaning_states.balance_free", balance_free, starved_free.saturating_add(1)),
            ("cleaning_states.reserve_free", reserve_free, balance_free.saturating_add(1)),
        ] {
            check.within(key, value.into(), min.into(), 1 << 20)?;
        }
        Ok(CleaningPlan {
            starved_free,
            balance_free,
            reserve_free,
            starved_command_ns: command_ns(self.starved_random_iops.value),
            balance_command_ns: command_ns(self.balance_random_iops.value),
        })
    }
}
