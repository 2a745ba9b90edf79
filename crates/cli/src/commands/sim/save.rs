//! `ssdlab sim save`: the state of an exposed drive into a new file.

use std::path::{PathBuf, absolute};

use clap::Args as ClapArgs;
use expose::control::ControlCommand;

use super::control::send;
use super::state::slip;
use crate::args::Format;
use crate::args::heading;

const EXAMPLES: &str = "\
Examples:
  ssdlab sim save /tmp/control aged.state
  ssdlab sim save /tmp/control \"states/full drive.state\"
  ssdlab sim save /tmp/control aged.state --format json";

/// Arguments of `sim save`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct SaveArgs {
    /// Socket that `ssdlab sim expose --control` made
    #[arg(value_name = "SOCKET")]
    pub socket: PathBuf,
    /// The new file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

pub fn run(args: &SaveArgs) -> anyhow::Result<u8> {
    let file = absolute(&args.file).map_err(|source| slip(&args.file, source.into()))?;
    send(&args.socket, &ControlCommand::Save { file }, args.format)
}
