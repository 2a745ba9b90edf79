//! DRAM that caches pages after a read.
//!
//! Phenomenon: a page that was read recently comes from DRAM, without NAND. Source: client
//! controllers of the time do this with DRAM that the map leaves free; FEMU models the same. Off
//! unless a model asks for it. Simplifications: sets of eight pages, least recently used first out
//! of its set; filled at the end of a read, never ahead of the host; an overwritten page leaves the
//! cache when its write is in the buffer, which then serves reads. Tests: `tests/device/host.rs`,
//! `Device::check`.

use crate::ftl::NO_PAGE;

/// Pages that compete for the same places.
pub const WAYS: usize = 8;

/// Logical pages whose content is in DRAM.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ReadCache {
    /// Most recently used first.
    sets: Vec<[u64; WAYS]>,
}

impl ReadCache {
    /// Bytes of memory for each page of room.
    pub const PAGE_BYTES: u64 = size_of::<u64>() as u64;

    /// Room for `pages` pages, rounded down to whole sets; `None` if that is nothing.
    #[must_use]
    pub fn new(pages: u32) -> Option<Self> {
        let sets = pages as usize / WAYS;
        (sets > 0).then(|| Self { sets: vec![[NO_PAGE; WAYS]; sets] })
    }

    /// Spreads neighbours, and uses the high bits of the product, which are the good ones.
    fn set(&mut self, logical: u64) -> &mut [u64; WAYS] {
        let hash = (logical as u32).wrapping_mul(0x9E37_79B9);
        let index = (u64::from(hash) * self.sets.len() as u64) >> 32;
        &mut self.sets[index as usize]
    }

    /// Whether the page is cached; if so, it becomes the most recently used one.
    pub fn hit(&mut self, logical: u64) -> bool {
        let set = self.set(logical);
        let Some(way) = set.iter().position(|&page| page == logical) else { return false };
        set[..=way].rotate_right(1);
        true
    }

    /// Adds a page in place of the least recently used one of its set.
    pub fn insert(&mut self, logical: u64) {
        if !self.hit(logical) {
            let set = self.set(logical);
            set.rotate_right(1);
            set[0] = logical;
        }
    }

    /// Forgets a page.
    pub fn remove(&mut self, logical: u64) {
        if self.hit(logical) {
            let set = self.set(logical);
            set[0] = NO_PAGE;
            set.rotate_left(1);
        }
    }

    /// Every cached page.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.sets.iter().flatten().copied().filter(|&page| page != NO_PAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_page_leaves() {
        let mut cache = ReadCache::new(WAYS as u32).unwrap();
        (0..8).for_each(|page| cache.insert(page));
        assert!(cache.hit(0));
        cache.insert(8);
        assert!(cache.hit(0) && !cache.hit(1) && cache.hit(8));
        cache.remove(0);
        assert!(!cache.hit(0));
        cache.insert(9);
        assert!(cache.hit(2), "a free place is used first");
        assert_eq!(cache.pages().count(), 8);
        assert!(ReadCache::new(7).is_none());
    }
}
