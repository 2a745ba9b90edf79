//! Garbage collection while the host leaves time for it: in its gaps, and while it is away.
//!
//! Phenomenon: drives that clean behind the host's back start the next burst with erased space, and come
//! back from torture by being left alone. Source: reviews of 2012 (a Plextor M5S after 20 minutes of
//! torture is back above 90% of its clean write speed after 30 minutes of idle time, after 60 minutes above
//! 70%: AnandTech 6090); pblk lets collection use the whole drive after 5 s without host I/O. Both work
//! towards a level of writable space with the victims of the drive's own policy:
//!
//! - background: whenever no host command is outstanding, as fast as the drive can; it cannot use a gap
//!   that never comes, as under a constant queue;
//! - idle: after a time without host commands, at a limited rate, and only on victims that give enough. It
//!   stops when the host returns; what is being read is still moved.
//!
//! Simplification: a gap is the absence of commands, not of work on a die. Test: `tests/quiet_gc.rs`.

use super::Device;
use super::timers::Timer;
use crate::events::NEVER;
use crate::ftl::gc::VictimSelector;
use crate::probe::Probe;

/// Collection in the gaps of a busy host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackgroundGc {
    /// Superblocks of writable space at which it has done enough.
    pub free_target: u32,
}

/// Collection while the host is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleGc {
    /// Time without a host command after which it begins.
    pub after_ns: u64,
    /// Superblocks of writable space at which it has done enough.
    pub free_target: u32,
    /// Time to wait for each unit's worth of pages moved.
    pub unit_interval_ns: u64,
    /// Valid pages of a victim worth collecting, at most.
    pub valid_pages_max: u32,
}

/// Commands under way, and since when there are none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostActivity {
    /// Commands sent and not yet ended.
    pub(super) outstanding: u32,
    /// When the last command ended.
    pub(super) last_end_ns: u64,
    /// Set where somebody wants to know when the host comes back.
    pub(super) is_missed: bool,
}

impl<P: Probe, const OPTIONS: bool> Device<P, OPTIONS> {
    /// True where collection may use this moment although nobody asks for it.
    #[inline]
    pub(super) fn may_collect_quietly(&self) -> bool {
        let Some(background) = self.config.options.background_gc else {
            return self.collector.idle_pages > 0;
        };
        self.collector.idle_pages > 0
            || self.host.outstanding == 0 && self.is_below(background.free_target)
    }

    /// A command has ended that lets nothing else in: it may have been the last one for now.
    #[inline]
    pub(super) fn use_gap(&mut self) {
        if self.config.options.background_gc.is_some() {
            self.pump();
        }
    }

    fn is_below(&self, free_target: u32) -> bool {
        let level = self.level();
        level.writable_pages < u64::from(free_target) * u64::from(level.superblock_pages)
    }

    /// The first look at the clock of a new drive, and the next one after the host came back.
    #[inline(never)]
    pub(super) fn wait_for_idle(&mut self) {
        self.host.is_missed = false;
        self.wait_for_fold();
        if let Some(idle) = self.config.options.idle_gc {
            self.collector.idle_pages = 0;
            self.timers.set(Timer::IdleGc, self.now_ns.saturating_add(idle.after_ns));
        }
    }

    /// The clock says that the host may have been away for long enough, or that the next unit may move.
    pub(super) fn on_idle_timer(&mut self) {
        let Some(idle) = self.config.options.idle_gc else { return };
        if self.host.outstanding > 0 {
            return self.wait_for_idle();
        }
        let begins_ns = self.host.last_end_ns.saturating_add(idle.after_ns);
        if begins_ns > self.now_ns {
            return self.timers.set(Timer::IdleGc, begins_ns);
        }
        self.host.is_missed = true;
        if self.is_below(idle.free_target) && self.has_worthy_victim(idle.valid_pages_max) {
            self.move_unit_by_the_clock(Timer::IdleGc, idle.unit_interval_ns);
        } else {
            self.collector.idle_pages = 0;
        }
    }

    /// Moves a unit that only the clock asks for, where that can be done now, and sets the timer for the next one.
    /// Where it cannot, the next try is at the first interval at which something can have changed.
    pub(super) fn move_unit_by_the_clock(&mut self, timer: Timer, interval_ns: u64) {
        self.collector.allow_unit(self.geometry().unit_pages);
        let intervals = if self.collect() {
            if !self.admission.is_empty() {
                self.pump();
            }
            1
        } else {
            let work_ns = self.next_work_ns();
            if work_ns == NEVER {
                // Only the host can help, and it sets the timer again.
                return self.timers.set(timer, NEVER);
            }
            (work_ns - self.now_ns).div_ceil(interval_ns).max(1)
        };
        let due_ns = self.now_ns.saturating_add(intervals.saturating_mul(interval_ns));
        self.timers.set(timer, due_ns);
    }

    /// True where the victim in hand has units left, or the next one would give enough.
    fn has_worthy_victim(&self, valid_pages_max: u32) -> bool {
        let units = self.geometry().superblock_units;
        self.collector.has_unit(units)
            || VictimSelector::fewest_valid_pages(&self.ftl)
                .is_some_and(|valid_pages| valid_pages <= valid_pages_max)
    }
}
