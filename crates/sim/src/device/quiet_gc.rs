//! The drive that collects garbage without pressure from the host; see [`crate::mechanism::quiet_gc`].

use super::Device;
use super::timers::Timer;
use crate::mechanism::quiet_gc::IdleGc;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The host is back, or the drive new: idle collection waits for the next idle time.
    pub(super) fn wait_for_idle_gc(&mut self) {
        if let Some(idle) = self.mechanisms.idle_gc {
            self.in_each_group(|device| device.collector.allow_none());
            self.timers.set(Timer::IdleGc, self.now_ns.saturating_add(idle.after_ns));
        }
    }

    /// Handles the timer of idle collection: the host may have been away for long enough, or the
    /// next unit may move.
    pub(super) fn on_idle_timer(&mut self) {
        let Some(idle) = self.mechanisms.idle_gc else { return };
        let Some(away_ns) = self.commands.away_ns(idle.after_ns) else {
            return self.wait_for_idle();
        };
        if !self.is_host_away(Timer::IdleGc, away_ns) {
            return;
        }
        let is_moving = |device: &mut Self| device.collect_while_idle(idle);
        let mut groups = 0..self.geometry().reclaim_groups;
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

    /// Whether collection may use this moment without a request.
    #[inline]
    pub(super) fn may_collect_quietly(&self) -> bool {
        let is_gap = || self.commands.outstanding() == 0;
        self.collector.may_move_unasked()
            || self.mechanisms.background_gc.is_some_and(|gc| is_gap() && gc.wants(self.level()))
    }

    /// Handles the end of a command after which no write enters: it may have been the last one for
    /// now.
    #[inline]
    pub(super) fn use_gap(&mut self) {
        if self.mechanisms.background_gc.is_some() {
            self.pump();
        }
    }
}
