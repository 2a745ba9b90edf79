//! The end of a loop that keeps a target busy.

use std::sync::atomic::{AtomicBool, Ordering};

use base::Nanos;

use crate::recorder::Recorder;

/// The reason for the end of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The workload or the time has ended.
    Complete,
    /// The user stopped it.
    Interrupted,
    /// A command failed; see [`Recorder::first_error`].
    Failed,
    /// It did not end by itself in time; see [`Recorder::is_overlong`].
    Overlong,
}

impl End {
    /// The reason to issue no more commands, or `None` if there is none.
    #[inline]
    pub(crate) fn reason(
        now: Nanos,
        deadline: Option<Nanos>,
        recorder: &Recorder,
        interrupted: &AtomicBool,
    ) -> Option<Self> {
        if recorder.errors > 0 {
            return Some(Self::Failed);
        }
        if interrupted.load(Ordering::Relaxed) {
            return Some(Self::Interrupted);
        }
        if recorder.is_overlong(now) {
            return Some(Self::Overlong);
        }
        deadline.filter(|&deadline| now >= deadline).map(|_| Self::Complete)
    }
}
