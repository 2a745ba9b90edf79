//! What a target may be able to do beyond moving data: one trait for each capability, with an honest
//! answer from those that lack it.

use std::sync::Arc;

use base::{Nanos, TelemetryRow};

use crate::contract::Target;
use crate::error::IoError;
use crate::health::HealthProbe;
use crate::purge::{PurgeMethod, PurgeOption, Waiter};
use crate::rest::Rest;

/// Can be driven by several threads.
pub trait Lanes: Target + Sized {
    /// Further handles on the same target with the same clock, one for each of `queue_depths`, each to be
    /// driven by a thread of its own. They go before the target itself does.
    ///
    /// # Errors
    /// [`IoError::Unsupported`] where only one thread can drive it; [`IoError::Device`] where the system
    /// has no more descriptors or memory.
    fn lanes(&mut self, _queue_depths: &[u32]) -> Result<Vec<Self>, IoError> {
        Err(IoError::Unsupported(format!(
            "{} is driven by one thread; drop --workers and --pin",
            self.identity().name
        )))
    }

    /// The processor on which all of the drive's interrupts arrive: where its only thread is best kept. `None`
    /// where there is no such one.
    fn interrupt_processor(&self) -> Option<usize> {
        None
    }
}

/// Knows that it still is the thing that was opened, and keeps commands to a part of itself.
pub trait Guarded: Target {
    /// Makes sure that this still is the thing that was opened (same device, serial, size). Called
    /// before every destructive phase, so that a renumbered device stops the run.
    ///
    /// # Errors
    /// [`IoError::Refused`] where it is not.
    fn confirm_identity(&self) -> Result<(), IoError> {
        Ok(())
    }

    /// From now on every command that reaches beyond the first `span_bytes` fails without touching
    /// the device; only a purge still means all of it.
    fn confine(&mut self, _span_bytes: u64) {}
}

/// Can be brought to a fresh state.
pub trait Purge: Target {
    /// Brings the target to its fresh state (all blocks deallocated or the drive built anew).
    /// No command may be outstanding.
    ///
    /// # Errors
    /// Where the target cannot be purged; the message says which method was tried.
    /// [`IoError::Interrupted`] where the waiter wanted it to stop, and it has.
    fn purge(&mut self, waiter: &dyn Waiter) -> Result<PurgeMethod, IoError>;

    /// The ways to purge it, the best first, each with what stands in its way.
    fn purge_options(&self) -> Vec<PurgeOption> {
        Vec::new()
    }
}

/// Can forget a range.
pub trait Deallocate: Target {
    /// Deallocates a range of any length, waiting for its end.
    ///
    /// # Errors
    /// Where the target cannot deallocate ([`Limits::deallocate`]) or the device failed.
    fn deallocate(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), IoError>;
}

/// Can make durable what was written.
pub trait Flush: Target {
    /// Makes every acknowledged write durable, waiting for its end.
    ///
    /// # Errors
    /// Where the device failed to flush.
    fn flush(&mut self) -> Result<(), IoError>;
}

/// Can go to sleep while there is nothing to do.
pub trait Sleep: Target {
    /// Switches what link and drive may do while there is nothing to do, and says in words what was switched.
    /// What was found is restored when the target is dropped.
    ///
    /// # Errors
    /// Where the target has nothing to switch ([`Limits::rest`]), or the switch failed.
    fn set_rest(&mut self, _rest: Rest) -> Result<String, IoError> {
        let name = self.identity().name;
        Err(IoError::Unsupported(format!(
            "{name} has no link power management and no power states that can be switched here"
        )))
    }
}

/// Can be asked for its health and for the words of a failure.
pub trait Diagnose: Target {
    /// What the drive itself said of the first command that failed, in words; `None` where the errno is all
    /// there is.
    fn failure_words(&self) -> Option<String> {
        None
    }

    /// Something that reads the health of the drive beside the I/O; `None` where it tells nothing.
    fn health_probe(&self) -> Option<Arc<dyn HealthProbe>> {
        None
    }
}

/// Has a view inside.
pub trait Telemetry: Target {
    /// Starts a new series of telemetry rows, one per `interval`, from now on.
    /// Targets without a view inside ignore it.
    fn telemetry_start(&mut self, _interval: Nanos) {}

    /// Lets the series of telemetry rows end at `t`, now or later; the row that this cuts is a shorter one.
    fn telemetry_stop_at(&mut self, _t: Nanos) {}

    /// Hands over the rows whose interval has ended since the last call.
    fn telemetry_take(&mut self, _out: &mut Vec<TelemetryRow>) {}
}

/// Shows the data that a read returned.
pub trait ReadBack: Target {
    /// The first `len_bytes` of what the last read with this tag returned; `None` while a command
    /// with the tag is outstanding, or where tag or length exceed the limits.
    fn read_bytes(&mut self, tag: u32, len_bytes: usize) -> Option<&[u8]>;
}

/// Everything that a test of the suite may ask of a target.
pub trait Testable:
    Lanes + Guarded + Purge + Deallocate + Flush + Sleep + Diagnose + Telemetry
{
}

impl<T> Testable for T where
    T: Lanes + Guarded + Purge + Deallocate + Flush + Sleep + Diagnose + Telemetry
{
}
