//! The drive at its housekeeping; see [`Patrol`], [`Refresh`] and [`MapFlush`].

use base::Nanos;

use super::Device;
use super::timers::Timer;
use crate::mechanism::housekeeping::{Housekeeping, MapFlush, Patrol, Refresh};
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Housekeeping begins, on a drive that is new or has its power again.
    pub(super) fn begin_housekeeping(&mut self) {
        let Some(plan) = self.config.options.housekeeping else { return };
        let now_ns = self.now_ns;
        let housekeeping = Housekeeping::new(plan, self.geometry(), now_ns);
        if let Some(patrol) = &housekeeping.patrol {
            self.timers.set(Timer::Patrol, now_ns + patrol.interval_ns());
        }
        if let Some(refresh) = &housekeeping.refresh {
            self.timers.set(Timer::Refresh, now_ns.saturating_add(refresh.plan().after_ns));
        }
        self.mechanisms.housekeeping = Some(housekeeping);
    }

    fn refresh(&self) -> Option<&Refresh> {
        self.mechanisms.housekeeping.as_ref()?.refresh.as_ref()
    }

    fn map_flush(&self) -> Option<MapFlush> {
        self.mechanisms.housekeeping.as_ref()?.map_flush
    }

    /// The clock says that the next unit may be patrolled.
    pub(super) fn on_patrol_timer(&mut self) {
        let Some(housekeeping) = &mut self.mechanisms.housekeeping else { return };
        let Some(patrol) = &mut housekeeping.patrol else { return };
        self.timers.set(Timer::Patrol, self.now_ns + patrol.interval_ns());
        if let Some(unit) = patrol.begin(&self.programmed) {
            let die = self.die_of_unit(unit);
            self.nand.enqueue(die, DieOp::Patrol { unit }, self.now_ns);
        }
    }

    /// A unit has been patrolled.
    pub(super) fn patrolled(&mut self) {
        let housekeeping = self.mechanisms.housekeeping.as_mut();
        housekeeping.and_then(|all| all.patrol.as_mut()).map(Patrol::end);
    }

    /// The clock says that data is old, or that the next unit of it may move.
    pub(super) fn on_refresh_timer(&mut self) {
        let Some(plan) = self.refresh().map(Refresh::plan) else { return };
        let due_ns = match self.collector.victim_in_hand() {
            Some(victim) => self.refresh_unit(victim, plan.unit_interval_ns),
            None => self.refresh_next(plan.unit_interval_ns),
        };
        let later_ns = self.now_ns.saturating_add(plan.after_ns);
        self.timers.set(Timer::Refresh, due_ns.unwrap_or(later_ns));
    }

    /// Moves the first unit of the next superblock that is old; returns when to look again, or `None` if nothing is
    /// closed.
    fn refresh_next(&mut self, interval_ns: u64) -> Option<u64> {
        let (superblock, old_ns) = self.refresh()?.next(&self.ftl)?;
        if old_ns > self.now_ns {
            return Some(old_ns);
        }
        if !self.has_room_to_tidy() {
            return Some(self.now_ns + interval_ns.max(Nanos::SECOND.0));
        }
        self.collect_from(superblock);
        self.keep_as_cold(superblock);
        self.refresh_unit(superblock, interval_ns)
    }

    /// Moves a unit of the victim in hand; returns when to move the next one, or `None` if nothing could move and
    /// nothing goes on that could change that.
    fn refresh_unit(&mut self, victim: u32, interval_ns: u64) -> Option<u64> {
        self.collector.allow_unit_of(victim, self.geometry().unit_pages);
        self.moved_by_the_clock(interval_ns)
    }

    /// The map has changed: it is flushed at the end of this period.
    #[inline]
    pub(super) fn note_map_change(&mut self) {
        if let Some(flush) = self.map_flush()
            && !self.timers.is_set(Timer::MapFlush)
        {
            self.timers.set(Timer::MapFlush, flush.next_ns(self.now_ns));
        }
    }

    /// The clock says that what has changed of the map is to be written.
    pub(super) fn on_map_flush_timer(&mut self) {
        let Some(flush) = self.map_flush() else { return };
        let cache = self.mechanisms.map_cache.as_mut();
        if cache.is_some_and(|cache| cache.flush(flush.segments_max)) {
            self.note_map_change();
        }
        self.want_journal();
        self.pump();
    }
}
