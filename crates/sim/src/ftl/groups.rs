//! Superblocks over a part of the dies: every stream has one open in each group of dies, and fills them in turn.
//!
//! Phenomenon: firmware need not erase a block on every die at once. With smaller superblocks the dies of one group
//! clean while the others serve the host, and a stream writes to all of them. Source: lines of pblk over a subset of
//! the parallel units (Bjorling et al., FAST 2017); Open-Channel drives give the host that choice. Simplifications:
//! groups are of one size and hold neighbouring dies; a stream passes to the next group after a program on each die; a group
//! without an erased superblock takes the oldest of another, so that the groups wear alike; a victim is chosen among
//! all superblocks. Test: `tests/device/groups.rs`.

use std::collections::VecDeque;

use super::{Ftl, NO_SUPERBLOCK, STREAMS, Stream, StreamId};

/// The open superblocks beside the one at hand of each stream.
#[derive(Clone, Debug)]
pub(super) struct OpenGroups {
    streams: [Waiting; STREAMS],
}

/// The other groups of a stream, the next one first.
#[derive(Clone, Debug)]
struct Waiting {
    streams: VecDeque<Stream>,
    room_pages: u32,
    /// Group of the superblock at hand.
    group: u32,
}

impl OpenGroups {
    /// Nothing is open; `None` for a drive whose superblocks lie on all dies.
    pub(super) fn new(groups: u32, unit_pages: u32) -> Option<Box<Self>> {
        let idle = Stream {
            superblock: NO_SUPERBLOCK,
            next_page: 0,
            room_pages: 0,
            unit_room_pages: unit_pages,
        };
        let streams = (1..groups).map(|_| idle).collect();
        let waiting = Waiting { streams, room_pages: 0, group: 0 };
        (groups > 1).then(|| Box::new(Self { streams: std::array::from_fn(|_| waiting.clone()) }))
    }

    /// Pages with room in the superblocks that a stream does not have at hand.
    pub(super) fn room_pages(&self, id: StreamId) -> u32 {
        self.streams[id as usize].room_pages
    }

    /// Group of the superblock that a stream has at hand.
    pub(super) fn group(&self, id: StreamId) -> u32 {
        self.streams[id as usize].group
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
        let row_pages = self.geometry.superblock_dies() * self.geometry.unit_pages;
        if self.stream(id).next_page.is_multiple_of(row_pages) {
            self.turn(id);
        }
    }

    /// Takes the superblock of the next group to hand.
    fn turn(&mut self, id: StreamId) {
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
