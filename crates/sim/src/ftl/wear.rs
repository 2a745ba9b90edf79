//! Wear leveling: the choice of an erased superblock for a stream (dynamic), and moves of data
//! because of wear alone (static): one policy, one file.
//!
//! Contract: [`Allocation`] is asked once for each superblock that a stream opens,
//! [`WearLeveling::victim`] once for each victim. Both use only the erase counts of superblocks.

mod allocation;
mod least_worn;
mod spread;

use super::{Ftl, SuperblockState};

pub use allocation::Allocation;

/// Least number of victims for room for each one for wear: this bounds the cost.
const VICTIMS_BETWEEN: u32 = 4;

/// Static wear leveling with its state.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct WearLeveling {
    /// Largest lead in erases of the most worn superblock over one that holds data; `None`: no
    /// limit.
    spread_max: Option<u32>,
    /// Other victims since the last one for wear.
    victims_since: u32,
}

impl WearLeveling {
    /// A limit for the spread of erase counts; `None` for no static wear leveling.
    #[must_use]
    pub fn new(spread_max: Option<u32>) -> Self {
        Self { spread_max, victims_since: 0 }
    }

    /// The superblock to collect because of wear, if one is due.
    #[must_use]
    pub fn victim(&mut self, ftl: &Ftl) -> Option<u32> {
        let spread_max = self.spread_max?;
        self.victims_since += 1;
        // It may be full of valid pages: they need a superblock before one comes back.
        if self.victims_since <= VICTIMS_BETWEEN || ftl.free.len() < 2 {
            return None;
        }
        let victim = spread::victim(ftl, spread_max)?;
        self.victims_since = 0;
        Some(victim)
    }
}
