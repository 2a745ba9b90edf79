//! The drive with reclaim groups; see [`crate::ftl::reclaim_groups`].
//!
//! Collection works on the group at hand, so the rest of the drive need not know of groups: whoever has to do with one
//! takes it to hand for that time. A drive without reclaim groups has one group, always at hand.

use crate::device::Device;
use crate::device::gc::priority::is_held_back_by;
use crate::ftl::StreamId;
use crate::ftl::collector::Collector;
use crate::ftl::pacing::{Bursts, Pacing};
use crate::ftl::reclaim_groups::{GroupGc, ReclaimGroups};
use crate::model::Config;
use crate::probe::Probe;

/// Garbage collection of a new drive, and of its reclaim groups if it has several.
pub(in crate::device) fn new_groups(config: &Config) -> (GroupGc, Option<Box<ReclaimGroups>>) {
    let group_gc = GroupGc {
        collector: Collector::new(&config.geometry),
        pacing: Pacing::new(config.pacing, config.free_low, config.free_high),
        bursts: config.options.quantum.map(Bursts::new),
    };
    let reclaim_groups = ReclaimGroups::new(config.geometry.reclaim_groups, &group_gc);
    (group_gc, reclaim_groups)
}

impl<P: Probe> Device<P> {
    /// The reclaim group at hand.
    #[inline(always)]
    pub(in crate::device) fn group_at_hand(&self) -> u32 {
        self.reclaim_groups.as_ref().map_or(0, |reclaim_groups| reclaim_groups.at_hand())
    }

    /// Does something with a reclaim group at hand.
    #[inline(always)]
    pub(in crate::device) fn in_group<R>(
        &mut self,
        group: u32,
        work: impl FnOnce(&mut Self) -> R,
    ) -> R {
        if self.reclaim_groups.is_none() {
            return work(self);
        }
        let before = self.group_at_hand();
        self.take_to_hand(group);
        let result = work(self);
        self.take_to_hand(before);
        result
    }

    /// Does something with the reclaim group of a superblock at hand.
    #[inline(always)]
    pub(in crate::device) fn in_group_of<R>(
        &mut self,
        superblock: u32,
        work: impl FnOnce(&mut Self) -> R,
    ) -> R {
        if self.reclaim_groups.is_none() {
            return work(self);
        }
        let group = self.geometry().reclaim_group(superblock);
        self.in_group(group, work)
    }

    /// Does something with each reclaim group at hand in turn.
    pub(in crate::device) fn in_each_group(&mut self, mut work: impl FnMut(&mut Self)) {
        for group in 0..self.geometry().reclaim_groups {
            self.in_group(group, &mut work);
        }
    }

    #[inline(never)]
    fn take_to_hand(&mut self, group: u32) {
        let Self { reclaim_groups, collector, pacing, bursts, .. } = self;
        if let Some(reclaim_groups) = reclaim_groups
            && reclaim_groups.at_hand() != group
        {
            reclaim_groups.take_to_hand(group, (collector, pacing, bursts));
        }
    }

    /// Collects in each group that has a reason; true if one did, or cancelled its debt.
    #[inline(never)]
    pub(in crate::device) fn collect_in_groups(&mut self) -> bool {
        let mut any = false;
        for group in 0..self.geometry().reclaim_groups {
            let is_always = self.may_all_collect();
            let is_quiet = self.reclaim_groups.as_ref().is_some_and(|all| all.is_quiet(group));
            if !is_always && is_quiet {
                continue;
            }
            if is_always || self.has_reason(group) {
                any |= self.in_group(group, Self::collect_at_hand);
            } else if let Some(reclaim_groups) = &mut self.reclaim_groups {
                reclaim_groups.set_quiet(group);
            }
        }
        any
    }

    /// Whether every group may have something to collect, for a reason that lies outside of it.
    #[inline]
    fn may_all_collect(&self) -> bool {
        let is_gap = self.commands.outstanding() == 0;
        is_gap && self.mechanisms.background_gc.is_some() || !self.nand.due_for_reclaim().is_empty()
    }

