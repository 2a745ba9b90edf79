//! The health of a drive before, during and after a run.

use base::HealthSnapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The health of a drive before, during and after a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Health {
    /// Before the first phase.
    pub before: Option<HealthSnapshot>,
    /// After the last phase; null if the drive no longer answered, or the program died.
    pub after: Option<HealthSnapshot>,
    /// Samples during the run, every 10 s; none for drives that would have to stop working for
    /// them.
    pub samples: Vec<HealthSample>,
}

/// One sample of a drive during a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct HealthSample {
    /// Time on the target's clock, as `start_ns` of the phases.
    pub at_ns: u64,
    /// Temperature in degrees Celsius.
    pub temperature_c: Option<i32>,
    /// Written by the host since the drive was made.
    pub host_written_bytes: Option<u64>,
    /// Programmed into NAND since the drive was made.
    pub nand_written_bytes: Option<u64>,
}
