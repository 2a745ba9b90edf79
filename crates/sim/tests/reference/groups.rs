//! Groups of dies: the superblock in which a stream goes on.

use std::collections::VecDeque;

use sim::Config;
use sim::ftl::{STREAMS, StreamId};

use super::{Open, Reference, handles};

/// Open superblocks of the other groups, the next one first, and the group at hand.
pub(super) type Groups = [(VecDeque<Option<Open>>, u32); STREAMS];

/// Nothing is open: every stream begins in the first group, or in its own.
pub(super) fn at_start(config: &Config) -> Groups {
    let geometry = &config.geometry;
    let nothing: VecDeque<_> = (1..geometry.die_groups).map(|_| None).collect();
    let mut groups: Groups = std::array::from_fn(|_| (nothing.clone(), 0));
    for (group, stream) in (0..geometry.reclaim_groups).zip(StreamId::COLLECTED) {
        groups[stream as usize].1 = group;
    }
    groups
}

impl Reference {
    /// Whether each group of dies cleans for itself.
    pub(super) fn is_apart(&self) -> bool {
        self.config.geometry.reclaim_groups > 1
    }

    /// The first superblock that may be a victim where this one is, and the distance to the next ones.
    pub(super) fn group_beside(&self, superblock: u32) -> (u32, usize) {
        let groups = if self.is_apart() { self.config.geometry.die_groups } else { 1 };
        (superblock % groups, groups as usize)
    }

    /// Full superblocks among which this one may be a victim, in the order in which they were filled.
    pub(super) fn closed_beside(&self, superblock: u32) -> Vec<u32> {
        let (first, step) = self.group_beside(superblock);
        let is_beside = |closed: &u32| *closed as usize % step == first as usize;
        let beside = self.closed.iter().copied().filter(is_beside).collect();
        handles::of_chosen_handle(self, beside)
    }

    /// Erased superblocks for a group: its own, or those of others if it has none and does not clean for itself.
    pub(super) fn free_of(&self, group: u32) -> Vec<u32> {
        let is_of_group = |superblock: &u32| superblock % self.config.geometry.die_groups == group;
        let own: Vec<u32> = self.free.iter().copied().filter(is_of_group).collect();
        if own.is_empty() && !self.is_apart() { self.free.iter().copied().collect() } else { own }
    }

    /// The stream for data of a victim that stays in its group.
    pub(super) fn stream_of_group(&self, victim: u32) -> StreamId {
        StreamId::COLLECTED[(victim % self.config.geometry.die_groups) as usize]
    }

    /// A stream goes on in the next group of dies when each die of the one at hand has a unit, unless it has one group.
    pub(super) fn end_row(&mut self, stream: StreamId, next_page: u32) {
        let geometry = &self.config.geometry;
        let row_pages = geometry.dies / geometry.die_groups * geometry.unit_pages;
        let has_one_group = self.is_apart() && StreamId::MOVED.contains(&stream);
        if next_page.is_multiple_of(row_pages) && !has_one_group {
            self.turn(stream);
        }
    }

    /// Of groups that clean apart, the host passes by each that takes no writes now, whole units at a time; moved data
    /// stays in its group.
    fn pass_groups(&mut self, stream: StreamId, actual: u32) {
        let groups = self.config.geometry.die_groups;
        while self.groups[stream as usize].1 != actual % groups {
            assert!(!StreamId::MOVED.contains(&stream), "{actual} is of another group");
            let next_page = self.streams[stream as usize].map_or(0, |(_, next)| next);
            let unit_pages = self.config.geometry.unit_pages;
            assert!(next_page.is_multiple_of(unit_pages), "a unit goes on in another group");
            self.turn(stream);
        }
    }

    /// The stream goes on in the next group of dies.
    pub(super) fn turn(&mut self, stream: StreamId) {
        let at_hand = &mut self.streams[stream as usize];
        let (waiting, group) = &mut self.groups[stream as usize];
        waiting.push_back(at_hand.take());
        *at_hand = waiting.pop_front().flatten();
        *group = (*group + 1) % self.config.geometry.die_groups;
    }

    /// A stream that may not open a superblock goes on in the next group that has one: the host when the drive has few
    /// left, what is moved when it has none.
    pub(super) fn skip_groups(&mut self, stream: StreamId, actual: u32) {
        if self.is_apart() {
            return self.pass_groups(stream, actual);
        }
        let (waiting, _) = &self.groups[stream as usize];
        let is_open_elsewhere = waiting.iter().flatten().any(|(open, _)| *open == actual);
        let may_skip = self.free.is_empty() || !StreamId::MOVED.contains(&stream);
        if !is_open_elsewhere || !may_skip {
            return;
        }
        while self.streams[stream as usize].is_none() {
            self.turn(stream);
        }
    }

    /// Whether a stream has an open superblock in some group.
    pub(super) fn is_open(&self, stream: StreamId) -> bool {
        let waiting = &self.groups[stream as usize].0;
        self.streams[stream as usize].is_some() || waiting.iter().any(Option::is_some)
    }
}