    /// Whether a group may have something to collect by itself, without a look at the details.
    fn has_reason(&mut self, group: u32) -> bool {
        let free_superblocks = self.ftl.free_in(group);
        let can_do_other_work = self.mechanisms.pslc.is_some();
        let Self { reclaim_groups, collector, pacing, .. } = self;
        let waiting =
            reclaim_groups.as_mut().and_then(|reclaim_groups| reclaim_groups.waiting_mut(group));
        let (collector, pacing) = match waiting {
            Some(group_gc) => (&mut group_gc.collector, &mut group_gc.pacing),
            None => (collector, pacing),
        };
        // Pacing is asked first: it may note that it has collected enough.
        let is_asked = collector.owed_pages() > 0
            || collector.may_move_unasked()
            || collector.early_pages() > 0
            || pacing.must_collect(free_superblocks);
        is_asked && (can_do_other_work || collector.in_flight_with_unit().is_some())
    }

    /// Number of pages of a stream with room, as [`Device::room_pages`], in the group at hand or else in the next one that
    /// takes writes now: the stream goes on there. A unit that is begun stays where it is.
    pub(in crate::device) fn room_in_any_group(&mut self, stream: StreamId) -> u32 {
        for _ in 0..self.geometry().reclaim_groups {
            let room_pages = self.room_in_its_group(stream);
            if room_pages > 0 || !self.ftl.is_unit_complete(stream) {
                return room_pages;
            }
            self.ftl.turn(stream);
        }
        0
    }

    /// Number of pages of a stream with room in the group that it has at hand.
    fn room_in_its_group(&mut self, stream: StreamId) -> u32 {
        let group = self.ftl.group_at_hand(stream);
        if self.ftl.stream_has_room(stream) && self.late_pages() == 0 {
            // Nothing is opened and no other work comes first: the state of the group is read, and need not come to hand.
            let (collector, bursts) = self.gc_of(group);
            let is_held_back = is_held_back_by(collector, bursts, self.buffer.waiting());
            return if is_held_back { 0 } else { self.room_pages(stream) };
        }
        self.in_group(
            group,
            |device| {
                if device.is_host_held_back() { 0 } else { device.room_pages(stream) }
            },
        )
    }

    /// Victims and bursts of a group.
    #[inline]
    fn gc_of(&self, group: u32) -> (&Collector, Option<&Bursts>) {
        let waiting = self
            .reclaim_groups
            .as_ref()
            .and_then(|reclaim_groups| reclaim_groups.waiting_in(group));
        match waiting {
            Some(group_gc) => (&group_gc.collector, group_gc.bursts.as_ref()),
            None => (&self.collector, self.bursts.as_ref()),
        }
    }

    /// A program of a group's moved data is durable: erases the victims that have waited for it.
    pub(in crate::device) fn erase_durable_victims_of(&mut self, group: u32) {
        if self.gc_of(group).0.is_any_placed() {
            self.in_group(group, Self::erase_durable_victims);
        }
    }

    /// Victims and debts of each group.
    fn collectors(&self) -> impl Iterator<Item = &Collector> {
        let waiting =
            self.reclaim_groups.iter().flat_map(|reclaim_groups| reclaim_groups.waiting());
        waiting.map(|group_gc| &group_gc.collector).chain([&self.collector])
    }

    /// Whether the newest victim of any group held valid data.
    pub(in crate::device) fn costs_collection(&self) -> bool {
        self.collectors().any(|collector| collector.victim_valid_pages() > 0)
    }

    /// The streams of moved data of the group at hand.
    pub(in crate::device) fn moved_streams(&self) -> &'static [StreamId] {
        if self.reclaim_groups.is_none() {
            return &StreamId::MOVED;
        }
        let group = self.group_at_hand() as usize;
        &StreamId::COLLECTED[group..=group]
    }
}
