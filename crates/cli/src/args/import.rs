//! Arguments of `import`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::PlaceArgs;

/// The program whose results are read.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// JSON and JSON+ of fio 3, its bandwidth, IOPS, latency and histogram logs, and folders of
    /// them such as those of bench-fio: one run for each drive of each host
    Fio(FioArgs),
    /// Result files of the Phoronix Test Suite, composite.xml or JSON: one run for each system
    Phoronix(ImportArgs),
    /// Text of CrystalDiskMark 3 to 9 and of KDiskMark: one drive, one run
    Cdm(ImportArgs),
}

/// The files of fio and what they do not tell.
#[derive(Debug, ClapArgs)]
pub struct FioArgs {
    #[command(flatten)]
    pub import: ImportArgs,
    /// Read the jobs of this host only, of a run with clients; repeatable
    // The id `host` is that of the default host of simulated drives.
    #[arg(id = "client_host", long = "host", value_name = "HOST")]
    pub host: Vec<String>,
}

/// The files and what they do not tell.
#[derive(Debug, ClapArgs)]
pub struct ImportArgs {
    /// Files, or folders with everything below them
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Name of the drive, or of one of several by its name in the files; default: the name there;
    /// repeatable
    #[arg(long, value_name = "NAME[=FILENAME]")]
    pub drive: Vec<String>,
    /// Firmware of the drive
    #[arg(long, value_name = "REVISION")]
    pub firmware: Option<String>,
    /// Say that the drive was a simulated one
    #[arg(long)]
    pub simulated: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
}

impl ImportCommand {
    /// The files and what they do not tell.
    pub fn args(&self) -> &ImportArgs {
        match self {
            Self::Fio(args) => &args.import,
            Self::Phoronix(args) | Self::Cdm(args) => args,
        }
    }
}
