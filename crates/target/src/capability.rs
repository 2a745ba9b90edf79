//! Capabilities of a target beyond moving data: one trait for each, with an honest answer from
//! targets that lack it.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use base::{Nanos, Ratio, TelemetryRow};

use crate::age::Past;
use crate::contract::Target;
use crate::error::IoError;
use crate::health::HealthProbe;
use crate::purge::{PurgeMethod, PurgeOption, Waiter};
use crate::rest::Rest;

/// A target that several threads can drive.
pub trait Lanes: Target + Sized {
    /// Further handles on the same target with the same clock, one for each of `queue_depths`. A
    /// thread of its own drives each of them. Drop them before the target itself.
    ///
    /// # Errors
    /// [`IoError::Unsupported`] if only one thread can drive it; [`IoError::Device`] if the system
    /// has no more descriptors or memory.
    fn lanes(&mut self, _queue_depths: &[u32]) -> Result<Vec<Self>, IoError> {
        Err(IoError::Unsupported(format!(
            "{} is driven by one thread; drop --workers and --cpu",
            self.identity().name
        )))
    }

    /// The processor on which all of the drive's interrupts arrive, or `None` if there is no single
    /// one. It is the best place for the only thread of the drive.
    fn interrupt_processor(&self) -> Option<usize> {
        None
    }
}

/// Looks at the other users of a target that is written to, beside all work on it.
pub trait UseProbe: Debug + Send + Sync {
    /// Time between two looks during a phase.
    fn interval(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Makes sure that nobody else has begun to use the target, or a thing that shares bytes with
    /// it, since it was opened.
    ///
    /// # Errors
    /// [`IoError::Refused`] with the code of the use; [`IoError::Unsupported`] if nobody can tell
    /// any more.
    fn require_unused(&self) -> Result<(), IoError>;
}

/// A target that can check its identity, and that can confine commands to a part of itself.
pub trait Guarded: Target {
    /// Makes sure that this is still the device or file that was opened (same device, serial,
    /// size). Called before every destructive phase, so that a renumbered device stops the run.
    ///
    /// # Errors
    /// [`IoError::Refused`] if it is not.
    fn confirm_identity(&self) -> Result<(), IoError> {
        Ok(())
    }

    /// A look at the other users of the target during a run, or `None` if it can have none.
    fn use_probe(&self) -> Option<Arc<dyn UseProbe>> {
        None
    }

    /// From now on every command that reaches beyond the first `span_bytes` fails without touching
    /// the device; only a purge still covers all of it.
    fn confine(&mut self, _span_bytes: u64) {}
}

/// A target that can be brought to a fresh state.
pub trait Purge: Target {
    /// Brings the target to its fresh state (all blocks deallocated or the drive built anew).
    /// No command may be outstanding.
    ///
    /// # Errors
    /// If the target cannot be purged; the message names the method that was tried.
    /// [`IoError::Interrupted`] if the waiter asked for a stop, and the purge has stopped.
    fn purge(&mut self, waiter: &dyn Waiter) -> Result<PurgeMethod, IoError>;

    /// Brings a simulated drive to its fresh state at a part of its size, up to the next purge.
    /// Identity, capacity and limits stay those of the whole drive; commands must stay within the
    /// part. No command may be outstanding.
    ///
    /// # Errors
    /// If the size of the target is what it is, or no drive of that part can be simulated.
    fn purge_to_scale(&mut self, _scale: Ratio) -> Result<PurgeMethod, IoError> {
        let name = self.identity().name;
        Err(IoError::Unsupported(format!(
            "{name} has one size; only a simulated drive can be made smaller"
        )))
    }

    /// The methods to purge the target, the best first, each with its obstacle.
    fn purge_options(&self) -> Vec<PurgeOption> {
        Vec::new()
    }
}

/// A target that can deallocate a range.
pub trait Deallocate: Target {
    /// Deallocates a range of any length and waits for its end.
    ///
    /// # Errors
    /// If the target cannot deallocate ([`Limits::deallocate`]) or the device failed.
    fn deallocate(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), IoError>;
}

/// A target that can make written data durable.
pub trait Flush: Target {
    /// Makes every acknowledged write durable and waits for its end.
    ///
    /// # Errors
    /// If the device failed to flush.
    fn flush(&mut self) -> Result<(), IoError>;
}

/// A target that can go to sleep while it is idle.
pub trait Sleep: Target {
    /// Permits or forbids link and drive to rest while they are idle, and returns the change in
    /// words. Dropping the target restores the old setting.
    ///
    /// # Errors
    /// If the target has no such setting ([`Limits::rest`]), or the change failed.
    fn set_rest(&mut self, _rest: Rest) -> Result<String, IoError> {
        let name = self.identity().name;
        Err(IoError::Unsupported(format!(
            "{name} has no link power management and no power states that can be switched here"
        )))
    }
}

/// A target that can be given a past.
pub trait Age: Target {
    /// Gives the target a past at once. No command may be outstanding.
    ///
    /// # Errors
    /// As [`Past::check`].
    fn age(&mut self, past: Past) -> Result<(), IoError> {
        past.check(&self.identity(), self.limits().ages)
    }
}

/// A target that can report its health and describe a failure in words.
pub trait Diagnose: Target {
    /// The drive's own words for the first command that failed, or `None` if there is only the
    /// errno.
    fn failure_words(&self) -> Option<String> {
        None
    }

    /// A reader of the drive's health, beside the I/O, or `None` if the drive reports none.
    fn health_probe(&self) -> Option<Arc<dyn HealthProbe>> {
        None
    }
}

/// A target that can show its internals.
pub trait Telemetry: Target {
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
}

/// A target that can show the data returned by a read.
pub trait ReadBack: Target {
    /// The first `len_bytes` of the data returned by the last read with this tag, or `None` if a
    /// command with the tag is outstanding, or if tag or length exceed the limits.
    fn read_bytes(&mut self, tag: u32, len_bytes: usize) -> Option<&[u8]>;
}

/// All capabilities that a test of the suite may use.
pub trait Testable:
    Lanes + Guarded + Purge + Deallocate + Flush + Sleep + Age + Diagnose + Telemetry
{
}

impl<T> Testable for T where
    T: Lanes + Guarded + Purge + Deallocate + Flush + Sleep + Age + Diagnose + Telemetry
{
}
