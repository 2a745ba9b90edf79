//! The bookkeeping of a drive whose map was found in NAND.

use super::{Ftl, NO_PAGE, StreamId, SuperblockState};
use crate::geometry::Geometry;

/// What was found of a superblock.
#[derive(Clone, Copy, Debug)]
pub struct FoundSuperblock {
    /// Nothing has been written since its last erase.
    pub is_blank: bool,
    /// Who wrote it.
    pub written_by: StreamId,
    /// Order of writing.
    pub sequence: u64,
    /// Erases so far.
    pub erases: u32,
}

impl Ftl {
    /// A drive whose LBA pages lie as in `map`. Written superblocks are closed, those without a valid
    /// page are victims to be erased; no stream is open.
    #[must_use]
    pub fn rebuilt(geometry: Geometry, superblocks: Vec<FoundSuperblock>, map: &[u32]) -> Self {
        let mut ftl = Self::new(geometry);
        for (logical, &physical) in map.iter().enumerate().filter(|(_, page)| **page != NO_PAGE) {
            ftl.l2p[logical] = physical;
            ftl.p2l[physical as usize] = logical as u32;
            ftl.valid_pages[ftl.by_superblock.divide(physical) as usize] += 1;
        }
        let mut found: Vec<_> = superblocks.into_iter().enumerate().collect();
        found.sort_by_key(|(_, superblock)| superblock.sequence);
        ftl.free.clear();
        for (index, superblock) in found {
            ftl.erase_counts[index] = superblock.erases;
            ftl.written_by[index] = superblock.written_by;
            ftl.states[index] = match (superblock.is_blank, ftl.valid_pages[index]) {
                (true, _) => SuperblockState::Free,
                (false, 0) => SuperblockState::Victim,
                (false, _) => SuperblockState::Closed,
            };
            if superblock.is_blank {
                ftl.free.push_back(index as u32);
            } else {
                ftl.closed_at[index] = ftl.closed_total;
                ftl.closed_total += 1;
            }
        }
        ftl
    }
}
