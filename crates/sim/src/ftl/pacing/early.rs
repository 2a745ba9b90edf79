//! Early: collection beside the host from a share of superblocks in use on (`gc.early_used_percent`).
//!
//! Phenomenon: premature reclaim. A long sequential stream invalidates each of its superblocks as a whole, if only the
//! drive waits for it. A drive that collects early moves the end of a superblock that the host is about to overwrite, so
//! that even the largest stream of a drive without random writes has a share in its write amplification. Source: WARP
//! (FAST 2026): limited spare space and heuristics of garbage collection reclaim long sequential streams before their
//! data is overwritten ("save sequential"); its emulator matched two drives with collection in the background from 90%
//! of units in use on, of units with at most 5% of valid pages. With the 10% of spare space that it assumes nearly all
//! units are always in use, so that this limit alone decides how early a stream is reclaimed. Simplifications: the share
//! is that of superblocks that are not erased; four moves for each page of the host, as for collection in the background;
//! the limit looks at the emptiest superblock, whichever one the policy then chooses. Test:
//! `tests/mechanisms/early_gc.rs`.

use crate::ftl::Ftl;
use crate::ftl::collector::Collector;
use crate::ftl::gc::VictimSelector;
use crate::geometry::Geometry;

/// Pages moved in return for each of the host.
const MOVED_PAGES: u64 = 4;

/// Collection that begins early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EarlyGc {
    /// Erased superblocks of a reclaim group at which it begins.
    pub free_superblocks: u32,
    /// Most valid pages of a victim that justify its collection.
    pub valid_pages_max: u32,
}

impl EarlyGc {
    /// Collection from a share of superblocks in use on, of those with at most a share of valid pages.
    pub fn new(geometry: &Geometry, used_percent: u32, valid_percent: u32) -> Self {
        let of_data = geometry.superblocks - geometry.cache_superblocks;
        let superblocks = u64::from(of_data / geometry.reclaim_groups);
        let pages = u64::from(geometry.superblock_data_pages());
        Self {
            free_superblocks: (superblocks * u64::from(100 - used_percent) / 100) as u32,
            valid_pages_max: (pages * u64::from(valid_percent) / 100) as u32,
        }
    }

    /// Pages that may move in return for those of the host.
    pub fn allowed_pages(self, host_pages: u32) -> u64 {
        MOVED_PAGES * u64::from(host_pages)
    }

    /// Whether a unit should move: enough superblocks of the group are in use, and the current victim has units left or
    /// the emptiest superblock gives enough.
    pub fn wants(
        self,
        free_superblocks: u32,
        ftl: &Ftl,
        (collector, group): (&Collector, u32),
    ) -> bool {
        let is_worthy = |valid_pages| valid_pages <= self.valid_pages_max;
        free_superblocks <= self.free_superblocks
            && (collector.has_unit()
                || VictimSelector::fewest_valid_pages(ftl, group).is_some_and(is_worthy))
    }
}
