//! `ssdlab sim load`: the state in a file into an exposed drive.

use std::path::{PathBuf, absolute};

use clap::Args as ClapArgs;
use expose::control::ControlCommand;

use super::control::send;
use super::state::slip;
use crate::args::Format;
use crate::args::heading;

const EXAMPLES: &str = "\
Examples:
  ssdlab sim load /tmp/control aged.state
  ssdlab sim load /tmp/control \"states/full drive.state\"
  ssdlab sim load /tmp/control aged.state --format json";

/// Arguments of `sim load`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct LoadArgs {
    /// Socket that `ssdlab sim expose --control` made
    #[arg(value_name = "SOCKET")]
    pub socket: PathBuf,
    /// A file that `ssdlab sim save` or `ssdlab sim expose --state` wrote
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

pub fn run(args: &LoadArgs) -> anyhow::Result<u8> {
    let file = absolute(&args.file).map_err(|source| slip(&args.file, source.into()))?;
    send(&args.socket, &ControlCommand::Load { file }, args.format)
}
