//! Arguments of `workload`.

use std::path::PathBuf;

use base::Bytes;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::Format;

/// The verbs for workload files.
#[derive(Debug, Subcommand)]
pub enum WorkloadCommand {
    /// Check a workload file and list its jobs
    Check(WorkloadCheckArgs),
    /// Print a workload file, or one that comes with ssdlab
    Show(WorkloadShowArgs),
    /// Read a job file of fio as a workload file
    Import(WorkloadImportArgs),
    /// Write a workload file as a job file of fio
    Export(WorkloadExportArgs),
}

impl WorkloadCommand {
    /// Output on stdout.
    pub fn format(&self) -> Format {
        match self {
            Self::Check(args) => args.format,
            Self::Show(args) => args.format,
            Self::Import(args) => args.format,
            Self::Export(args) => args.format,
        }
    }
}

/// Arguments of `workload check`.
#[derive(Debug, ClapArgs)]
pub struct WorkloadCheckArgs {
    /// Workload file, or one of `ssdlab list workloads`
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Length of the tested span for which the jobs are checked
    #[arg(long, value_name = "BYTES", default_value = "256GiB")]
    pub span: Bytes,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `workload show`.
#[derive(Debug, ClapArgs)]
pub struct WorkloadShowArgs {
    /// Workload file, or one of `ssdlab list workloads`
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `workload import`.
#[derive(Debug, ClapArgs)]
pub struct WorkloadImportArgs {
    /// Job file of fio
    #[arg(value_name = "JOB.fio")]
    pub file: PathBuf,
    /// Drive whose jobs are read, as `filename` names it, if the jobs are for several drives
    #[arg(long, value_name = "DRIVE")]
    pub filename: Option<String>,
    /// File to write; default: stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `workload export`.
#[derive(Debug, ClapArgs)]
pub struct WorkloadExportArgs {
    /// Workload file, or one of `ssdlab list workloads`
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Format of the other program
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    pub to: JobFormat,
    /// File to write; default: stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Formats of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum JobFormat {
    /// Job file of fio
    Fio,
}
