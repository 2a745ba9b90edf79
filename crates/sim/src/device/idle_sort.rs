//! The drive at re-sorting what lies scattered, while the host is away; see [`Sorter`].

use super::Device;
use super::timers::Timer;
use crate::events::NEVER;
use crate::ftl::StreamId;
use crate::host::ControllerJob;
use crate::mechanism::idle_sort::{Sorter, can_move};
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The host is back, or the drive new: re-sorting waits for the next idle time.
    pub(super) fn wait_for_sort(&mut self) {
        if let Some(sorter) = &mut self.mechanisms.idle_sort {
            sorter.begin_round();
            let due_ns = self.now_ns.saturating_add(sorter.after_ns());
            self.timers.set(Timer::IdleSort, due_ns);
        }
    }

    /// Handles the timer of re-sorting: the host may have been away for long enough, or the next stretch may move.
    pub(super) fn on_sort_timer(&mut self) {
        let Some(after_ns) = self.mechanisms.idle_sort.as_ref().map(Sorter::after_ns) else {
            return;
        };
        let Some(away_ns) = self.commands.away_ns(after_ns) else { return self.wait_for_idle() };
        if self.is_host_away(Timer::IdleSort, away_ns) {
            let due_ns = self.sort_next();
            self.timers.set(Timer::IdleSort, due_ns);
        }
    }

    /// Reads the next scattered stretch; returns when to look again, [`NEVER`] at the end of a round.
    fn sort_next(&mut self) -> u64 {
        let Some(sorter) = &mut self.mechanisms.idle_sort else { return NEVER };
        if sorter.is_reading() {
            return self.next_work_ns().max(self.now_ns + 1);
        }
        let is_found = sorter.find_scattered(&self.ftl, &self.programmed);
        let interval_ns = sorter.interval_ns();
        if !is_found && sorter.is_done() {
            return NEVER;
        }
        if is_found && !self.has_room_to_sort() {
            self.mechanisms.idle_sort.as_mut().map(Sorter::put_back);
            return self.moved_by_the_clock(interval_ns).unwrap_or(NEVER);
        }
        self.read_stretch();
        self.now_ns.saturating_add(interval_ns)
    }

    /// Whether re-sorting may take an erased superblock: it has to wait where the host would.
    fn has_room_to_sort(&mut self) -> bool {
        let free_superblocks = self.free_superblocks();
        self.pacing.host_may_open(free_superblocks) && self.has_room_to_tidy()
    }

    fn read_stretch(&mut self) {
        let Some(mut sorter) = self.mechanisms.idle_sort.take() else { return };
        let mut reads = 0;
        for (unit, pages) in sorter.parts() {
            let die = self.die_of_unit(unit);
            self.nand.enqueue(die, DieOp::SortRead { unit, pages }, self.now_ns);
            reads += 1;
        }
        sorter.reads_begun(reads);
        self.mechanisms.idle_sort = Some(sorter);
    }

    /// A part of a stretch has been read: moving it costs the processor as much as garbage collection does.
    pub(super) fn sort_read(&mut self, pages: u32) {
        let length_ns = self.config.relocate_ns * u64::from(pages);
        self.controller.push(self.now_ns, length_ns, ControllerJob::Sort);
    }

    /// The processor is done with a part of a stretch; with the last one, the stretch is placed.
    pub(super) fn sorted(&mut self) {
        let Some(mut sorter) = self.mechanisms.idle_sort.take() else { return };
        if sorter.read_ended() && !sorter.pages().is_empty() {
            self.place_stretch(&sorter);
            sorter.pass();
        }
        self.mechanisms.idle_sort = Some(sorter);
        self.pump();
    }

    /// Places the pages of a stretch that are still at their places, as far as there is room, in units of their own.
    fn place_stretch(&mut self, sorter: &Sorter) {
        let mut moved = 0;
        for &(logical, physical) in sorter.pages() {
            if !can_move(&self.ftl, (logical, physical)) {
                continue;
            }
            if !self.have_sorted_room() {
                break;
            }
            if moved == 0 {
                self.complete_open_units(&[StreamId::Cold]);
                if !self.have_sorted_room() {
                    break;
                }
            }
            let physical = self.ftl.place(StreamId::Cold, logical);
            self.probe.placed(StreamId::Cold, logical, physical);
            self.placed_in(StreamId::Cold, physical);
            moved += 1;
        }
        self.totals.gc_moved_pages += moved;
        self.complete_open_units(&[StreamId::Cold]);
        for _ in 0..moved.div_ceil(self.geometry().unit_pages.into()) {
            self.owe_for_unit();
        }
    }

    /// Whether a sorted page has room beside the pages that are being collected, and so has the rest of its unit.
    fn have_sorted_room(&mut self) -> bool {
        let has_superblock = self.ftl.stream_has_room(StreamId::Cold)
            || self.has_room_to_sort() && self.ftl.open_superblock(StreamId::Cold);
        let unit_pages = self.geometry().unit_pages;
        has_superblock && self.has_room_for(self.collector.in_flight_pages() + unit_pages)
    }

    /// The erase of a victim waits for the programs of the sorted pages that were taken from it.
    pub(super) fn wait_for_sorted(&mut self, victim: u32) {
        if self.mechanisms.idle_sort.is_some() {
            let place = self.collector.place_of(victim);
            let programs = self.programs.behind_last(StreamId::Cold, false);
            self.collector.moved(place, StreamId::Cold, programs);
        }
    }
}
