//! The flash translation layer's bookkeeping: maps, valid counts, streams. No time in here.
//!
//! Phenomenon: page-mapped log-structured writing over superblocks with separate host and GC
//! streams, as in open FTLs (SPDK FTL bands, pblk lines; see `docs/reference/simulator.md`). Simplification:
//! the whole map is in DRAM; what it costs on NAND is in `mechanism/mapping.rs` and `mechanism/map_cache.rs`. Tests: `device/check.rs` walks the invariants,
//! `tests/formulas/shape.rs` compares WAF with theory.
//!
//! A physical page is valid exactly when `l2p[p2l[page]] == page`, so that an overwrite touches one
//! map line and a counter, and nothing has to be cleared in `p2l`.

pub mod allocation;
mod cache;
pub mod collector;
pub mod durability;
pub mod gc;
mod granules;
mod groups;
pub mod pacing;
pub mod packed;
pub mod placement;
pub mod policies;
pub mod rebuild;
pub mod reclaim_groups;
mod stream;
pub mod table;

use std::collections::VecDeque;
use std::ops::Range;

pub use crate::geometry::NO_PAGE;
use crate::geometry::{Divisor, Geometry};
use allocation::Allocation;
use groups::OpenGroups;
pub use stream::{NO_SUPERBLOCK, STREAMS, Stream, StreamId};
use table::PageTable;

/// Distance in pages at which a stream prefetches the line for the owners of its pages: a write to
/// a missing line delays all that follow.
const FRONTIER_AHEAD_PAGES: u64 = 32;

/// Life of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SuperblockState {
    /// Erased, in the free list.
    Free,
    /// A stream writes into it.
    Open,
    /// Full; garbage collection may choose it.
    Closed,
    /// A full superblock of the pSLC cache; waits for folding.
    Cached,
    /// Being collected or erased.
    Victim,
}

/// Maps, counts and streams of one drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Ftl {
    /// Shape of the drive.
    pub geometry: Geometry,
    /// Logical to physical page, the pages of the map behind those of the host.
    pub l2p: PageTable,
    /// Physical to logical page, as last written; the module text defines validity.
    pub p2l: PageTable,
    /// Granules of each logical page; empty where every page is one.
    sizes: Vec<u8>,
    /// Valid pages of each superblock.
    pub valid_pages: Vec<u32>,
    /// State of each superblock.
    pub states: Vec<SuperblockState>,
    /// The stream that wrote each superblock last.
    pub written_by: Vec<StreamId>,
    /// Erases of each superblock.
    pub erase_counts: Vec<u32>,
    /// Age of each superblock: its number in the order of all closings.
    pub closed_at: Vec<u64>,
    /// Closings so far.
    pub closed_total: u64,
    /// Rule for the next erased superblock.
    pub allocation: Allocation,
    /// Erased superblocks, oldest first.
    pub free: VecDeque<u32>,
    /// Erased superblocks that serve only as cache, oldest first.
    pub cache_free: VecDeque<u32>,
    /// Superblocks that wait for folding.
    pub cached_superblocks: u32,
    /// Superblocks of the native cells that serve as cache, or did and are not erased yet.
    pub borrowed_superblocks: u32,
    streams: [Stream; STREAMS],
    /// The other open superblocks of a drive with groups of dies, or `None` if it has none.
    groups: Option<Box<OpenGroups>>,
    superblock_pages: u32,
    by_superblock: Divisor,
    by_unit: Divisor,
}

impl Ftl {
    /// An empty drive: every superblock erased, nothing mapped.
    pub fn new(geometry: Geometry) -> Self {
        let superblocks = geometry.superblocks as usize;
        Self {
            l2p: PageTable::new(geometry.stored_pages(), geometry.page_number_bytes),
            p2l: PageTable::owners(&geometry),
            sizes: if geometry.page_granules > 1 {
                vec![0; geometry.logical_pages as usize]
            } else {
                Vec::new()
            },
            valid_pages: vec![0; superblocks],
            states: vec![SuperblockState::Free; superblocks],
            written_by: vec![StreamId::Host; superblocks],
            erase_counts: vec![0; superblocks],
            closed_at: vec![0; superblocks],
            closed_total: 0,
            allocation: Allocation::default(),
            free: (0..geometry.superblocks - geometry.cache_superblocks).collect(),
            cache_free: (geometry.superblocks - geometry.cache_superblocks..geometry.superblocks)
                .collect(),
            cached_superblocks: 0,
            borrowed_superblocks: 0,
            streams: [Stream {
                superblock: NO_SUPERBLOCK,
                next_page: 0,
                room_pages: 0,
                unit_room_pages: geometry.unit_pages,
            }; STREAMS],
            groups: OpenGroups::new(&geometry),
            superblock_pages: geometry.superblock_pages(),
            by_superblock: Divisor::new(geometry.superblock_pages()),
            by_unit: Divisor::new(geometry.unit_pages),
            geometry,
        }
    }

