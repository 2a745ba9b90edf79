//! The drive with its garbage: the times of collection, its reads, the places of pages, its erases.

mod priority;
pub(super) mod reclaim_groups;

use super::Device;
use crate::ftl::pacing::Level;
use crate::ftl::pacing::early::EarlyGc;
use crate::ftl::{StreamId, SuperblockState};
use crate::nand::DieOp;
use crate::probe::Probe;

/// Distance in units at which the map lines of pages are prefetched: more than steady pacing reads
/// at once.
const OWNED_AHEAD_UNITS: u32 = 12;
/// Distance beyond it at which the owners of the pages, which determine those lines, are
/// prefetched.
const OWNERS_AHEAD_UNITS: u32 = 24;
/// Open superblocks of a drive with one placement handle: host, moved, cold and cached data.
const OPEN_SUPERBLOCKS: u32 = 4;

impl<P: Probe> Device<P> {
    /// Fill level of the drive, for the pacing policy.
    #[inline]
    pub(super) fn level(&self) -> Level {
        let superblock_pages = self.geometry().superblock_data_pages();
        let room = u64::from(self.room_at_hand(StreamId::Host))
            + self.moved_room_pages()
            + u64::from(self.free_superblocks()) * u64::from(superblock_pages)
            + self.collector.reclaimed_pages();
        let writable_pages = room.saturating_sub(u64::from(self.collector.in_flight_pages()));
        let victim_valid_pages = self.collector.victim_valid_pages();
        Level { writable_pages, superblock_pages, victim_valid_pages }
    }

    /// Pages with room in the open superblocks of a stream, of the group at hand.
    #[inline]
    fn room_at_hand(&self, stream: StreamId) -> u32 {
        if self.reclaim_groups.is_some() {
            return self.ftl.stream_room_in(stream, self.group_at_hand());
        }
        self.ftl.stream_room_pages(stream)
    }

    /// Erased superblocks available to a stream of data, of the group at hand.
    #[inline]
    pub(super) fn free_superblocks(&self) -> u32 {
        if self.reclaim_groups.is_some() {
            return self.ftl.free_in(self.group_at_hand());
        }
        self.ftl.free.len() as u32
    }

    /// Remaining pages in the superblocks that garbage collection writes.
    #[inline]
    pub(super) fn moved_room_pages(&self) -> u64 {
        let room = |stream| u64::from(self.room_at_hand(stream));
        if self.config.has_several_moved_streams() {
            self.moved_streams().iter().copied().map(room).sum()
        } else {
            room(StreamId::Gc)
        }
    }

    /// Whether garbage collection has work and may do it now.
    #[inline(always)]
    pub(super) fn may_collect(&mut self) -> bool {
        let Some(in_flight_pages) = self.collector.in_flight_with_unit() else { return false };
        (self.collector.owed_pages() > 0 || self.must_collect())
            && self.has_room_for(in_flight_pages)
    }

    /// Whether pacing or another mechanism requests collection although nothing is owed.
    #[inline]
    fn must_collect(&mut self) -> bool {
        // A fold that has to wait for room asks pacing for it, so it comes first.
        if self.wants_fold() || self.wants_reclaim() {
            return true;
        }
        let free_superblocks = self.free_superblocks();
        self.pacing.must_collect(free_superblocks)
            || self.may_collect_quietly()
            || self.may_collect_early()
            || self.wants_reorganisation()
    }

    /// Whether early collection has something to move.
    #[inline]
    pub(super) fn may_collect_early(&self) -> bool {
        self.collector.early_pages() > 0
            && self.config.options.early.is_some_and(|early| self.wants_early(early))
    }

    fn wants_early(&self, early: EarlyGc) -> bool {
        let group = self.group_at_hand();
        early.wants(self.free_superblocks(), &self.ftl, (&self.collector, group))
    }

    /// Early collection may move pages in return for a unit of the host.
    pub(super) fn allow_early(&mut self, early: EarlyGc) {
        let pages = if self.wants_early(early) {
            self.collector.early_pages() + early.allowed_pages(self.geometry().unit_pages)
        } else {
            0
        };
        self.collector.allow_early(pages);
    }

    /// Whether pages in flight will find a place. They are never more than a superblock holds.
    #[inline]
    pub(super) fn has_room_for(&self, in_flight_pages: u32) -> bool {
        self.free_superblocks() > 0 || self.moved_room_pages() >= u64::from(in_flight_pages)
    }

