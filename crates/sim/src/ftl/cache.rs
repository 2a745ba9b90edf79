//! Superblocks that serve as pSLC cache: opened, closed early, found for folding.

use super::{Ftl, StreamId, SuperblockState};

impl Ftl {
    /// Pages of a superblock to write while it serves as cache, parity included.
    pub fn cache_pages(&self) -> u32 {
        self.geometry.cache_units * self.geometry.unit_pages
    }

    /// Gives the cache's stream an erased superblock: a dedicated one, or else the oldest erased
    /// one if `may_borrow`. False if there is none.
    pub fn open_cache(&mut self, may_borrow: bool) -> bool {
        let own = self.cache_free.pop_front();
        let Some(superblock) =
            own.or_else(|| if may_borrow { self.take_free(None, false) } else { None })
        else {
            return false;
        };
        self.borrowed_superblocks += u32::from(!self.geometry.is_cache_only(superblock));
        self.begin_superblock(StreamId::Pslc, superblock, self.geometry.cache_data_pages());
        true
    }

    /// Ends the superblock of the cache's stream, so that it can be folded, and returns it; `None`
    /// if it is empty. The stream stands between two units.
    pub fn close_cache(&mut self) -> Option<u32> {
        let stream = *self.stream(StreamId::Pslc);
        if !self.stream_has_room(StreamId::Pslc) || stream.next_page == 0 {
            return None;
        }
        self.close(StreamId::Pslc);
        Some(stream.superblock)
    }

    /// The superblock that has waited longest for folding; with `borrowed` only among borrowed
    /// ones.
    pub fn oldest_cached(&self, borrowed: bool) -> Option<u32> {
        let is_candidate = |&superblock: &u32| {
            self.states[superblock as usize] == SuperblockState::Cached
                && !(borrowed && self.geometry.is_cache_only(superblock))
        };
        let age = |&superblock: &u32| self.closed_at[superblock as usize];
        (0..self.geometry.superblocks).filter(is_candidate).min_by_key(age)
    }

    /// Makes a closed or cached superblock a victim.
    pub fn become_victim(&mut self, superblock: u32) {
        let state = &mut self.states[superblock as usize];
        self.cached_superblocks -= u32::from(*state == SuperblockState::Cached);
        *state = SuperblockState::Victim;
        self.p2l.unpack(superblock, &self.l2p);
    }

    /// Whether a superblock holds data in one bit per cell, or held it when it became a victim.
    #[inline]
    pub fn is_cache(&self, superblock: u32) -> bool {
        self.written_by[superblock as usize] == StreamId::Pslc
    }

    /// Whether a superblock of the native cells serves as cache, or did and is not erased yet.
    pub fn is_borrowed(&self, superblock: u32) -> bool {
        self.is_cache(superblock)
            && !self.geometry.is_cache_only(superblock)
            && self.states[superblock as usize] != SuperblockState::Free
    }

    /// Valid pages in the cache.
    pub fn cached_pages(&self) -> u64 {
        let valid = (0..self.geometry.superblocks).filter(|&superblock| self.is_cache(superblock));
        valid.map(|superblock| u64::from(self.valid_pages[superblock as usize])).sum()
    }
}