    /// Whether the drive is unused: nothing has been written or erased yet.
    pub fn is_new(&self) -> bool {
        self.free.len() + self.cache_free.len() == self.states.len()
            && self.erase_counts.iter().all(|&erases| erases == 0)
    }

    /// The superblock of a physical page.
    #[inline]
    pub fn superblock_of(&self, physical: u64) -> u32 {
        self.by_superblock.divide(physical)
    }

    /// The unit of a physical page, over the whole drive.
    #[inline]
    pub fn unit_of(&self, physical: u64) -> u32 {
        self.by_unit.divide(physical)
    }

    /// A stream's write frontier.
    #[inline]
    pub fn stream(&self, id: StreamId) -> &Stream {
        &self.streams[id as usize]
    }

    /// Whether a stream stands between two units: its last page completed one.
    #[inline]
    pub fn is_unit_complete(&self, id: StreamId) -> bool {
        self.stream(id).unit_room_pages == self.geometry.unit_pages
    }

    /// Pages a stream can still write into its open superblocks.
    #[inline]
    pub fn stream_room_pages(&self, id: StreamId) -> u32 {
        let of_others = self.groups.as_ref().map_or(0, |groups| groups.room_pages(id));
        self.stream(id).room_pages + of_others
    }

    /// Whether a stream can write at least one page more into the superblock at hand.
    #[inline]
    pub fn stream_has_room(&self, id: StreamId) -> bool {
        self.stream(id).room_pages > 0
    }

    /// Pages of a superblock that have been written since its last erase.
    pub fn written_pages(&self, superblock: u32) -> u32 {
        match self.states[superblock as usize] {
            SuperblockState::Free => 0,
            SuperblockState::Closed | SuperblockState::Victim => self.superblock_pages,
            SuperblockState::Cached => self.cache_pages(),
            SuperblockState::Open => {
                let others = self.groups.iter().flat_map(|groups| groups.open());
                let mut all = self.streams.iter().chain(others);
                let open = all.find(|stream| stream.superblock == superblock);
                open.map_or(0, |stream| stream.next_page)
            }
        }
    }

    /// Gives a stream an erased superblock, of the group at hand if it can be; false if there is none.
    ///
    /// # Panics
    /// When the stream still has an open superblock: a bug in the caller.
    pub fn open_superblock(&mut self, id: StreamId) -> bool {
        assert!(!self.stream_has_room(id), "a stream has one open superblock at a time in a group");
        let group = self.groups.as_ref().map(|groups| groups.group(id));
        let Some(superblock) = self.take_free(group, id == StreamId::Cold) else { return false };
        self.begin_superblock(id, superblock, self.geometry.superblock_data_pages());
        true
    }

    /// The next erased superblock, of this group of dies if it has one; of no other if the group is a reclaim group.
    fn take_free(&mut self, group: Option<u32>, is_cold: bool) -> Option<u32> {
        let is_of_group = |superblock: u32| {
            group.is_none_or(|group| superblock % self.geometry.die_groups == group)
        };
        let is_alone = self.geometry.reclaim_groups > 1;
        let choose = |is_wanted: &dyn Fn(u32) -> bool| {
            self.allocation.choose(&self.free, &self.erase_counts, is_cold, is_wanted)
        };
        let index = choose(&is_of_group).or_else(|| choose(&|_| !is_alone))?;
        let superblock = self.free.remove(index)?;
        self.count_free(superblock, -1);
        Some(superblock)
    }

    #[inline]
    fn count_free(&mut self, superblock: u32, more: i32) {
        if let Some(groups) = &mut self.groups {
            groups.count_free(self.geometry.reclaim_group(superblock), more);
        }
    }

    fn begin_superblock(&mut self, id: StreamId, superblock: u32, room_pages: u32) {
        self.states[superblock as usize] = SuperblockState::Open;
        self.written_by[superblock as usize] = id;
        let unit_room_pages = self.geometry.unit_pages;
        self.streams[id as usize] =
            Stream { superblock, next_page: 0, room_pages, unit_room_pages };
    }

    /// Takes another frontier to hand for a stream, and gives the present one back.
    pub fn exchange(&mut self, id: StreamId, frontier: &mut Stream) {
        std::mem::swap(&mut self.streams[id as usize], frontier);
    }

