//! Wear leveling: which erased superblock a stream gets (dynamic), and when data is moved for no other
//! reason than wear (static): one policy, one file.
//!
//! Contract: [`Allocation`] is asked once for each superblock that a stream opens, [`WearLeveling::victim`] once for
//! each victim. Both look at erase counts of superblocks only.

mod allocation;
mod least_worn;
mod spread;

use super::{Ftl, SuperblockState};

pub use allocation::Allocation;

/// Victims for the sake of room for each one for the sake of wear, at least: what bounds its cost.
const VICTIMS_BETWEEN: u32 = 4;

/// Static wear leveling with what it has to remember.
#[derive(Clone, Debug)]
pub struct WearLeveling {
    /// Erases that the most worn superblock may be ahead of one that holds data; none: as many as it likes.
    spread_max: Option<u32>,
    /// Other victims since the last one for the sake of wear.
    victims_since: u32,
}

impl WearLeveling {
    /// A spread of erase counts to keep to; none for no static wear leveling.
    #[must_use]
    pub fn new(spread_max: Option<u32>) -> Self {
        Self { spread_max, victims_since: 0 }
    }

    /// The superblock that must be collected for the sake of wear, where it is time for one.
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
