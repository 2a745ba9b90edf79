//! Arguments of `advise`.

use base::{Bytes, Nanos, Ratio};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use run::advise::Floor;

use super::{CommonArgs, DriveArgs};

/// The subject of the advice.
#[derive(Debug, Subcommand)]
pub enum AdviseCommand {
    /// Find the smallest spare area that holds a floor under 4 KiB random writes
    Spare(SpareArgs),
}

/// The rate that must hold the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Hold {
    /// The mean over steady state.
    #[default]
    Mean,
    /// Every second of it.
    EverySecond,
}

fn parse_floor(text: &str) -> Result<u64, String> {
    let floor = text.parse().ok().filter(|floor| *floor > 0);
    floor.ok_or_else(|| "expected random writes a second, a whole number such as 20000".to_owned())
}

/// Arguments of `advise spare`.
#[derive(Debug, ClapArgs)]
pub struct SpareArgs {
    /// Target: `sim:NAME[?key=value&...]`, `/dev/...` or `file:PATH?size=8GiB`
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Random writes per second that the drive must hold
    #[arg(long, value_name = "IOPS", allow_negative_numbers = true, value_parser = parse_floor, required_unless_present = "floor_latency")]
    pub floor: Option<u64>,
    /// Instead: the time within which 99% of the writes must end, e.g. `5ms`
    #[arg(long, value_name = "TIME", conflicts_with = "floor")]
    pub floor_latency: Option<Nanos>,
    /// Rate that must hold `--floor`: the mean over steady state, or every second of it
    #[arg(long, value_enum, default_value_t, conflicts_with = "floor_latency")]
    pub hold: Hold,
    /// Raw NAND of the drive, e.g. `256GiB`; drive models know it. Without it, shares refer to the
    /// advertised capacity and every try takes two more passes of random writes
    #[arg(long, value_name = "BYTES")]
    pub raw_capacity: Option<Bytes>,
    /// Largest spare area to try
    #[arg(long, value_name = "SHARE", default_value = "50%")]
    pub max_spare: Ratio,
    /// Grid of the search
    #[arg(long, value_name = "SHARE", default_value = "0.5%")]
    pub step: Ratio,
    /// Measured time of each try; default: until a fifth of the span is written at the floor
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Nanos>,
    /// Commands kept outstanding
    #[arg(long, value_name = "N", default_value_t = 32, allow_negative_numbers = true, value_parser = super::whole::<u32, 1, { u32::MAX as u64 }>)]
    pub queue_depth: u32,
    /// Only print the tries, their longest duration and the amount they write
    #[arg(long)]
    pub plan: bool,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub drive: DriveArgs,
}

impl SpareArgs {
    /// The performance that the drive must hold.
    pub fn wanted(&self) -> Floor {
        match (self.floor_latency, self.hold) {
            (Some(latency), _) => Floor::P99(latency),
            (None, Hold::Mean) => Floor::MeanIops(self.floor.unwrap_or_default()),
            (None, Hold::EverySecond) => Floor::EverySecondIops(self.floor.unwrap_or_default()),
        }
    }
}
