//! Arguments of `verify`.

use std::path::PathBuf;

use base::{Bytes, Nanos};
use clap::Args as ClapArgs;

use super::Format;

/// Default number of outstanding commands.
pub const QUEUE_DEPTH: u32 = 32;

/// Arguments of `verify`.
#[derive(Debug, ClapArgs)]
pub struct VerifyArgs {
    /// Target: `/dev/...` or `file:PATH?size=1GiB`; `sim:NAME` with --power-cuts
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Only read back the blocks of an earlier run, e.g. after a power cut; no writes
    #[arg(long, conflicts_with_all = ["erase", "duration", "writes", "span", "block", "seed"])]
    pub check: bool,
    /// Cut the power of a simulated drive this many times, at random moments of a random workload,
    /// and check every page after each recovery
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with_all = ["check", "journal", "erase", "duration", "writes", "span", "block"])]
    pub power_cuts: Option<u64>,
    /// Journal of promises; keep it on another drive, best on another machine
    #[arg(long, value_name = "FILE", default_value = "ssdlab-verify.journal")]
    pub journal: PathBuf,
    /// Confirm that everything on the device with this serial may be erased (an existing file: its
    /// path; a loop device: the path of the file behind it)
    #[arg(long, value_name = "SERIAL")]
    pub erase: Vec<String>,
    /// Also erase recognised data: file systems, partition tables, databases, archives, ...
    #[arg(long, requires = "erase")]
    pub erase_signatures: bool,
    /// Time to write; Ctrl-C ends it earlier
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub duration: Nanos,
    /// Most writes
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    pub writes: u64,
    /// Bytes to use from LBA 0
    #[arg(long, value_name = "BYTES")]
    pub span: Option<Bytes>,
    /// Size of a block
    #[arg(long, value_name = "BYTES", default_value = "4KiB")]
    pub block: Bytes,
    /// Outstanding commands
    #[arg(long, value_name = "N", default_value_t = QUEUE_DEPTH)]
    pub queue_depth: u32,
    /// Seed of addresses and data; default: a new one each time
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
