//! `ssdlab sim`: simulated drives, their models, and other programs on them.

pub mod check;
pub mod control;
pub mod convert;
pub mod expose;
pub mod fit;
pub mod load;
pub mod models;
pub mod save;
mod state;
pub mod sweep;

use clap::Subcommand;

use check::CheckArgs;
use control::ControlArgs;
use convert::ConvertArgs;
use expose::ExposeArgs;
use fit::FitArgs;
use load::LoadArgs;
use models::ModelsArgs;
use save::SaveArgs;
use sweep::SweepArgs;

const EXAMPLES: &str = "\
Examples:
  ssdlab sim models  # drive models and hosts
  ssdlab sim expose sim:samsung-840-pro-256gb --nbd /tmp/disk --control /tmp/control
  ssdlab sim control /tmp/control status
  ssdlab sim sweep spare.toml -o spare";

/// The commands for simulated drives.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum SimCommand {
    /// List drive models and hosts, or the facts of one drive
    Models(ModelsArgs),
    /// Check a drive model or a saved state, and print its description
    Check(CheckArgs),
    /// Expose a simulated drive as a disk for any other program
    Expose(Box<ExposeArgs>),
    /// Convert a drive or a load of the simulator MQSim into a model or a workload file
    Convert(ConvertArgs),
    /// Control an exposed drive: cut its power, break it, age it, look at its work
    Control(ControlArgs),
    /// Save the state of an exposed drive in a new file: its maps, clocks, counters and data
    Save(SaveArgs),
    /// Give an exposed drive the state in a file. Nothing of the disk may be mounted
    Load(LoadArgs),
    /// Simulate many runs that differ in chosen values, and write one table
    Sweep(SweepArgs),
    /// Find the values of a drive model that explain runs of a drive
    Fit(FitArgs),
}

pub fn run(command: &SimCommand) -> anyhow::Result<u8> {
    match command {
        SimCommand::Models(args) => models::run(args),
        SimCommand::Check(args) => check::run(args),
        SimCommand::Expose(args) => expose::run(args),
        SimCommand::Convert(args) => convert::run(args),
        SimCommand::Control(args) => control::run(args),
        SimCommand::Save(args) => save::run(args),
        SimCommand::Load(args) => load::run(args),
        SimCommand::Sweep(args) => sweep::run(args),
        SimCommand::Fit(args) => fit::run(args),
    }
}
