//! States of garbage collection: how freely random writes are admitted depends on the reserve of erased superblocks.
//!
//! Phenomenon: under random writes a drive begins slowly, becomes several times as fast for minutes, and falls to its
//! first rate again. Source: a `SanDisk` Extreme Pro 960 GB behind a sequential fill: some 10,000 IOPS, then above
//! 50,000 until about 800 s, then 10,000; smaller capacities fall earlier (`AnandTech` 8170). That such states
//! explain it is an interpretation: the fill leaves data in pSLC that takes the room of the reserve; starved, the drive
//! admits little and folds; with its reserve back it writes into that at full speed; when it is used up, collection has
//! no cheap room left. So three states follow the number of erased superblocks, with hysteresis: *starved* up to
//! `starved_free`, *balance* from `balance_free` on, *reserve* from `reserve_free` on until `balance_free` again. In the
//! first two, random writes have rates of their own, and folding the pSLC cache does not wait for a rest.
//!
//! Simplifications: sequential writes are as fast as the drive can; collection keeps its own pacing in every state; a
//! state has one rate, whatever the level within it. Test: `tests/mechanisms/cleaning_states.rs`.

use base::facts::Sourced;

use super::write_caps::{RANDOM_IOPS_MAX, command_ns};
use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{ModelError, section};

section! {
    /// Rates of random writes that depend on the reserve of erased superblocks.
    pub struct CleaningStatesSection {
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

/// Levels and rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GcStatesPlan {
    /// Erased superblocks up to which the drive is starved.
    pub starved_free: u32,
    /// Erased superblocks with which it is in balance, from below and from above.
    pub balance_free: u32,
    /// Erased superblocks from which on it has its reserve.
    pub reserve_free: u32,
    /// Time of a random write while it is starved.
    pub starved_command_ns: u64,
    /// Time of a random write in balance.
    pub balance_command_ns: u64,
}

impl Section for CleaningStatesSection {
    type Plan = GcStatesPlan;
    type State = GcStates;

    fn resolve(&self, basis: &Basis<'_>) -> Result<GcStatesPlan, ModelError> {
        let [starved_free, balance_free, reserve_free] =
            [&self.starved_free, &self.balance_free, &self.reserve_free].map(|level| level.value);
        let free_low = basis.number("gc.free_low").unwrap_or(0);
        for (key, value, min) in [
            ("cleaning_states.starved_free", starved_free, free_low),
            ("cleaning_states.balance_free", balance_free, u64::from(starved_free) + 1),
            ("cleaning_states.reserve_free", reserve_free, u64::from(balance_free) + 1),
        ] {
            basis.check.within(key, value.into(), min, 1 << 20)?;
        }
        Ok(GcStatesPlan {
            starved_free,
            balance_free,
            reserve_free,
            starved_command_ns: command_ns(self.starved_random_iops.value),
            balance_command_ns: command_ns(self.balance_random_iops.value),
        })
    }

    fn begin(plan: GcStatesPlan, _: &Geometry, _: usize) -> GcStates {
        GcStates::new(plan)
    }
}

/// A state of garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum GcState {
    /// Hardly anything is erased.
    Starved,
    /// The reserve comes back, or begins to run out.
    Balance,
    /// Random writes need not wait for collection.
    Reserve,
}

/// The present state.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct GcStates {
    plan: GcStatesPlan,
    state: GcState,
}

impl GcStates {
    /// The state of a drive with its reserve.
    pub fn new(plan: GcStatesPlan) -> Self {
        Self { plan, state: GcState::Reserve }
    }

    /// So many superblocks are erased now.
    #[inline]
    pub fn note(&mut self, free: u32) {
        use GcState::{Balance, Reserve, Starved};
        let GcStatesPlan { starved_free, balance_free, reserve_free, .. } = self.plan;
        self.state = match self.state {
            _ if free <= starved_free => Starved,
            _ if free >= reserve_free => Reserve,
            Reserve if free <= balance_free => Balance,
            Starved if free >= balance_free => Balance,
            state => state,
        };
    }

    /// The present urgency of garbage collection.
    pub fn state(&self) -> GcState {
        self.state
    }

    /// Time that a random write takes at the rate of the state; 0: it has none.
    pub fn random_command_ns(&self) -> u64 {
        match self.state {
            GcState::Starved => self.plan.starved_command_ns,
            GcState::Balance => self.plan.balance_command_ns,
            GcState::Reserve => 0,
        }
    }

    /// Whether the cache is to be folded although the host is busy.
    #[inline]
    pub fn hurries_folds(&self) -> bool {
        self.state != GcState::Reserve
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use GcState::{Balance, Reserve, Starved};

    #[test]
    fn states_follow_the_level_with_hysteresis() {
        let mut states = GcStates::new(GcStatesPlan {
            starved_free: 10,
            balance_free: 20,
            reserve_free: 30,
            starved_command_ns: 9,
            balance_command_ns: 3,
        });
        let mut walk = |levels: &[u32]| {
            let step = |&free: &u32| {
                states.note(free);
                states.state()
            };
            levels.iter().map(step).collect::<Vec<_>>()
        };
        assert_eq!(walk(&[40, 21, 20, 29, 11]), [Reserve, Reserve, Balance, Balance, Balance]);
        assert_eq!(walk(&[10, 19, 20, 11, 29]), [Starved, Starved, Balance, Balance, Balance]);
        assert_eq!(walk(&[30, 5, 31]), [Reserve, Starved, Reserve]);
    }
}