    /// Writes a logical page at a stream's frontier and returns its physical page; for drives that
    /// compress see [`Ftl::begin_page`]. The caller has made sure that there is room.
    #[inline(always)]
    pub fn place(&mut self, id: StreamId, logical: u64) -> u64 {
        let physical = self.frontier(id);
        if let Some(behind_old) = self.l2p.replace(logical, physical) {
            let superblock = self.by_superblock.divide_before(behind_old.get());
            self.valid_pages[superblock as usize] -= 1;
        }
        self.p2l.set(physical, logical);
        self.valid_pages[self.streams[id as usize].superblock as usize] += 1;
        self.advance(id, 1);
        physical
    }

    /// Moves the pages of `unit` that `pages` names (bit 0 for the first) and that are still valid
    /// to a stream's frontier, until its unit is complete or none is left; removes the examined
    /// pages from `pages`. `moved` gets each logical page with its new physical page. The caller
    /// has made sure that there is room.
    #[inline]
    pub fn move_pages(
        &mut self,
        id: StreamId,
        unit: u32,
        pages: &mut u64,
        moved: impl FnMut(u64, u64),
    ) -> u32 {
        let source = self.geometry.first_page_of(unit);
        let stream = self.streams[id as usize];
        let first = self.frontier(id);
        let targets = first..first + u64::from(stream.unit_room_pages);
        let count = self.p2l.move_entries(&mut self.l2p, (source, pages), targets, moved);
        if count > 0 {
            let from = self.superblock_of(source);
            self.valid_pages[from as usize] -= count;
            self.valid_pages[stream.superblock as usize] += count;
            self.advance(id, count);
        }
        count
    }

    /// Pads one page of a stream, to complete a unit.
    pub fn pad(&mut self, id: StreamId) -> u64 {
        let physical = self.frontier(id);
        self.p2l.set(physical, NO_PAGE);
        self.advance(id, 1);
        physical
    }

    /// The next physical page of a stream that has room.
    #[inline]
    pub fn frontier(&self, id: StreamId) -> u64 {
        let stream = &self.streams[id as usize];
        let first = u64::from(stream.superblock) * u64::from(self.superblock_pages);
        first + u64::from(stream.next_page)
    }

    /// Advances a frontier by pages of one unit; closes a full superblock.
    #[inline(always)]
    fn advance(&mut self, id: StreamId, pages: u32) {
        let stream = &mut self.streams[id as usize];
        stream.next_page += pages;
        stream.room_pages -= pages;
        stream.unit_room_pages -= pages;
        if stream.unit_room_pages == 0 {
            self.end_unit(id);
        }
    }

    /// Begins the next unit of a stream, or closes its superblock.
    #[inline(always)]
    fn end_unit(&mut self, id: StreamId) {
        let stream = &mut self.streams[id as usize];
        stream.unit_room_pages = self.geometry.unit_pages;
        stream.next_page = self.geometry.skip_parity(stream.next_page);
        if stream.room_pages == 0 {
            self.close(id);
        }
        if self.groups.is_some() {
            return self.end_unit_of_group(id);
        }
        self.p2l.prefetch(self.frontier(id) + FRONTIER_AHEAD_PAGES);
    }

    /// Closes the superblock that a stream writes, full or not.
    #[inline(never)]
    pub(crate) fn close(&mut self, id: StreamId) {
        let stream = &mut self.streams[id as usize];
        stream.room_pages = 0;
        let superblock = stream.superblock as usize;
        let is_cache = id == StreamId::Pslc;
        self.cached_superblocks += u32::from(is_cache);
        self.states[superblock] =
            if is_cache { SuperblockState::Cached } else { SuperblockState::Closed };
        self.closed_at[superblock] = self.closed_total;
        self.closed_total += 1;
        self.p2l.pack(superblock as u32);
    }

    /// Forgets a logical page; true if it was mapped.
    #[inline]
    pub fn unmap(&mut self, logical: u64) -> bool {
        let old = self.l2p.get(logical);
        if old == NO_PAGE {
            return false;
        }
        self.l2p.set(logical, NO_PAGE);
        let superblock = self.superblock_of(old);
        self.valid_pages[superblock as usize] -= self.size(logical);
        true
    }

    /// The logical page of a physical page, if it is valid.
    #[inline]
    pub fn owner(&self, physical: u64) -> Option<u64> {
        let logical = self.p2l.get(physical);
        let valid = if self.sizes.is_empty() {
            self.l2p.get(logical) == physical
        } else {
            logical != NO_PAGE && self.is_within(physical, logical)
        };
        valid.then_some(logical)
    }

