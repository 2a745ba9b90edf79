//! Arguments of `compare`.

use base::Ratio;
use clap::Args as ClapArgs;

use super::PlaceArgs;

/// Arguments of `compare`.
#[derive(Debug, ClapArgs)]
pub struct CompareArgs {
    /// Runs to compare with: `label:NAME`, a directory of runs, or runs by path, name, start of a
    /// name or `latest`, with commas between
    #[arg(value_name = "A")]
    pub a: String,
    /// Runs to judge: is B worse than A?
    #[arg(value_name = "B")]
    pub b: String,
    /// Smallest relative difference that counts, e.g. `5%`; otherwise any difference beyond noise
    /// does
    #[arg(long, value_name = "SHARE")]
    pub threshold: Option<Ratio>,
    /// Only this metric, e.g. `iops_steady_mean`; repeatable
    #[arg(long = "metric", value_name = "METRIC")]
    pub metrics: Vec<String>,
    /// Seed of the intervals
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = super::whole::<u64, 0, { u64::MAX }>)]
    pub seed: u64,
    #[command(flatten)]
    pub place: PlaceArgs,
}
