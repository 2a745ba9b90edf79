//! The clock of a target: wall time since it was opened, or virtual time.

use base::Nanos;

/// A source of time that a caller can wait on.
pub trait Clock: Clone + Send {
    /// Time since the clock was started.
    fn now(&self) -> Nanos;

    /// Waits until `until`. A signal ends the wait early, so that an interrupt is not held up.
    fn sleep_until(&self, until: Nanos);
}
