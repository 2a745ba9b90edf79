//! The contract between a workload and the target of its I/O.
//!
//! A test drives a [`Target`] and cannot tell which one: a block device through io_uring, a file, a
//! simulated drive in virtual time, or the null target. Everything beyond moving data is a capability:
//! a trait of its own in [`crate::capability`].

use base::{Completion, Nanos, Op};

use crate::error::IoError;
use crate::limits::Limits;
use base::Identity;

/// Anything that takes I/O. Static dispatch in the hot loop; not object safe on purpose.
pub trait Target: Send {
    /// Size of the LBA space in bytes.
    fn capacity_bytes(&self) -> u64;

    /// Block sizes, queue limits and capabilities.
    fn limits(&self) -> Limits;

    /// The identity, for the result file.
    fn identity(&self) -> Identity;

    /// The target's clock: wall time since it was opened, or virtual time.
    fn now(&self) -> Nanos;

    /// Submits commands; never blocks. The caller keeps at most [`Limits::queue_depth_max`]
    /// commands outstanding and never reuses the tag of one of them.
    fn submit(&mut self, ops: &[Op]);

    /// Waits until at least `min` commands have ended (never more than are outstanding), letting
    /// time pass, and appends all that have ended to `out`.
    ///
    /// A signal may make it return with fewer; the caller loops.
    ///
    /// # Errors
    /// Only if the target as a whole is lost (device gone, ring broken); the failure of one command
    /// is a [`Completion`] with a failed status.
    fn reap(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), IoError>;

    /// Lets time pass until a command has ended, or until `t`, whichever comes first, and appends
    /// the commands that have ended to `out`. A target in virtual time may advance to `t` at once.
    /// A real target is polled meanwhile, so that neither the time nor an end is noticed late.
    ///
    /// # Errors
    /// As [`Target::reap`].
    fn reap_until(&mut self, t: Nanos, out: &mut Vec<Completion>) -> Result<(), IoError> {
        loop {
            self.reap(0, out)?;
            if !out.is_empty() || self.now() >= t {
                return Ok(());
            }
            std::hint::spin_loop();
        }
    }

    /// Lets time pass until `t` with nothing submitted; returns at once if `t` is past.
    fn idle_until(&mut self, t: Nanos);
}
