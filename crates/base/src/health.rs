//! The health of a drive, in terms that all drives share.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The health of a drive by its own report; null in place of unreported values. Bytes and times
/// count from when the drive was made.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct HealthSnapshot {
    /// Source of the values: `nvme-smart-log` or `ata-smart`.
    pub source: String,
    /// Temperature in degrees Celsius.
    pub temperature_c: Option<i32>,
    /// Read by the host.
    pub host_read_bytes: Option<u64>,
    /// Written by the host.
    pub host_written_bytes: Option<u64>,
    /// Programmed into NAND.
    pub nand_written_bytes: Option<u64>,
    /// The drive's estimate of the life used, in percent; may exceed 100.
    pub percentage_used: Option<u8>,
    /// Spare blocks left, in percent.
    pub available_spare_percent: Option<u8>,
    /// Hours switched on.
    pub power_on_hours: Option<u64>,
    /// Number of times that it was switched on.
    pub power_cycles: Option<u64>,
    /// Losses of power without notice.
    pub unsafe_shutdowns: Option<u64>,
    /// Errors that could not be corrected.
    pub media_errors: Option<u64>,
    /// Bits of the NVMe critical warning; 0 is good.
    pub critical_warning: Option<u8>,
    /// Minutes above the drive's own limits of temperature.
    pub over_temperature_min: Option<u64>,
    /// Times that it throttled because of heat.
    pub throttle_count: Option<u64>,
    /// Seconds in which it throttled because of heat.
    pub throttle_s: Option<u64>,
    /// Raw values of a SATA drive's SMART attributes by number; their meaning is the vendor's own.
    pub attributes: BTreeMap<String, u64>,
}
