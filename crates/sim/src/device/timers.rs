//! Work that the drive does after a time and not after an event: one due time for each reason.
//!
//! A drive without such work pays one comparison per event.

use crate::events::NEVER;

/// A reason for a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Timer {
    /// Idle garbage collection begins or continues.
    IdleGc,
    /// Data that lies scattered is rewritten while the host is away.
    IdleSort,
    /// The pSLC cache is folded while the host is away.
    Fold,
    /// The cap on host writes or the budget of programs admits a page again.
    Throttle,
    /// A cap lets the acknowledgement of a write go.
    Acknowledge,
    /// The next unit of fast data may move.
    Reorganise,
    /// Entries of the map come from the host's memory.
    MapFetch,
    /// The next unit is patrolled.
    Patrol,
    /// The next pages of old data are written anew.
    Refresh,
    /// The changed part of the map is written.
    MapFlush,
    /// Firmware reads the temperature.
    Heat,
}

const TIMERS: [Timer; 11] = [
    Timer::IdleGc,
    Timer::IdleSort,
    Timer::Fold,
    Timer::Throttle,
    Timer::Acknowledge,
    Timer::Reorganise,
    Timer::MapFetch,
    Timer::Patrol,
    Timer::Refresh,
    Timer::MapFlush,
    Timer::Heat,
];

/// Due time of each timer.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
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
    /// Due time of the next timer; [`NEVER`] if none is set.
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

    /// Stops the timer that is due next, and returns it.
    pub(super) fn take(&mut self) -> Option<Timer> {
        let due = |timer: &Timer| self.due_ns[*timer as usize] == self.next_ns;
        let timer = TIMERS.into_iter().find(due).filter(|_| self.next_ns < NEVER)?;
        self.set(timer, NEVER);
        Some(timer)
    }
}
