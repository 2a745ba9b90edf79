//! The work that the drive does because time has passed; each mechanism has its own in its file beside this one.

use base::Nanos;

use super::Device;
use super::timers::Timer;
use crate::events::NEVER;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Time of the next event in the drive, or `None` if nothing will happen without a command.
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
        self.wait_for_idle_gc();
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

    /// Moves what only the clock asks for, if that can be done now, and sets the timer for
    /// the next unit. If it cannot, the next try is at the first interval at which something can
    /// have changed.
    pub(super) fn move_unit_by_the_clock(&mut self, timer: Timer, interval_ns: u64) {
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