    /// Reads units of victims as long as pacing requests it; true if there was a unit, or if the
    /// debt of the host is cancelled because there is none.
    #[inline(always)]
    pub(super) fn collect(&mut self) -> bool {
        self.note_free();
        if self.reclaim_groups.is_some() {
            return self.collect_in_groups();
        }
        if self.mechanisms.zones.is_some() {
            return false;
        }
        self.collect_at_hand()
    }

    /// Collects in the group at hand; true if there was a unit, or if the debt of the host is cancelled.
    #[inline(always)]
    fn collect_at_hand(&mut self) -> bool {
        let asked_pages = self.asked_pages();
        let any = self.collect_any();
        any || self.asked_pages() < asked_pages
    }

    /// Reads units of victims as long as pacing requests it; true if there was one.
    #[inline(always)]
    pub(super) fn collect_any(&mut self) -> bool {
        let any = self.may_collect() && self.collect_units();
        if self.mechanisms.pslc.is_some() {
            self.end_fold();
        }
        any
    }

    /// Reads at least one unit, if there is a victim.
    #[inline(never)]
    fn collect_units(&mut self) -> bool {
        let mut any = false;
        loop {
            let Some((superblock, unit)) = self.collector.next_unit() else {
                if self.begin_victim() && self.may_collect() {
                    continue;
                }
                break;
            };
            let unit = superblock * self.geometry().superblock_units + unit;
            // Of a sum beyond 32 bits the rest is a unit too, and the request without use.
            self.ftl.prefetch_owners(unit.wrapping_add(OWNERS_AHEAD_UNITS));
            self.ftl.prefetch_owned(unit.wrapping_add(OWNED_AHEAD_UNITS));
            self.collect_unit(superblock, unit);
            any = true;
            if !self.may_collect() {
                break;
            }
        }
        any
    }

    /// Pages that have to move before the host goes on, whoever asks for them.
    #[inline]
    fn asked_pages(&self) -> u64 {
        self.collector.owed_pages() + self.collector.early_pages() + self.late_pages()
    }

    fn collect_unit(&mut self, superblock: u32, unit: u32) {
        let is_cache_only = self.geometry().is_cache_only(superblock);
        let place = unit - superblock * self.geometry().superblock_units;
        let is_parity = self.geometry().is_parity(place);
        if !is_parity && !is_cache_only {
            self.collector.reclaim(self.geometry().unit_pages.into());
        }
        let any_valid = self.ftl.valid_pages[superblock as usize] > 0;
        let valid = if any_valid { self.ftl.valid_mask(unit) } else { 0 };
        if valid == 0 {
            self.collector.unit_is_empty();
            return self.erase_durable_victims();
        }
        let pages = valid.count_ones();
        // Folding gives no room in the native cells, so it pays for none.
        self.collector.unit_issued(pages, !is_cache_only);
        self.note_moving(superblock, pages);
        let die = self.die_of_unit(unit);
        self.nand.enqueue(die, DieOp::GcRead { unit, pages, valid }, self.now_ns);
    }

    /// The victim of the drive's policy, or `None` if the erases to come give all the room that
    /// pacing can want. Without this limit, a mostly deallocated drive would queue the erase of
    /// everything at once, and the host would wait for seconds.
    fn victim_for_room(&mut self) -> Option<u32> {
        let level = self.level();
        let geometry = self.geometry();
        let of_streams = OPEN_SUPERBLOCKS * geometry.die_groups / geometry.reclaim_groups;
        let open = of_streams + self.config.more_open_superblocks();
        let enough = u64::from(self.config.free_high + open);
        let is_coming = level.writable_pages >= enough * u64::from(level.superblock_pages);
        // An erase under way comes back for more when it ends.
        let is_enough = is_coming && self.collector.is_erasing();
        if (is_enough || self.is_journal_late()) && !self.may_collect_quietly() {
            return None;
        }
        let group = self.group_at_hand();
        if self.policies.victims.is_some() {
            return self.own_victim(group);
        }
        self.victims.select_in(&self.ftl, group)
    }

    /// Whether victims that wait for the journal give back all the room that pacing can want. Collection while they
    /// wait fills what they give with full superblocks, whose entries delay the journal further: where the journal
    /// is slower than collection, the host would never get any of it. Their erases need no further collection.
    fn is_journal_late(&self) -> bool {
        let superblock_pages = u64::from(self.geometry().superblock_data_pages());
        let reclaimed_pages = self.collector.reclaimed_pages();
        let erased_pages = u64::from(self.free_superblocks()) * superblock_pages;
        let wanted_pages = u64::from(self.config.free_high) * superblock_pages;
        self.mechanisms.mapping.is_some()
            && reclaimed_pages > 0
            && erased_pages + reclaimed_pages >= wanted_pages
    }

