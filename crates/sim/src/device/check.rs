//! Whole-device invariants, for tests and fuzzers: slow, complete.

use super::Device;
use crate::ftl::{NO_PAGE, StreamId, SuperblockState};
use crate::mechanism::map_cache::MapCache;
use crate::mechanism::mapping::MapLog;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Checks that every mapped LBA has exactly one valid page, that valid counts add up, and that free
    /// superblocks hold nothing.
    ///
    /// # Errors
    /// The first broken invariant, in words.
    pub fn check(&self) -> Result<(), String> {
        let ftl = &self.ftl;
        let superblock_pages = ftl.geometry.superblock_pages();
        let mut valid = vec![0_u32; ftl.geometry.superblocks as usize];
        for (logical, physical) in (0..).zip(ftl.l2p.iter()) {
            if physical == NO_PAGE {
                continue;
            }
            for physical in physical..physical + u64::from(ftl.size(logical)) {
                if !ftl.p2l.may_own(physical, logical) {
                    return Err(format!("page {logical} maps to {physical}, which is not its own"));
                }
                valid[(physical / u64::from(superblock_pages)) as usize] += 1;
            }
        }
        if valid != ftl.valid_pages {
            return Err("valid counts differ from the map".to_owned());
        }
        let cached = ftl.states.iter().filter(|&&state| state == SuperblockState::Cached).count();
        if cached != ftl.cached_superblocks as usize {
            return Err(format!(
                "{cached} superblocks are cached, {} counted",
                ftl.cached_superblocks
            ));
        }
        let borrowed = (0..ftl.geometry.superblocks).filter(|&s| ftl.is_borrowed(s)).count();
        if borrowed != ftl.borrowed_superblocks as usize {
            let counted = ftl.borrowed_superblocks;
            return Err(format!("{borrowed} superblocks are borrowed, {counted} counted"));
        }
        for &superblock in ftl.free.iter().chain(&ftl.cache_free) {
            if ftl.states[superblock as usize] != SuperblockState::Free {
                return Err(format!("superblock {superblock} is in the free list but not free"));
            }
        }
        let free = ftl.states.iter().filter(|&&state| state == SuperblockState::Free).count();
        let listed = ftl.free.len() + ftl.cache_free.len();
        if free != listed {
            return Err(format!("{free} superblocks are free, {listed} are listed"));
        }
        self.check_groups()?;
        let is_unmapped = |&page: &u64| ftl.l2p.get(page) == NO_PAGE;
        if let Some(page) = self.cached_pages().find(is_unmapped) {
            return Err(format!("LBA page {page} is in DRAM that was read but holds nothing"));
        }
        self.map_log().map_or(Ok(()), MapLog::check)?;
        self.map_cache().map_or(Ok(()), MapCache::check)?;
        if let Some(times) = self.power_times()
            && times.total_ns() > self.now().0
        {
            return Err(format!("{times:?} is more than the drive has lived"));
        }
        if let Some(fast) = self.nand.fast() {
            let superblocks = 0..ftl.geometry.superblocks;
            let flagged = superblocks.filter(|&superblock| fast.contains(superblock)).count();
            if flagged as u32 != fast.count() {
                return Err(format!(
                    "{flagged} superblocks are fast, {} are counted",
                    fast.count()
                ));
            }
            if ftl.free.iter().any(|&superblock| fast.contains(superblock)) {
                return Err("an erased superblock is still thought to be fast".to_owned());
            }
        }
        self.check_totals()
    }

    /// Counts of erased superblocks, in reclaim groups.
    fn check_groups(&self) -> Result<(), String> {
        let ftl = &self.ftl;
        let is_free = |&superblock: &u32| ftl.states[superblock as usize] == SuperblockState::Free;
        for group in (0..ftl.geometry.reclaim_groups).filter(|_| self.reclaim_groups.is_some()) {
            let free = ftl.geometry.superblocks_of_group(group).filter(is_free).count();
            let counted = ftl.free_in(group);
            if free != counted as usize {
                return Err(format!(
                    "{free} superblocks of group {group} are free, {counted} counted"
                ));
            }
        }
        Ok(())
    }

    /// Conservation: programs = host + GC + padding + parity + map + folds - saved, minus the pages
    /// in open units and queues.
    fn check_totals(&self) -> Result<(), String> {
        let totals = self.physical_totals();
        let geometry = &self.ftl.geometry;
        let taken_pages = totals.host_pages + self.rewritten_pages;
        let host_pages =
            taken_pages * u64::from(geometry.page_granules) / u64::from(geometry.host_pages());
        let data = host_pages - totals.saved_pages + totals.gc_moved_pages + totals.padding_pages;
        let written = data + totals.parity_pages + totals.metadata_pages + totals.folded_pages;
        let waiting = written.checked_sub(totals.programmed_pages);
        let room = |id| u64::from(self.ftl.stream_room_pages(id));
        match waiting {
            None => {
                Err(format!("{} pages programmed, only {written} written", totals.programmed_pages))
            }
            Some(waiting) if waiting < totals.buffer_pages => {
                Err(format!("{waiting} pages wait, but the buffer holds {}", totals.buffer_pages))
            }
            Some(_)
                if room(StreamId::Host)
                    > u64::from(geometry.die_groups)
                        * u64::from(geometry.superblock_data_pages()) =>
            {
                Err("the host stream has more room than a superblock".to_owned())
            }
            Some(_) => Ok(()),
        }
    }
}
