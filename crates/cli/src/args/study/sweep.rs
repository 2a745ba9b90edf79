//! Arguments of `sweep`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::args::{Format, JobsArg};

/// Arguments of `sweep`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Example:\n  ssdlab sweep spare.toml --output spare\n\ndocs/runs/sweep.md describes the file"
)]
pub struct SweepArgs {
    /// Description of the sweep, a TOML file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Directory of its outcomes; a sweep that is there goes on
    #[arg(long, short, value_name = "DIR", default_value = "sweep")]
    pub output: PathBuf,
    /// Only print the number of runs; simulates nothing
    #[arg(long)]
    pub plan: bool,
    #[command(flatten)]
    pub jobs: JobsArg,
    /// No progress and no messages
    #[arg(long)]
    pub quiet: bool,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