    /// Whether a superblock may move for another reason than room: it may need one before it gives one back.
    pub(super) fn has_room_to_tidy(&mut self) -> bool {
        let free_superblocks = self.free_superblocks();
        free_superblocks >= 2 && !self.pacing.must_collect(free_superblocks)
    }

    /// The superblock to move next because of its reads, or `None` if there is none or the drive needs room first.
    fn victim_to_reclaim(&mut self) -> Option<u32> {
        let is_closed = |&&due: &&u32| {
            self.ftl.states[due as usize] == SuperblockState::Closed
                && self.geometry().reclaim_group(due) == self.group_at_hand()
        };
        let due = self.nand.due_for_reclaim().iter().find(is_closed).copied()?;
        self.has_room_to_tidy().then_some(due)
    }

    /// Whether a superblock with too many reads moves, or can move.
    #[inline]
    fn wants_reclaim(&mut self) -> bool {
        let due = self.nand.due_for_reclaim();
        if due.is_empty() {
            return false;
        }
        let is_begun = self.collector.victim_in_hand().is_some_and(|victim| due.contains(&victim));
        is_begun || self.victim_to_reclaim().is_some()
    }

    /// Handles the end of an operation that may have been a read: moves superblocks with too many reads.
    #[inline]
    pub(super) fn reclaim_read_superblocks(&mut self) {
        if !self.nand.due_for_reclaim().is_empty() {
            self.pump();
        }
    }

    /// Whether moved pages may complete the open unit of another stream, for an erase that waits for it. This mixes
    /// data of two placement handles for as long as it stays valid: the last resort for room.
    fn may_mix_moved(&self) -> bool {
        let is_short = self.free_superblocks() <= self.config.free_low;
        let placement = self.config.options.placement;
        let must_mix = placement.is_some_and(|all| all.must_mix(self.collector.waiting()));
        self.config.has_cold_stream() || must_mix || placement.is_some() && is_short
    }

    /// Chooses the next victim; false if none would give room.
    fn begin_victim(&mut self) -> bool {
        let worn = self.mechanisms.wear_leveling.as_mut().and_then(|wear| wear.victim(&self.ftl));
        let other =
            worn.or_else(|| self.victim_to_reorganise()).or_else(|| self.victim_to_reclaim());
        if other.is_none() && !self.may_collect() {
            // Only a reorganisation has asked, and it has nothing left to move.
            return false;
        }
        let Some(victim) = other.or_else(|| self.fold_victim()).or_else(|| self.victim_for_room())
        else {
            self.forgive();
            return false;
        };
        self.collect_from(victim);
        if worn.is_some() {
            self.keep_as_cold(victim);
        }
        if other.is_none() {
            let valid_pages = self.ftl.valid_pages[victim as usize];
            self.collector.note_victim(valid_pages);
            let superblock_pages = self.geometry().superblock_data_pages();
            if let Some(rate) = &mut self.write_rate {
                rate.note_victim(valid_pages, superblock_pages);
            }
        }
        true
    }

    /// Makes a superblock the current victim.
    pub(super) fn collect_from(&mut self, victim: u32) {
        if self.may_mix_moved() {
            self.collector.begin_top_up(&self.programs);
        }
        self.probe.victim(victim);
        self.ftl.become_victim(victim);
        self.collector.begin(victim);
        self.wait_for_sorted(victim);
    }

    /// The pages of a victim go to the cold stream, where there is one.
    pub(super) fn keep_as_cold(&mut self, victim: u32) {
        self.ftl.written_by[victim as usize] = StreamId::Cold;
    }

    /// Places the pages of a unit that are still valid: the host may have overwritten some since
    /// the read.
    #[inline]
    pub(super) fn relocate(&mut self, unit: u32, pages: u32, valid: u64) {
        let superblock = self.ftl.superblock_of(self.geometry().first_page_of(unit));
        self.in_group_of(superblock, |device| {
            device.relocate_from(superblock, (unit, pages, valid));
        });
    }

    #[inline(always)]
    fn relocate_from(&mut self, superblock: u32, (unit, pages, valid): (u32, u32, u64)) {
        let stream = if self.config.has_several_moved_streams() {
            self.stream_of_move(superblock)
        } else {
            StreamId::Gc
        };
        let moved_before = self.totals.gc_moved_pages;
        let victim = self.collector.place_of(superblock);
        if self.geometry().page_granules == 1 {
            self.move_pages(unit, valid, stream, victim);
        } else {
            self.move_granules(unit, valid, stream, victim);
        }
        if self.mechanisms.pslc.is_some() && self.ftl.is_cache(superblock) {
            self.folded(self.totals.gc_moved_pages - moved_before);
        }
        self.collector.unit_placed(victim, pages);
        if self.collector.are_open_units_awaited() {
            self.complete_awaited_units();
        }
        self.erase_durable_victims();
        self.pump();
    }

