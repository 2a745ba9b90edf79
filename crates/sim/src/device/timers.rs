//! The work that the drive does by the clock and not because something ended: one due time for each
//! reason.
//!
//! A drive that does nothing by the clock pays one comparison an event.

use crate::events::NEVER;

/// A reason to look at the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Idle garbage collection begins or goes on.
    IdleGc,
    /// The pSLC cache is folded while the host is away.
    Fold,
    /// The cap on host writes lets a page in again.
    Throttle,
    /// The next unit of fast data may be put in order.
    Reorganise,
    /// Entries of the map come from the host's memory.
    MapFetch,
    /// The next unit is patrolled.
    Patrol,
    /// The next pages of old data are written anew.
    Refresh,
}

const TIMERS: [Timer; 7] = [
    Timer::IdleGc,
    Timer::Fold,
    Timer::Throttle,
    Timer::Reorganise,
    Timer::MapFetch,
    Timer::Patrol,
    Timer::Refresh,
];

/// When each timer is due.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    due_ns: [u64; TIMERS.len()],
    next_ns: u64,
}

impl Default for Timers {
    fn default() -> Self {
        Self { due_ns: [NEVER; TIMERS.len()], next_ns: NEVER }
    }
}

impl Timers {
    /// When the next timer is due; [`NEVER`] where none is.
    #[inline]
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Sets a timer; [`NEVER`] stops it.
    pub(super) fn set(&mut self, timer: Timer, due_ns: u64) {
        self.due_ns[timer as usize] = due_ns;
        self.next_ns = self.due_ns.into_iter().min().unwrap_or(NEVER);
    }

    /// Whether a timer runs.
    pub(super) fn is_set(&self, timer: Timer) -> bool {
        self.due_ns[timer as usize] < NEVER
    }

    /// Takes the timer that is due next and stops it.
    pub(super) fn take(&mut self) -> Option<Timer> {
        let due = |timer: &Timer| self.due_ns[*timer as usize] == self.next_ns;
        let timer = TIMERS.into_iter().find(due).filter(|_| self.next_ns < NEVER)?;
        self.set(timer, NEVER);
        Some(timer)
    }
}
