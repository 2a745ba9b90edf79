//! The watch over other users of the target: at both ends of every phase, and every few seconds in
//! between, on a thread of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};

use target::UseProbe;
use target::{Target, TargetError};

/// Looks for other users of a target.
#[derive(Debug)]
pub(super) struct UseWatch {
    probe: Arc<dyn UseProbe>,
    found: Mutex<Option<ForeignUse>>,
}

/// A use that the thread found.
#[derive(Debug)]
struct ForeignUse {
    error: TargetError,
    /// Whether the thread, and nobody before it, pressed the stop button.
    pressed: bool,
}

impl UseWatch {
    /// A watch over a target, or `None` if nobody else can use it.
    pub(super) fn over<T: Target>(target: &T) -> Option<Self> {
        target.use_probe().map(|probe| Self { probe, found: Mutex::default() })
    }

    /// Looks until the other end of `ended` is dropped; presses the stop button if somebody uses the
    /// target.
    pub(super) fn keep_looking(&self, ended: &Receiver<()>, stop: &AtomicBool) {
        while ended.recv_timeout(self.probe.interval()) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = self.probe.require_unused() {
                let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                *found = Some(ForeignUse { error, pressed: !stop.swap(true, Ordering::Relaxed) });
                return;
            }
        }
    }

    /// The use that was found since the last call, and releases the stop button that it pressed.
    pub(super) fn found(&self, stop: &AtomicBool) -> Option<TargetError> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        if found.pressed {
            stop.store(false, Ordering::Relaxed);
        }
        Some(found.error)
    }

    /// The use that was found since the last call, or is there now.
    pub(super) fn look(&self, stop: &AtomicBool) -> Option<TargetError> {
        self.found(stop).or_else(|| self.probe.require_unused().err())
    }
}
