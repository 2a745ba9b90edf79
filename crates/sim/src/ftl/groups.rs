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

use super::stream::{NO_SUPERBLOCK, STREAMS, Stream, StreamId};
use crate::geometry::Geometry;

/// The open superblocks beside the one at hand of each stream.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct OpenGroups {
    pub(super) streams: [Waiting; STREAMS],
    /// Erased superblocks of each reclaim group.
    pub(super) free: Vec<u32>,
}

/// The other groups of a stream, the next one first.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Waiting {
    pub(super) streams: VecDeque<Stream>,
    pub(super) room_pages: u32,
    /// Group of the superblock at hand.
    pub(super) group: u32,
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
    pub(super) fn room_in(&self, id: StreamId, group: u32) -> u32 {
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
