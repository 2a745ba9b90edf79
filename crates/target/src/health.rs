//! The health of a drive in terms that all drives share, and the interface that reads it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use base::Nanos;

use crate::error::IoError;

/// Health of a drive. A field is `None` if the drive does not report it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Source of the values: `nvme-smart-log` or `ata-smart`.
    pub source: &'static str,
    /// Temperature in degrees Celsius.
    pub temperature_c: Option<i32>,
    /// Read by the host since the drive was made.
    pub host_read_bytes: Option<u64>,
    /// Written by the host since the drive was made.
    pub host_written_bytes: Option<u64>,
    /// Programmed into NAND since the drive was made.
    pub nand_written_bytes: Option<u64>,
    /// The drive's estimate of the life used, in percent; may exceed 100.
    pub percentage_used: Option<u8>,
    /// Spare blocks left, in percent.
    pub available_spare_percent: Option<u8>,
    /// Hours switched on.
    pub power_on_hours: Option<u64>,
    /// Times it was switched on.
    pub power_cycles: Option<u64>,
    /// Losses of power without notice.
    pub unsafe_shutdowns: Option<u64>,
    /// Errors that could not be corrected.
    pub media_errors: Option<u64>,
    /// The NVMe bits of the critical warning; 0 is good.
    pub critical_warning: Option<u8>,
    /// Minutes above the drive's own warning temperature.
    pub over_temperature_min: Option<u64>,
    /// Number of times that it throttled because of heat.
    pub throttle_count: Option<u64>,
    /// Seconds in which it throttled because of heat.
    pub throttle_s: Option<u64>,
    /// Raw values of a SATA drive's attributes by number; their meaning is the vendor's own.
    pub attributes: BTreeMap<u8, u64>,
}

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
    /// [`IoError::Device`] if the drive or the kernel does not answer, most often because the right
    /// to ask is missing.
    fn read(&self) -> Result<Health, IoError>;
}
