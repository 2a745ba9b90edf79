//! The work that the drive does because time has passed: idle collection, folding, reorganisation, housekeeping.

use base::Nanos;

use super::Device;
use super::timers::Timer;
use crate::events::NEVER;
use crate::ftl::StreamId;
use crate::mechanism::performance_mode::{Opened, oldest_fast};
use crate::mechanism::quiet_gc::IdleGc;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Time of the next event in the drive, or `None` if nothing will happen without a command.
    #[must_use]
    pub fn next_event(&self) -> Option<Nanos> {
        let work_ns = self.next_work_ns().min(self.next_transit_ns());
        Some(work_ns.min(self.timers.next_ns())).filter(|&next_ns| next_ns != NEVER).map(Nanos)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn on_timer(&mut self) {
        match self.timers.take() {
            Some(Timer::IdleGc) => self.on_idle_timer(),
            Some(Timer::IdleSort) => self.on_sort_timer(),
            Some(Timer::Fold) => self.on_fold_timer(),
            Some(Timer::Throttle) => self.pump(),
            Some(Timer::Acknowledge) => self.on_acknowledge_timer(),
            Some(Timer::Reorganise) => self.on_reorganise_timer(),
            Some(Timer::MapFetch) => self.on_fetch_timer(),
            Some(Timer::Patrol) => self.on_patrol_timer(),
            Some(Timer::Refresh) => self.on_refresh_timer(),
            Some(Timer::MapFlush) => self.on_map_flush_timer(),
            Some(Timer::Heat) => self.on_heat_timer(),
            None => {}
        }
    }

    /// The first look at the clock of a drive that is new or has its power again.
    pub(super) fn start_clock(&mut self) {
        self.wait_for_idle();
        self.begin_housekeeping();
    }

    /// Sets the timers of a new drive, and after the host came back.
    #[inline(never)]
    pub(super) fn wait_for_idle(&mut self) {
        self.commands.miss_host(false);
        self.wait_for_fold();
        self.wait_for_sort();
        if let Some(idle) = self.mechanisms.idle_gc {
            self.in_each_group(|device| device.collector.allow_none());
            self.timers.set(Timer::IdleGc, self.now_ns.saturating_add(idle.after_ns));
        }
    }

    /// The host is back, or the drive new: folding waits for the next idle time.
    fn wait_for_fold(&mut self) {
        if let Some(cache) = &mut self.mechanisms.pslc {
            cache.set_folding(false);
            self.timers.set(Timer::Fold, self.now_ns.saturating_add(cache.idle_after_ns()));
        }
    }

    /// Whether the host has been away until `away_ns`; if not, the timer fires again at that
    /// moment.
    pub(super) fn is_host_away(&mut self, timer: Timer, away_ns: u64) -> bool {
        if away_ns > self.now_ns {
            self.timers.set(timer, away_ns);
            return false;
        }
        self.commands.miss_host(true);
        true
    }

    /// Handles the timer of idle collection: the host may have been away for long enough, or the
    /// next unit may move.
    fn on_idle_timer(&mut self) {
        let Some(idle) = self.mechanisms.idle_gc else { return };
        let Some(away_ns) = self.commands.away_ns(idle.after_ns) else {
            return self.wait_for_idle();
        };
        if !self.is_host_away(Timer::IdleGc, away_ns) {
            return;
        }
        let is_moving = |device: &mut Self| device.collect_while_idle(idle);
        let mut groups = 0..self.geometry().cleaning_groups;
        let _ = groups.any(|group| self.in_group(group, is_moving));
    }

    /// Moves the next unit of the group at hand, if one should; true in that case.
    fn collect_while_idle(&mut self, idle: IdleGc) -> bool {
        let group = self.group_at_hand();
        let is_wanted = idle.wants(self.level(), &self.ftl, (&self.collector, group));
        if is_wanted {
            self.collector.allow_unit(self.geometry().unit_pages);
            self.move_unit_by_the_clock(Timer::IdleGc, idle.unit_interval_ns);
        } else {
            self.collector.allow_none();
        }
        is_wanted
    }

    /// Handles the timer of folding: the host may have been away for long enough.
    fn on_fold_timer(&mut self) {
        let Some(cache) = self.mechanisms.pslc else { return };
        let away_ns = self.commands.away_ns(cache.idle_after_ns());
        let Some(away_ns) = away_ns else { return self.wait_for_fold() };
        if !self.is_host_away(Timer::Fold, away_ns) {
            return;
        }
        if let Some(cache) = &mut self.mechanisms.pslc {
            cache.set_folding(true);
        }
        self.complete_open_units(&[StreamId::Pslc]);
        if let Some(superblock) = self.ftl.close_cache() {
            self.probe.cache_closed(superblock);
        }
        self.collect();
    }

    /// Handles the timer of the reorganisation: the next unit may move.
    fn on_reorganise_timer(&mut self) {
        let unit_pages = self.geometry().unit_pages;
        let (Some(mode), Some(fast)) = (&mut self.mechanisms.performance_mode, self.nand.fast())
        else {
            return;
        };
        let is_fast_in_hand =
            self.collector.victim_in_hand().is_some_and(|victim| fast.contains(victim));
        if is_fast_in_hand || oldest_fast(&self.ftl, fast).is_some() {
            mode.count_due(self.now_ns, unit_pages);
            let interval_ns = mode.unit_interval_ns();
            self.move_unit_by_the_clock(Timer::Reorganise, interval_ns);
        } else {
            mode.settle(&self.ftl, fast);
            if self.buffer.is_awaited() {
                self.pump();
            }
        }
    }

    /// The host stream has opened a superblock, which may be written fast.
    pub(super) fn host_opened(&mut self) {
        let (Some(mode), Some(fast)) =
            (&mut self.mechanisms.performance_mode, self.nand.fast_mut())
        else {
            return;
        };
        match mode.opened(&self.ftl, fast) {
            Opened::Fast => fast.insert(self.ftl.stream(StreamId::Host).superblock),
            Opened::Normal => {}
            Opened::Reorganise => {
                if !self.timers.is_set(Timer::Reorganise) {
                    mode.begin(self.now_ns);
                    self.timers.set(Timer::Reorganise, self.now_ns);
                }
            }
        }
    }

    /// Moves what only the clock asks for, if that can be done now, and sets the timer for
    /// the next unit. If it cannot, the next try is at the first interval at which something can
    /// have changed.
    fn move_unit_by_the_clock(&mut self, timer: Timer, interval_ns: u64) {
        // If nothing can move only the host can help, and it sets the timer again.
        let due_ns = self.moved_by_the_clock(interval_ns).unwrap_or(NEVER);
        self.timers.set(timer, due_ns);
    }

    /// Moves what is allowed; returns when to move the next unit, or `None` if nothing could move and nothing goes on
    /// that could change that.
    pub(super) fn moved_by_the_clock(&mut self, interval_ns: u64) -> Option<u64> {
        let any = self.collect_any();
        // The host may have waited for a debt that has been cancelled.
        if self.buffer.is_awaited() {
            self.pump();
        }
        let intervals = if any {
            1
        } else {
            let work_ns = self.next_work_ns();
            if work_ns == NEVER {
                return None;
            }
            (work_ns - self.now_ns).div_ceil(interval_ns).max(1)
        };
        Some(self.now_ns.saturating_add(intervals.saturating_mul(interval_ns)))
    }
}