    /// The valid pages of a unit, bit 0 for its first page.
    #[inline(always)]
    pub fn valid_mask(&self, unit: u32) -> u64 {
        let unit_pages = self.geometry.unit_pages;
        let first = self.geometry.first_page_of(unit);
        if !self.sizes.is_empty() {
            return self.valid_granules_mask(first..first + u64::from(unit_pages));
        }
        self.p2l.led_back_mask(&self.l2p, first, unit_pages)
    }

    /// The valid granules of some physical pages, bit 0 for the first, on a drive that compresses.
    #[cold]
    #[inline(never)]
    fn valid_granules_mask(&self, pages: Range<u64>) -> u64 {
        pages.rev().fold(0, |mask, page| mask << 1 | u64::from(self.owner(page).is_some()))
    }

    /// Prefetches the map lines of the pages of a unit, if it exists: [`Ftl::valid_mask`] will need
    /// them.
    #[inline]
    pub fn prefetch_owned(&self, unit: u32) {
        let first = self.geometry.first_page_of(unit);
        self.p2l.prefetch_led(&self.l2p, first, self.geometry.unit_pages);
    }

    /// Prefetches the owners of the pages of a unit, which [`Ftl::prefetch_owned`] will read.
    #[inline]
    pub fn prefetch_owners(&self, unit: u32) {
        self.p2l.prefetch(self.geometry.first_page_of(unit));
    }

    /// Prefetches the map line of a logical page before its write.
    #[inline]
    pub fn prefetch_logical(&self, logical: u64) {
        self.l2p.prefetch(logical);
    }

    /// Puts an erased superblock back into the free list.
    ///
    /// # Panics
    /// When it still holds valid pages: data would be lost, a bug in the caller.
    pub fn erased(&mut self, superblock: u32) {
        let index = superblock as usize;
        assert_eq!(self.valid_pages[index], 0, "superblock {superblock} was erased with data");
        self.borrowed_superblocks -= u32::from(self.is_borrowed(superblock));
        self.states[index] = SuperblockState::Free;
        self.erase_counts[index] += 1;
        self.p2l.clear(superblock);
        self.list_erased(superblock);
    }

    /// Forgets which superblocks are erased.
    fn clear_free(&mut self) {
        while self.take_free(None, false).is_some() {}
        self.cache_free.clear();
    }

    /// Adds an erased superblock at the end of the free list.
    fn list_erased(&mut self, superblock: u32) {
        if self.geometry.is_cache_only(superblock) {
            self.cache_free.push_back(superblock);
        } else {
            self.free.push_back(superblock);
            self.count_free(superblock, 1);
        }
    }
}

/// The open superblocks of a drive with groups of dies.
impl Ftl {
    /// Goes on in the next group when every die of the one at hand has a unit: in the order of the dies of the drive,
    /// which loads all channels first.
    #[cold]
    #[inline(never)]
    fn end_unit_of_group(&mut self, id: StreamId) {
        if self.geometry.reclaim_groups > 1 && id.is_moved() {
            return;
        }
        let row_pages = self.geometry.superblock_dies() * self.geometry.unit_pages;
        if self.stream(id).next_page.is_multiple_of(row_pages) {
            self.turn(id);
        }
    }

    /// The group whose superblock a stream has at hand.
    pub fn group_at_hand(&self, id: StreamId) -> u32 {
        self.groups.as_ref().map_or(0, |groups| groups.group(id))
    }

    /// Pages that a stream can still write into its open superblock of a reclaim group.
    pub fn stream_room_in(&self, id: StreamId, group: u32) -> u32 {
        match &self.groups {
            Some(groups) if groups.group(id) != group => groups.room_in(id, group),
            _ => self.stream(id).room_pages,
        }
    }

    /// Erased superblocks of a reclaim group.
    #[inline]
    pub fn free_in(&self, group: u32) -> u32 {
        self.groups.as_ref().map_or(0, |groups| groups.free[group as usize])
    }

    /// Takes the superblock of the next group to hand; the stream stands between two units.
    pub fn turn(&mut self, id: StreamId) {
        let groups = self.geometry.die_groups;
        let Some(others) = &mut self.groups else { return };
        let waiting = &mut others.streams[id as usize];
        let at_hand = &mut self.streams[id as usize];
        waiting.room_pages += at_hand.room_pages;
        waiting.streams.push_back(*at_hand);
        if let Some(next) = waiting.streams.pop_front() {
            waiting.room_pages -= next.room_pages;
            waiting.group = (waiting.group + 1) % groups;
            *at_hand = next;
        }
    }

    /// Takes a superblock with room to hand; false if the stream has none in any group.
    pub fn turn_to_room(&mut self, id: StreamId) -> bool {
        if self.stream_room_pages(id) == 0 {
            return false;
        }
        while !self.stream_has_room(id) {
            self.turn(id);
        }
        true
    }
}
