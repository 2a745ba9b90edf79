//! `ssdlab snapshot`: the state of an exposed drive in a file.

use std::path::{Path, PathBuf, absolute};

use clap::{Args as ClapArgs, Subcommand};
use expose::control::Order;
use expose::snapshot::file;
use serde_json::{Map, Value};

use super::control;
use super::state::slip;
use crate::args::Format;
use crate::failure::EXIT_DONE;
use crate::ui::out::data;

const EXAMPLES: &str = "\
Examples:
  ssdlab snapshot save /tmp/orders aged.state
  ssdlab snapshot info aged.state
  ssdlab snapshot load /tmp/orders aged.state";

const OF_SAVE: &str = "\
Examples:
  ssdlab snapshot save /tmp/orders aged.state
  ssdlab snapshot save /tmp/orders \"states/full drive.state\"
  ssdlab snapshot save /tmp/orders aged.state --format json";

const OF_LOAD: &str = "\
Examples:
  ssdlab snapshot load /tmp/orders aged.state
  ssdlab snapshot load /tmp/orders \"states/full drive.state\"
  ssdlab snapshot load /tmp/orders aged.state --format json";

const OF_INFO: &str = "\
Examples:
  ssdlab snapshot info aged.state
  ssdlab snapshot info \"states/full drive.state\"
  ssdlab snapshot info aged.state --format json";

/// Arguments of `snapshot`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct SnapshotArgs {
    /// The work.
    #[command(subcommand)]
    pub command: SnapshotCommand,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, global = true)]
    pub format: Format,
}

/// The work with a saved state.
#[derive(Debug, Subcommand)]
pub enum SnapshotCommand {
    /// Save the state of an exposed drive in a new file: its maps, clocks, counters and data
    #[command(after_help = OF_SAVE)]
    Save {
        /// Socket that `ssdlab expose --control` made
        #[arg(value_name = "SOCKET")]
        socket: PathBuf,
        /// The new file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Give an exposed drive the state in a file. Nothing of the disk may be mounted
    #[command(after_help = OF_LOAD)]
    Load {
        /// Socket that `ssdlab expose --control` made
        #[arg(value_name = "SOCKET")]
        socket: PathBuf,
        /// A file that `save` or `ssdlab expose --state` wrote
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Check a file, and tell of which drive it is
    #[command(after_help = OF_INFO)]
    Info {
        /// A file that `save` or `ssdlab expose --state` wrote
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

pub fn run(args: &SnapshotArgs) -> anyhow::Result<u8> {
    match &args.command {
        SnapshotCommand::Save { socket, file } => {
            let file = absolute(file).map_err(|source| slip(file, source.into()))?;
            control::send(socket, &Order::Save { file }, args.format)
        }
        SnapshotCommand::Load { socket, file } => {
            let file = absolute(file).map_err(|source| slip(file, source.into()))?;
            control::send(socket, &Order::Load { file }, args.format)
        }
        SnapshotCommand::Info { file } => info(file, args.format),
    }
}

fn info(path: &Path, format: Format) -> anyhow::Result<u8> {
    let header = serde_json::to_value(file::header(path).map_err(|fault| slip(path, fault))?)?;
    match (format, header) {
        (Format::Text, Value::Object(members)) => control::print(&Map::from_iter(members)),
        (_, header) => data!("{header}"),
    }
    Ok(EXIT_DONE)
}
