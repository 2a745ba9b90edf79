//! The interface that reads the health of a drive.

use std::fmt::Debug;
use std::time::Duration;

use base::{HealthSnapshot, Nanos};

use crate::error::TargetError;

/// Reads the health of one drive, beside all other work on it. A reading may take seconds, so a
/// thread of its own does it.
pub trait HealthProbe: Debug + Send + Sync {
    /// The current time, on the clock of the target.
    fn now(&self) -> Nanos;

    /// Whether a reading causes no delay of reads and writes.
    fn is_harmless(&self) -> bool;

    /// Time between two readings during a run. The temperature of a drive changes slowly.
    fn interval(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Asks the drive.
    ///
    /// # Errors
    /// [`TargetError::Device`] if the drive or the kernel does not answer, most often because the right
    /// to ask is missing.
    fn read(&self) -> Result<HealthSnapshot, TargetError>;
}
