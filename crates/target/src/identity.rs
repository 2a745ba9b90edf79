//! The identity of a target, for the result file and for the guard's comparison.

use std::collections::BTreeMap;

use base::{Facts, Ratio};

use crate::spec::TargetKind;

/// All that is known about the identity of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Kind of the target.
    pub kind: TargetKind,
    /// Name for people: the model's or the drive's name, or the path.
    pub name: String,
    /// The string that opened it, e.g. `sim:samsung-840-pro-256gb?seed=3`.
    pub spec: String,
    /// Serial number; for files and loop devices the canonical path of the file behind them.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Size of the LBA space.
    pub capacity_bytes: u64,
    /// Raw NAND inside, or `None` if unknown.
    pub raw_bytes: Option<u64>,
    /// The part of it that holds data in steady state, valid or overwritten, or `None` if unknown.
    pub log_bytes: Option<u64>,
    /// The I/O path and why it was chosen, e.g. `io_uring, O_DIRECT, registered buffers`.
    pub engine: String,
    /// Published facts; empty for real targets, which do not know them.
    pub facts: Facts,
    /// Other properties (scheduler, link, size of a simulated drive's buffer), label to value.
    pub details: BTreeMap<String, String>,
}

impl Identity {
    /// Label of the size of a simulated drive, a share of its model; absent at full size.
    pub const SCALE: &str = "scale";

    /// Label of the checksum over all values of a simulated drive; absent for other targets.
    pub const CHECKSUM: &str = "sim.checksum";

    /// Label of the pages in a block of a simulated drive at full size; absent for other targets.
    pub const BLOCK_PAGES: &str = "sim.pages_per_block";

    /// Label of the drive's model; absent where the name of the target is its model.
    pub const MODEL: &str = "model";

    /// The model of the drive, which facts are known of.
    #[must_use]
    pub fn model(&self) -> &str {
        self.details.get(Self::MODEL).unwrap_or(&self.name)
    }

    /// Size of a simulated drive as a share of its model, or `None` for the whole of it and for
    /// other targets.
    #[must_use]
    pub fn scale(&self) -> Option<Ratio> {
        self.details.get(Self::SCALE)?.parse().ok()
    }
}
