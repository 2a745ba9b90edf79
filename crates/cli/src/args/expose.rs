//! Arguments of `expose`, and those of `drive` and `snapshot`, which talk to it.

use std::path::PathBuf;

use base::Bytes;
use clap::{Args as ClapArgs, Subcommand};
use expose::{Address, Pace};
use result::store::ios::IosChoice;

use super::{Format, parse_ios, whole};

/// Arguments of `expose`.
#[derive(Debug, ClapArgs)]
pub struct ExposeArgs {
    /// Simulated drive: `sim:NAME[?key=value&...]`
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Serve NBD at a Unix socket of this path, or at a port
    #[arg(long, value_name = "SOCKET|HOST:PORT", required_unless_present = "fuse")]
    pub nbd: Option<Address>,
    /// Also serve other machines. NBD has neither password nor encryption here: use a tunnel
    /// (ssh -L, stunnel) where the network is not your own
    #[arg(long, requires = "nbd")]
    pub listen_anywhere: bool,
    /// Mount the disk as the file `disk` in this empty directory
    #[arg(long, value_name = "DIR")]
    pub fuse: Option<PathBuf>,
    /// Pace of the drive's time: `fast`, `real`, or `real*N` for a drive N times slower
    #[arg(long, value_name = "PACE", default_value_t = Pace::Fast)]
    pub clock: Pace,
    /// Take orders at a Unix socket of this path; see `ssdlab drive --help`
    #[arg(long, value_name = "SOCKET")]
    pub control: Option<PathBuf>,
    /// Let the drive lose its power on order: assume a map in NAND where the model has none, and keep account of all
    /// pages
    #[arg(long)]
    pub power_cuts: bool,
    /// Keep the data in this sparse file, an image of the disk; default: in memory
    #[arg(long, value_name = "FILE")]
    pub contents: Option<PathBuf>,
    /// Go on from the saved state in this file if there is one, and save the state there at the end
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Most data to keep: writes beyond it fail for lack of space. Default: the capacity of the drive
    #[arg(long, value_name = "BYTES")]
    pub contents_max: Option<Bytes>,
    /// Most connections at a time
    #[arg(long, value_name = "N", default_value_t = 16, allow_negative_numbers = true, value_parser = whole::<u32, 1, 1024>)]
    pub connections: u32,
    /// Directory of run directories: the work of the drive becomes a run in it
    #[arg(long, value_name = "DIR", default_value = "ssdlab-runs")]
    pub library: PathBuf,
    /// Write no run
    #[arg(long, conflicts_with = "library")]
    pub no_run: bool,
    /// Keep single requests, one row each, in ios.parquet of the run directory: `all`, a random share such as `1%`, or
    /// `slowest:100`, the slowest 100 of each second of the drive (see docs/formats/ios.md)
    #[arg(long, value_name = "REQUESTS", value_parser = parse_ios, conflicts_with = "no_run")]
    pub ios: Option<IosChoice>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `drive`.
#[derive(Debug, ClapArgs)]
pub struct DriveOrder {
    /// Socket that `ssdlab expose --control` made
    #[arg(value_name = "SOCKET")]
    pub socket: PathBuf,
    /// The order.
    #[command(subcommand)]
    pub order: DriveCommand,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, global = true)]
    pub format: Format,
}

/// Arguments of `snapshot`.
#[derive(Debug, ClapArgs)]
pub struct SnapshotArgs {
    /// The work.
    #[command(subcommand)]
    pub command: SnapshotCommand,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, global = true)]
    pub format: Format,
}

/// The work with a saved state.
#[derive(Debug, Subcommand)]
pub enum SnapshotCommand {
    /// Save the state of an exposed drive in a new file: its maps, clocks, counters and data
    Save {
        /// Socket that `ssdlab expose --control` made
        #[arg(value_name = "SOCKET")]
        socket: PathBuf,
        /// The new file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Give an exposed drive the state in a file. Nothing of the disk may be mounted
    Load {
        /// Socket that `ssdlab expose --control` made
        #[arg(value_name = "SOCKET")]
        socket: PathBuf,
        /// A file that `save` or `ssdlab expose --state` wrote
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Check a file, and tell of which drive it is
    Info {
        /// A file that `save` or `ssdlab expose --state` wrote
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// An order to an exposed drive.
#[derive(Debug, Subcommand)]
pub enum DriveCommand {
    /// State of the drive, and its work since the last `reset`
    Status,
    /// A line every second: requests, rates, write amplification
    Watch {
        /// Number of lines; default: until Ctrl-C
        #[arg(long, value_name = "N")]
        count: Option<u64>,
    },
    /// Cut the power and restore it: unflushed data may go, requests under way fail
    Cut {
        /// First let so many commands of the drive end
        #[arg(long, value_name = "N")]
        after_commands: Option<u64>,
    },
    /// Reports of the cuts that `cut --after-commands` ordered, since the last such call
    Cuts,
    /// Make blocks unreadable until they are written
    MediaError {
        /// First byte
        offset: u64,
        /// Number of bytes
        bytes: Bytes,
    },
    /// Make all blocks readable
    Heal,
    /// Refuse writes, or take them again
    ReadOnly {
        /// `on` or `off`
        #[arg(value_parser = ["on", "off"])]
        state: String,
    },
    /// Let days pass without power
    Age {
        /// Number of days
        days: u32,
    },
    /// Wear every block by program and erase cycles
    Wear {
        /// Number of cycles
        cycles: u32,
    },
    /// Change the temperature of the surroundings
    Temperature {
        /// Degrees Celsius
        #[arg(allow_negative_numbers = true)]
        celsius: i32,
    },
    /// Limit the superblocks that the pSLC cache borrows
    Cache {
        /// Number of superblocks
        superblocks: u32,
    },
    /// Let time pass on the fast clock
    Idle {
        /// Seconds of the drive
        seconds: u64,
    },
    /// Name this moment
    Mark {
        /// Its name
        name: String,
    },
    /// Write amplification and work since a mark, or since the last `reset`
    Waf {
        /// Name of the mark
        #[arg(long, value_name = "MARK")]
        since: Option<String>,
    },
    /// Let the counters begin again
    Reset,
    /// Keep the state of drive and data in memory
    Snapshot {
        /// Its name
        name: String,
    },
    /// Go back to a kept state
    Restore {
        /// Its name
        name: String,
    },
    /// Drop a kept state
    Forget {
        /// Its name
        name: String,
    },
    /// Names of the kept states
    Snapshots,
}
