//! The identity of a target, for the contract, the guard's comparison and results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::Facts;
use crate::units::Ratio;

/// Kind of a target, and the properties of all targets of a kind.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A drive model in virtual time; its results are always labelled as simulated.
    Simulated,
    /// A block device.
    Block,
    /// A regular file.
    File,
    /// Nothing behind it: completes at once, to measure the harness.
    Null,
    /// A drive of which only figures of another program are known.
    Imported,
}

impl TargetKind {
    /// The word used in result files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Block => "block",
            Self::File => "file",
            Self::Null => "null",
            Self::Imported => "imported",
        }
    }

    /// Whether the target has virtual time, so that other runs beside it do not disturb it.
    pub const fn is_simulated(self) -> bool {
        matches!(self, Self::Simulated)
    }

    /// Whether the target stores data: a run can read data back, and destroys earlier data.
    pub const fn stores_data(self) -> bool {
        matches!(self, Self::Block | Self::File)
    }

    /// Whether the target keeps its data after the end of the program. A file may be one that the
    /// run created for itself.
    pub const fn outlives_the_run(self) -> bool {
        matches!(self, Self::Block)
    }

    /// Whether its figures are those of the harness alone.
    pub const fn is_harness_only(self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether several threads can drive it. A simulated drive has one clock, hence one thread.
    pub const fn takes_threads(self) -> bool {
        !self.is_simulated()
    }

    /// Whether commands reach it through one of several engines.
    pub const fn has_engine(self) -> bool {
        self.stores_data()
    }

    /// Whether NVMe commands can reach it.
    pub const fn takes_nvme_commands(self) -> bool {
        matches!(self, Self::Block)
    }

    /// The fresh state at its start, which leaves no choice of a purge method, or `None` if there
    /// are several.
    pub const fn fresh_state(self) -> Option<&'static str> {
        match self {
            Self::Simulated => Some("a simulated drive is built anew"),
            Self::Null => Some("the null target holds nothing"),
            Self::File | Self::Block | Self::Imported => None,
        }
    }
}

/// The measured target.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[schemars(rename = "Target")]
pub struct Identity {
    /// `simulated`, `block`, `file`, `null`, or `imported` for a drive of which only figures of another program are
    /// known.
    #[schemars(with = "String")]
    pub kind: TargetKind,
    /// Name for people.
    pub name: String,
    /// The target string.
    pub spec: String,
    /// Serial number, or the path for files and loop devices.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Size of the LBA space.
    pub capacity_bytes: u64,
    /// Raw NAND inside, if known.
    pub raw_bytes: Option<u64>,
    /// The part of it that holds data in steady state, valid or overwritten, or `None` if unknown. No result has it.
    #[serde(skip)]
    pub log_bytes: Option<u64>,
    /// The I/O path and the reason for it.
    pub engine: String,
    /// Published facts about the drive; absent if there are none, and in old files.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    pub facts: Facts,
    /// Other properties, label to value.
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

    /// Label of the placement handles of a real drive. Before a run also of the reason why writes cannot name any.
    pub const PLACEMENT: &str = "placement";

    /// The model of the drive, which facts are known of.
    pub fn model(&self) -> &str {
        self.details.get(Self::MODEL).unwrap_or(&self.name)
    }

    /// Whether it is a drive model in virtual time.
    pub const fn is_simulated(&self) -> bool {
        self.kind.is_simulated()
    }

    /// Size of a simulated drive as a share of its model, or `None` for the whole of it and for
    /// other targets.
    pub fn scale(&self) -> Option<Ratio> {
        self.details.get(Self::SCALE)?.parse().ok()
    }
}
