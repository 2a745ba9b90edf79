//! Reclaim groups: groups of dies that collect garbage each for itself (`gc.victims = "per-group"`).
//!
//! Phenomenon: each group keeps a reserve of erased superblocks, chooses a victim among its own superblocks and moves
//! the data within the group. So groups collect at different times: while one erases and programs what it moved, the dies
//! of the others serve the host, whose writes go on in the next group that takes them. Source: firmware that divides its
//! back end by channel or by die has one allocator and one collector for each part (Open-Channel drives, pblk; the "lines"
//! of SPDK FTL are over all); no vendor says how many parts its drives have. Simplifications: `gc.free_low`,
//! `gc.free_high`, bursts and targets count for each group; the moved data of a group is one stream; data leaves a group
//! only by being overwritten. Tests: `tests/device/groups.rs`, `tests/formulas/groups.rs`.

use serde::Deserialize;

use super::collector::Collector;
use super::pacing::{Bursts, Pacing};
use super::{Ftl, StreamId};

/// Most reclaim groups: each has a stream of moved data.
pub const RECLAIM_GROUPS_MAX: u32 = StreamId::COLLECTED.len() as u32;

/// The superblocks among which a victim is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VictimScope {
    /// All: one victim at a time on the whole drive.
    All,
    /// The superblocks of a group of dies: each is a reclaim group.
    PerGroup,
}

/// Garbage collection of one reclaim group: its victims, their times and their bursts.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct GroupGc {
    /// Its victims and debts.
    pub collector: Collector,
    /// The times of its collection.
    pub pacing: Pacing,
    /// Its bursts, or `None` if it moves at once what it owes.
    pub bursts: Option<Bursts>,
}

/// Garbage collection of all groups but the one at hand, which the drive itself holds.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ReclaimGroups {
    at_hand: u32,
    /// A bit for each group that had no reason to collect when it was looked at. Only the group at hand changes, so the
    /// others stay so.
    quiet: u32,
    /// By group; that of the group at hand stands for nothing.
    waiting: Vec<GroupGc>,
}

impl ReclaimGroups {
    /// The groups of a drive, of which the first is at hand; `None` for a drive that has one.
    pub fn new(groups: u32, group_gc: &GroupGc) -> Option<Box<Self>> {
        let waiting = vec![group_gc.clone(); groups as usize];
        (groups > 1).then(|| Box::new(Self { at_hand: 0, quiet: 0, waiting }))
    }

    /// The group at hand.
    #[inline]
    pub fn at_hand(&self) -> u32 {
        self.at_hand
    }

    /// Whether a group had no reason to collect when it was looked at, and has not changed since.
    #[inline]
    pub fn is_quiet(&self, group: u32) -> bool {
        self.quiet >> group & 1 == 1 && group != self.at_hand
    }

    /// Records that a group has no reason to collect.
    #[inline]
    pub fn set_quiet(&mut self, group: u32) {
        self.quiet |= 1 << group;
    }

    /// Garbage collection of a group that is not at hand, or `None` of the one that is.
    #[inline]
    pub fn waiting_in(&self, group: u32) -> Option<&GroupGc> {
        self.waiting.get(group as usize).filter(|_| group != self.at_hand)
    }

    /// Garbage collection of a group that is not at hand, to change, or `None` of the one that is.
    #[inline]
    pub fn waiting_mut(&mut self, group: u32) -> Option<&mut GroupGc> {
        self.waiting.get_mut(group as usize).filter(|_| group != self.at_hand)
    }

    /// Garbage collection of the groups that are not at hand.
    pub fn waiting(&self) -> impl Iterator<Item = &GroupGc> {
        let at_hand = self.at_hand as usize;
        self.waiting
            .iter()
            .enumerate()
            .filter(move |(group, _)| *group != at_hand)
            .map(|(_, group_gc)| group_gc)
    }

    /// Takes another group to hand, whose collection changes places with the given one of the group that was.
    pub fn take_to_hand(
        &mut self,
        group: u32,
        (collector, pacing, bursts): (&mut Collector, &mut Pacing, &mut Option<Bursts>),
    ) {
        for place in [self.at_hand, group] {
            let group_gc = &mut self.waiting[place as usize];
            std::mem::swap(collector, &mut group_gc.collector);
            std::mem::swap(pacing, &mut group_gc.pacing);
            std::mem::swap(bursts, &mut group_gc.bursts);
            self.quiet &= !(1 << place);
        }
        self.at_hand = group;
    }
}

impl Ftl {
    /// The group that writes a stream of moved data, on a drive with reclaim groups; 0 for other streams.
    pub fn group_of_moved(&self, stream: StreamId) -> u32 {
        let group = StreamId::COLLECTED.iter().position(|&collected| collected == stream);
        group.map_or(0, |group| group as u32 % self.geometry.reclaim_groups)
    }
}
