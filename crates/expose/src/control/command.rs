//! The control commands to a disk.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A control command to a disk, a JSON object with the member `order`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ControlCommand {
    /// The state of the disk, and its work since the last reset.
    Status,
    /// The state again and again.
    Watch {
        /// Time of the machine between two answers.
        #[serde(default = "second")]
        interval_ms: u64,
        /// Number of answers, or `None` for answers until the client leaves.
        #[serde(default)]
        count: Option<u64>,
    },
    /// Cuts the power and restores it.
    Cut {
        /// Number of commands of the drive that end before, or `None` for now.
        #[serde(default)]
        after_commands: Option<u64>,
    },
    /// The reports of the ordered cuts since the last such command.
    Cuts,
    /// Makes blocks unreadable until they are written.
    MediaError {
        /// First byte.
        offset: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// Makes all blocks readable.
    Heal,
    /// Lets the disk refuse changes, or take them again.
    ReadOnly {
        /// Whether it refuses them.
        on: bool,
    },
    /// Lets days pass without power.
    Age {
        /// Number of days.
        days: u32,
    },
    /// Wears every block.
    Wear {
        /// Program and erase cycles.
        cycles: u32,
    },
    /// Changes the temperature of the surroundings.
    Temperature {
        /// Degrees.
        celsius: i32,
    },
    /// Limits the pSLC cache.
    Cache {
        /// Most superblocks that it borrows.
        superblocks: u32,
    },
    /// Lets time pass on the fast clock.
    Idle {
        /// Time of the drive.
        seconds: u64,
    },
    /// Names this moment.
    Mark { name: String },
    /// Write amplification and work since a mark, or since the last reset.
    Waf {
        /// Name of the mark.
        #[serde(default)]
        since: Option<String>,
    },
    /// Lets the counters begin again.
    Reset,
    /// Keeps the whole state of the disk in memory.
    Snapshot { name: String },
    /// Gives the disk such a state.
    Restore { name: String },
    /// Drops such a state.
    Forget { name: String },
    /// The names of such states.
    Snapshots,
    /// Writes the whole state of the disk to a new file.
    Save {
        /// Its absolute path.
        file: PathBuf,
    },
    /// Gives the disk the state in a file.
    Load {
        /// Its absolute path.
        file: PathBuf,
    },
}

fn second() -> u64 {
    1000
}
