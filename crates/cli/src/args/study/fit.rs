//! Arguments of `fit`.

use std::path::PathBuf;

use base::Ratio;
use clap::Args as ClapArgs;

use crate::args::{JobsArg, PlaceArgs, whole};

/// Arguments of `fit`; `docs/runs/fit.md` describes the method.
#[derive(Debug, ClapArgs)]
pub struct FitArgs {
    /// Runs of one drive to explain: path, name, start of a name, or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Model that gives every value which the runs do not determine: a name of `ssdlab list drives`, or
    /// a model file
    #[arg(long, value_name = "MODEL")]
    pub base: String,
    /// Value of the base model that is right and stays, such as `dies_per_channel`; repeatable
    #[arg(long, value_name = "VALUE")]
    pub known: Vec<String>,
    /// Run of the same drive that is not used, but predicted; repeatable
    #[arg(long, value_name = "RUN")]
    pub hold_out: Vec<String>,
    /// Name of the fitted drive
    #[arg(long, value_name = "NAME", default_value = "Fitted drive")]
    pub name: String,
    /// Model file to write; without it only the answer is printed
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Simulated share of the drive
    #[arg(long, value_name = "SHARE", default_value = "1/256")]
    pub scale: Ratio,
    /// Relative error of a rate beyond which no model explains the runs
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub tolerance: Ratio,
    /// Seed of the simulations
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64, 0, { u64::MAX }>)]
    pub seed: u64,
    #[command(flatten)]
    pub jobs: JobsArg,
    /// No progress and no messages
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
}
