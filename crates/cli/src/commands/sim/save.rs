//! `ssdlab snapshot`: the state of an exposed drive in a file.

use std::path::{Path, absolute};

use expose::control::Order;
use expose::snapshot::file;
use serde_json::{Map, Value};

use super::{control, state::slip};
use crate::args::Format;
use crate::args::expose::{SnapshotArgs, SnapshotCommand};
use crate::failure::EXIT_DONE;
use crate::ui::out::data;

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
