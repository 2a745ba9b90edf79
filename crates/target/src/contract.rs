//! The contract between a workload and the target of its I/O.
//!
//! A test drives a [`Target`] and cannot tell which one: a block device through io_uring, a file, a
//! simulated drive in virtual time, or the null target. Its core moves data; everything else has a
//! default that says that this target cannot.

use std::sync::Arc;

use base::{Completion, Identity, Nanos, Op, Ratio, TelemetryRow};

use crate::age::Past;
use crate::error::TargetError;
use crate::health::HealthProbe;
use crate::limits::Limits;
use crate::purge::{PurgeMethod, PurgeOption, Waiter};
use crate::rest::Rest;
use crate::use_probe::UseProbe;
use crate::zones::ZoneOrder;

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
    fn reap(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), TargetError>;

    /// Lets time pass until a command has ended, or until `t`, whichever comes first, and appends
    /// the commands that have ended to `out`. A real target is polled meanwhile, so that neither the
    /// time nor an end is noticed late.
    ///
    /// # Errors
    /// As [`Target::reap`].
    fn reap_until(&mut self, t: Nanos, out: &mut Vec<Completion>) -> Result<(), TargetError> {
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

    /// Further handles on the same target with the same clock, one for each of `queue_depths`. A
    /// thread of its own drives each of them. Drop them before the target itself.
    ///
    /// # Errors
    /// [`TargetError::Unsupported`] if only one thread can drive it; [`TargetError::Device`] if the system
    /// has no more descriptors or memory.
    fn workers(&mut self, _queue_depths: &[u32]) -> Result<Vec<Self>, TargetError>
    where
        Self: Sized,
    {
        cannot(self, "is driven by one thread; drop --workers and --cpu")
    }

    /// The processor on which all of the drive's interrupts arrive, or `None` if there is no single
    /// one. It is the best place for the only thread of the drive.
    fn interrupt_processor(&self) -> Option<usize> {
        None
    }

    /// Makes sure that this is still the device or file that was opened (same device, serial,
    /// size). Called before every destructive phase, so that a renumbered device stops the run.
    ///
    /// # Errors
    /// [`TargetError::Refused`] if it is not.
    fn confirm_identity(&self) -> Result<(), TargetError> {
        Ok(())
    }

    /// A look at the other users of the target during a run, or `None` if it can have none.
    fn use_probe(&self) -> Option<Arc<dyn UseProbe>> {
        None
    }

    /// From now on every command that reaches beyond the first `span_bytes` fails without touching
    /// the device; only a purge still covers all of it.
    fn confine(&mut self, _span_bytes: u64) {}

    /// Brings the target to its fresh state (all blocks deallocated or the drive built anew).
    /// No command may be outstanding.
    ///
    /// # Errors
    /// If the target cannot be purged; the message names the method that was tried.
    /// [`TargetError::Interrupted`] if the waiter asked for a stop, and the purge has stopped.
    fn purge(&mut self, _waiter: &dyn Waiter) -> Result<PurgeMethod, TargetError> {
        cannot(self, "cannot be purged")
    }

    /// Brings a simulated drive to its fresh state at a part of its size, up to the next purge.
    /// Identity, capacity and limits stay those of the whole drive; commands must stay within the
    /// part. No command may be outstanding.
    ///
    /// # Errors
    /// If the size of the target is what it is, or no drive of that part can be simulated.
    fn purge_to_scale(&mut self, _scale: Ratio) -> Result<PurgeMethod, TargetError> {
        cannot(self, "has one size; only a simulated drive can be made smaller")
    }

    /// The methods to purge the target, the best first, each with its obstacle.
    fn purge_options(&self) -> Vec<PurgeOption> {
        Vec::new()
    }

    /// Deallocates a range of any length and waits for its end.
    ///
    /// # Errors
    /// If the target cannot deallocate ([`Limits::deallocate`]) or the device failed.
    fn deallocate(&mut self, _offset_bytes: u64, _len_bytes: u64) -> Result<(), TargetError> {
        cannot(self, "cannot deallocate a range")
    }

    /// Gives an order to a zone, waits for its end and returns the time that it took. No command may be outstanding.
    ///
    /// # Errors
    /// If the target has no zones ([`Limits::zones`]), or the zone refuses the order.
    fn manage_zone(&mut self, _zone: u32, _order: ZoneOrder) -> Result<Nanos, TargetError> {
        cannot(self, "has no zones")
    }

    /// Makes every acknowledged write durable and waits for its end.
    ///
    /// # Errors
    /// If the device failed to flush.
    fn flush(&mut self) -> Result<(), TargetError> {
        cannot(self, "cannot flush")
    }

    /// Permits or forbids link and drive to rest while they are idle, and returns the change in
    /// words. Dropping the target restores the old setting.
    ///
    /// # Errors
    /// If the target has no such setting ([`Limits::rest`]), or the change failed.
    fn set_rest(&mut self, _rest: Rest) -> Result<String, TargetError> {
        cannot(self, "has no link power management and no power states that can be switched here")
    }

    /// Gives the target a past at once. No command may be outstanding.
    ///
    /// # Errors
    /// As [`Past::check`].
    fn age(&mut self, past: Past) -> Result<(), TargetError> {
        past.check(&self.identity(), self.limits().ages)
    }

    /// The drive's own words for the first command that failed, or `None` if there is only the
    /// errno.
    fn failure_words(&self) -> Option<String> {
        None
    }

    /// A reader of the drive's health, beside the I/O, or `None` if the drive reports none.
    fn health_probe(&self) -> Option<Arc<dyn HealthProbe>> {
        None
    }

    /// Starts a new series of telemetry rows, one per `interval`, from now on. Targets that cannot
    /// show their internals ignore it.
    fn telemetry_start(&mut self, _interval: Nanos) {}

    /// Ends the series of telemetry rows at `t`, now or later; the row that this cuts is shorter.
    fn telemetry_stop_at(&mut self, _t: Nanos) {}

    /// Hands over the rows whose interval has ended since the last call.
    fn telemetry_take(&mut self, _out: &mut Vec<TelemetryRow>) {}

    /// Reads so far that touched a block without data: never written, or deallocated; `None` if the
    /// target does not know.
    fn unwritten_reads(&self) -> Option<u64> {
        None
    }

    /// The first `len_bytes` of the data returned by the last read with this tag, or `None` if a
    /// command with the tag is outstanding, if tag or length exceed the limits, or if the target has
    /// no data.
    fn read_bytes(&mut self, _tag: u32, _len_bytes: usize) -> Option<&[u8]> {
        None
    }
}

/// The answer of a target without a capability.
fn cannot<T: Target + ?Sized, R>(target: &T, what: &str) -> Result<R, TargetError> {
    Err(TargetError::Unsupported(format!("{} {what}", target.identity().name)))
}
