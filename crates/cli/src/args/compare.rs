//! Arguments of `compare`.

use base::Ratio;
use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use result::compare::Across;

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
    /// Smallest relative difference that counts, e.g. `5%`. Without it 3%, or 1% where repeated
    /// runs show that the difference is no noise
    #[arg(long, value_name = "SHARE")]
    pub threshold: Option<Ratio>,
    /// The one condition in which A and B differ; anything else that differs is refused or named
    #[arg(
        long,
        value_name = "CONDITION",
        value_parser = PossibleValuesParser::new(Across::NAMES).try_map(|name| name.parse::<Across>())
    )]
    pub across: Option<Across>,
    /// Only this metric, e.g. `iops_steady_mean`; repeatable
    #[arg(long = "metric", value_name = "METRIC")]
    pub metrics: Vec<String>,
    /// Seed of the intervals
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = super::whole::<u64, 0, { u64::MAX }>)]
    pub seed: u64,
    #[command(flatten)]
    pub place: PlaceArgs,
}