    fn stream_of_move(&self, superblock: u32) -> StreamId {
        if let Some(placement) = self.config.options.placement {
            return placement.stream_of_move(&self.ftl, superblock);
        }
        if self.reclaim_groups.is_some() {
            return StreamId::COLLECTED[self.group_at_hand() as usize];
        }
        match self.mechanisms.streams {
            Some(policy) => policy.stream_of_move(&self.ftl, superblock),
            None if self.ftl.written_by[superblock as usize] == StreamId::Cold => StreamId::Cold,
            None => StreamId::Gc,
        }
    }

    /// Moves pages of a unit and records the mark at which they are durable.
    #[inline]
    fn move_pages(&mut self, unit: u32, valid: u64, wanted: StreamId, victim: usize) {
        let mut pages = valid;
        while pages != 0 {
            let top_up = self.collector.top_up();
            let mut stream = top_up.unwrap_or(wanted);
            if !self.ftl.stream_has_room(stream) {
                // Those that the host has written since are left out first: a superblock may have to be opened.
                pages &= self.valid_pages_of(unit);
                if pages == 0 {
                    break;
                }
                stream = self.stream_with_room(wanted);
            }
            let target = self.ftl.frontier(stream);
            let probe = &mut self.probe;
            let moved = self.ftl.move_pages(stream, unit, &mut pages, |logical, physical| {
                probe.placed(stream, logical, physical);
            });
            self.totals.gc_moved_pages += u64::from(moved);
            if moved == 0 {
                break;
            }
            let is_full = self.ftl.is_unit_complete(stream);
            if is_full {
                self.collector.end_top_up();
                self.program(self.ftl.unit_of(target), stream);
            }
            self.collector.moved(victim, stream, self.programs.behind_last(stream, !is_full));
        }
    }

    /// As [`Ftl::valid_mask`](crate::ftl::Ftl::valid_mask), compiled separately from its use for each unit.
    #[cold]
    #[inline(never)]
    fn valid_pages_of(&self, unit: u32) -> u64 {
        self.ftl.valid_mask(unit)
    }

    /// The stream for pages: the wanted one, unless fully placed victims wait for the open unit of
    /// another, which a few pages complete, or there is no erased superblock to open for it.
    #[cold]
    #[inline(never)]
    pub(super) fn stream_with_room(&mut self, wanted: StreamId) -> StreamId {
        let stream = self.collector.top_up().unwrap_or(wanted);
        let has_room = self.ftl.stream_has_room(stream)
            || self.ftl.open_superblock(stream)
            || self.ftl.turn_to_room(stream);
        if has_room {
            return stream;
        }
        let other = StreamId::MOVED.into_iter().find(|&other| self.ftl.turn_to_room(other));
        other.expect("garbage collection ran out of erased superblocks")
    }

    /// Erases victims that have become empty and whose data is safe.
    #[inline]
    pub(super) fn erase_durable_victims(&mut self) {
        if self.collector.is_any_placed() {
            self.erase_placed_victims();
        }
    }

    #[inline(never)]
    fn erase_placed_victims(&mut self) {
        let (units, dies) = (self.geometry().superblock_units, self.geometry().superblock_dies());
        let journal = self.journal_of_victims();
        let take =
            |device: &mut Self| device.collector.take_erasable(&device.programs, journal, dies);
        while let Some(superblock) = take(self) {
            self.programmed.remove(superblock * units..(superblock + 1) * units);
            self.erase_on_its_dies(superblock);
        }
    }

    /// A die has erased its blocks of a superblock.
    pub(super) fn die_erased(&mut self, die: u32, superblock: u32) {
        self.probe.die_erased(superblock, die);
        if superblock >= self.geometry().superblocks {
            self.map_erased(superblock);
        } else if self.in_group_of(superblock, |device| device.collector.die_erased(superblock)) {
            self.ftl.erased(superblock);
            if let Some(superblocks) = self.nand.fast_mut() {
                superblocks.erased(superblock);
            }
            self.probe.erased(superblock);
            self.totals.erased_superblocks += 1;
            self.nand.set_slc(superblock, false);
            if !self.geometry().is_cache_only(superblock) {
                let pages = u64::from(self.geometry().superblock_data_pages());
                self.in_group_of(superblock, |device| device.collector.give_back(pages));
            }
            if self.mechanisms.zones.is_some() {
                self.zone_erased(superblock);
            }
            self.pump();
        }
    }
}
