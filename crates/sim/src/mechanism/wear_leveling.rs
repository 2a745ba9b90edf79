//! Wear leveling: the choice of an erased superblock for a stream (dynamic), and moves of data because of wear alone
//! (static).
//!
//! Phenomenon: when the lead of the most worn superblock is too large, data that no host overwrites leaves the least
//! worn one. Source: static wear leveling (Chang, Hsieh and Kuo 2007). The cold data goes to the cold stream, into the
//! erased superblock that hot data has worn most, and stays there; the young superblock takes hot data. Data stays if
//! as many superblocks have been closed since its own as there are. (In the GC stream it would mix
//! with hot data and double the work of the test below.) Cost: up to a superblock of moved pages that give no room,
//! counted as GC pages, at most once in five victims. Simplification: only the erase counts of superblocks are used.
//! Test: `tests/mechanisms/wear_leveling.rs`.
//!
//! [`Allocation`] is asked once for each superblock that a stream opens, [`WearLeveling::victim`] once for each victim.

use base::facts::Sourced;

use crate::ftl::allocation::Allocation;
use crate::ftl::{Ftl, SuperblockState};
use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{ModelError, section};

section! {
    /// Distribution of erases over superblocks.
    pub struct WearLevelingSection {
        /// Rule for the next erased superblock of a stream.
        pub allocation: Sourced<Allocation>,
        /// Largest lead in erases of the most worn superblock over one whose data stays; 0: no limit.
        pub spread_max: Sourced<u32>,
    }
}

/// Rules of wear leveling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WearLevelingPlan {
    /// Rule for the next erased superblock of a stream.
    pub allocation: Allocation,
    /// Largest lead in erases of the most worn superblock over one whose data stays, or `None` if there is no limit.
    pub spread_max: Option<u32>,
}

impl Section for WearLevelingSection {
    type Plan = WearLevelingPlan;
    type State = WearLeveling;

    fn resolve(&self, _: &Basis<'_>) -> Result<WearLevelingPlan, ModelError> {
        let spread_max = Some(self.spread_max.value).filter(|&spread| spread > 0);
        Ok(WearLevelingPlan { allocation: self.allocation.value, spread_max })
    }

    fn begin(plan: WearLevelingPlan, _: &Geometry, _: usize) -> WearLeveling {
        WearLeveling { spread_max: plan.spread_max, victims_since: 0 }
    }
}

/// Least number of victims for room for each one for wear: this bounds the cost.
const VICTIMS_BETWEEN: u32 = 4;

/// Static wear leveling with its state.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct WearLeveling {
    spread_max: Option<u32>,
    /// Other victims since the last one for wear.
    victims_since: u32,
}

impl WearLeveling {
    /// The superblock to collect because of wear, or `None` if none is due.
    pub fn victim(&mut self, ftl: &Ftl) -> Option<u32> {
        let spread_max = self.spread_max?;
        self.victims_since += 1;
        // It may be full of valid pages: they need a superblock before one comes back.
        if self.victims_since <= VICTIMS_BETWEEN || ftl.free.len() < 2 {
            return None;
        }
        let victim = least_worn_behind(ftl, spread_max)?;
        self.victims_since = 0;
        Some(victim)
    }
}

/// The least worn superblock whose data stays, or `None` if the most worn one leads it by no more than this number of
/// erases. A young superblock with data that the host overwrites wears without help, and moving that is in vain.
fn least_worn_behind(ftl: &Ftl, spread_max: u32) -> Option<u32> {
    let erases = |superblock: &u32| ftl.erase_counts[*superblock as usize];
    // Superblocks that only serve as cache wear apart.
    let others = ftl.geometry.superblocks - ftl.geometry.cache_superblocks;
    let most = ftl.erase_counts[..others as usize].iter().max()?;
    let stays = |&superblock: &u32| {
        let closings = ftl.closed_total - ftl.closed_at[superblock as usize];
        ftl.states[superblock as usize] == SuperblockState::Closed && closings > u64::from(others)
    };
    let staying = (0..ftl.geometry.superblocks).filter(stays);
    staying
        .min_by_key(erases)
        .filter(|superblock| most.saturating_sub(erases(superblock)) > spread_max)
}
