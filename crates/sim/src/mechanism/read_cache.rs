//! DRAM that caches pages after a read.
//!
//! Phenomenon: a page that was read recently comes from DRAM, without NAND. Source: client
//! controllers of the time do this with DRAM that the map leaves free; FEMU models the same. Off
//! unless a model asks for it. Simplifications: sets of eight pages, least recently used first out
//! of its set; filled at the end of a read, never ahead of the host; an overwritten page leaves the
//! cache when its write is in the buffer, which then serves reads. Tests: `tests/device/host.rs`,
//! `Device::check`.

use base::facts::Sourced;

use crate::ftl::NO_PAGE;
use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{ModelError, section};

section! {
    /// DRAM that caches reads.
    pub struct ReadCacheSection {
        /// Its size.
        pub bytes: Sourced<u64>,
    }
}

/// Pages that compete for the same places.
const WAYS: usize = 8;

/// Size of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReadCachePlan {
    /// Its room.
    pub pages: u32,
}

impl Section for ReadCacheSection {
    type Plan = ReadCachePlan;
    type State = ReadCache;

    fn resolve(&self, basis: &Basis<'_>) -> Result<ReadCachePlan, ModelError> {
        let (bytes, page_bytes) = (self.bytes.value, u64::from(basis.geometry.page_bytes));
        basis.check.within("read_cache.bytes", bytes, WAYS as u64 * page_bytes, 1 << 40)?;
        Ok(ReadCachePlan { pages: (bytes / page_bytes) as u32 })
    }

    fn begin(plan: ReadCachePlan, _: &Geometry, _: usize) -> ReadCache {
        ReadCache::new(plan.pages)
    }
}

impl ReadCachePlan {
    /// Memory that the cache takes.
    pub fn memory_bytes(self) -> u64 {
        u64::from(self.pages) * size_of::<u64>() as u64
    }
}

/// Logical pages whose content is in DRAM.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ReadCache {
    /// Most recently used first.
    sets: Vec<[u64; WAYS]>,
}

impl ReadCache {
    /// Room for `pages` pages, rounded down to whole sets and at least one.
    pub fn new(pages: u32) -> Self {
        let sets = (pages as usize / WAYS).max(1);
        Self { sets: vec![[NO_PAGE; WAYS]; sets] }
    }

    /// Forgets all pages.
    pub fn clear(&mut self) {
        self.sets.fill([NO_PAGE; WAYS]);
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
        let mut cache = ReadCache::new(WAYS as u32);
        (0..8).for_each(|page| cache.insert(page));
        assert!(cache.hit(0));
        cache.insert(8);
        assert!(cache.hit(0) && !cache.hit(1) && cache.hit(8));
        cache.remove(0);
        assert!(!cache.hit(0));
        cache.insert(9);
        assert!(cache.hit(2), "a free place is used first");
        assert_eq!(cache.pages().count(), 8);
        cache.clear();
        assert_eq!(cache.pages().count(), 0);
    }
}
