//! Superblocks over a part of the dies: every stream has one open in each group of dies, and fills them in turn.
//!
//! Phenomenon: firmware need not erase a block on every die at once. With smaller superblocks the dies of one group
//! collect while the others serve the host, and a stream writes to all of them. Source: lines of pblk over a subset of
//! the parallel units (Bjorling et al., FAST 2017); Open-Channel drives give the host that choice. Simplifications:
//! groups are of one size and hold neighbouring dies; a stream passes to the next group after a program on each die.
//! With one victim at a time among all superblocks, a group without an erased superblock takes the oldest of another,
//! so that the groups wear alike. Where the groups are reclaim groups ([`crate::ftl::reclaim_groups`]), each keeps its own
//! superblocks, and its moved data in a stream of its own. Test: `tests/device/groups.rs`.

use std::collections::VecDeque;

use super::{Ftl, NO_SUPERBLOCK, STREAMS, Stream, StreamId};
use crate::geometry::Geometry;

/// The open superblocks beside the one at hand of each stream.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct OpenGroups {
    streams: [Waiting; STREAMS],
    /// Erased superblocks of each reclaim group.
    free: Vec<u32>,
}

/// The other groups of a stream, the next one first.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Waiting {
    streams: VecDeque<Stream>,
    room_pages: u32,
    /// Group of the superblock at hand.
    group: u32,
}

impl OpenGroups {
    /// Nothing is open and all is erased; `None` for a drive whose superblocks lie on all dies.
    pub(super) fn new(geometry: &Geometry) -> Option<Box<Self>> {
        let idle = Stream {
            superblock: NO_SUPERBLOCK,
            next_page: 0,
            room_pages: 0,
            unit_room_pages: geometry.unit_pages,
        };
        let waiting = (1..geometry.die_groups).map(|_| idle).collect();
        let waiting = Waiting { streams: waiting, room_pages: 0, group: 0 };
        let mut streams = std::array::from_fn(|_| waiting.clone());
        for (group, id) in (0..geometry.reclaim_groups).zip(StreamId::COLLECTED) {
            streams[id as usize].group = group;
        }
        let free =
            vec![geometry.superblocks / geometry.reclaim_groups; geometry.reclaim_groups as usize];
        (geometry.die_groups > 1).then(|| Box::new(Self { streams, free }))
    }

    /// Counts erased superblocks of a reclaim group.
    pub(super) fn count_free(&mut self, group: u32, more: i32) {
        let free = &mut self.free[group as usize];
        *free = free.saturating_add_signed(more);
    }

    /// Pages with room in the superblocks that a stream does not have at hand.
    pub(super) fn room_pages(&self, id: StreamId) -> u32 {
        self.streams[id as usize].room_pages
    }

    /// Group of the superblock that a stream has at hand.
    pub(super) fn group(&self, id: StreamId) -> u32 {
        self.streams[id as usize].group
    }

    /// Pages with room in the superblock of a group that is not at hand.
    fn room_in(&self, id: StreamId, group: u32) -> u32 {
        let Waiting { streams, group: at_hand, .. } = &self.streams[id as usize];
        let groups = streams.len() as u32 + 1;
        let place = (group + groups - at_hand - 1) % groups;
        streams[place as usize].room_pages
    }

    /// All open superblocks that no stream has at hand.
    pub(super) fn open(&self) -> impl Iterator<Item = &Stream> {
        self.streams.iter().flat_map(|waiting| &waiting.streams)
    }
}

impl Ftl {
    /// Goes on in the next group when every die of the one at hand has a unit: in the order of the dies of the drive,
    /// which loads all channels first.
    #[cold]
    #[inline(never)]
    pub(super) fn end_unit_of_group(&mut self, id: StreamId) {
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
