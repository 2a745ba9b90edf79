//! The mapping of a drive after a recovery from NAND.

use super::{Ftl, NO_PAGE, StreamId, SuperblockState};
use crate::geometry::Geometry;

/// The facts about a superblock.
#[derive(Clone, Copy, Debug)]
pub struct FoundSuperblock {
    /// Nothing has been written since its last erase.
    pub is_blank: bool,
    /// Its writer.
    pub written_by: StreamId,
    /// Order of writing.
    pub sequence: u64,
    /// Erases so far.
    pub erases: u32,
}

impl Ftl {
    /// A drive whose LBA pages lie as in `map`; `size` gives the number of physical pages of each
    /// from its first one. Written superblocks are closed or wait for folding, those without a
    /// valid page are victims to erase; no stream is open.
    pub fn rebuilt(
        geometry: Geometry,
        superblocks: Vec<FoundSuperblock>,
        map: &[u64],
        size: impl Fn(u64) -> u32,
    ) -> Self {
        let mut ftl = Self::new(geometry);
        for (logical, &physical) in (0..).zip(map).filter(|(_, page)| **page != NO_PAGE) {
            ftl.map_found(logical, physical, size(physical));
        }
        let mut found: Vec<_> = superblocks.into_iter().enumerate().collect();
        found.sort_by_key(|(_, superblock)| superblock.sequence);
        ftl.clear_free();
        for (index, superblock) in found {
            ftl.erase_counts[index] = superblock.erases;
            ftl.written_by[index] = superblock.written_by;
            ftl.states[index] = match (superblock.is_blank, ftl.valid_pages[index]) {
                (true, _) => SuperblockState::Free,
                (false, 0) => SuperblockState::Victim,
                _ if superblock.written_by == StreamId::Pslc => SuperblockState::Cached,
                (false, _) => SuperblockState::Closed,
            };
            let is_cached = ftl.states[index] == SuperblockState::Cached;
            ftl.cached_superblocks += u32::from(is_cached);
            ftl.borrowed_superblocks += u32::from(ftl.is_borrowed(index as u32));
            if superblock.is_blank {
                ftl.list_erased(index as u32);
            } else {
                ftl.closed_at[index] = ftl.closed_total;
                ftl.closed_total += 1;
                ftl.p2l.pack(index as u32);
            }
        }
        ftl
    }

    fn map_found(&mut self, logical: u64, physical: u64, size: u32) {
        self.l2p.set(logical, physical);
        if let Some(known) = self.sizes.get_mut(logical as usize) {
            *known = size as u8;
        }
        for page in physical..physical + u64::from(size) {
            self.p2l.set(page, logical);
        }
        let superblock = self.superblock_of(physical);
        self.valid_pages[superblock as usize] += size;
    }
}
