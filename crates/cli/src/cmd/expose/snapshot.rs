//! `ssdlab snapshot`, and the file of `ssdlab expose --state`: the state of a drive in a file.

use std::path::{Path, absolute};

use ::target::IoError;
use device::guard;
use expose::control::Order;
use expose::shared::Token;
use expose::snapshot::FileFault;
use expose::snapshot::file::{self, Replace, Saved};
use expose::{Contents, Disk};
use serde_json::{Map, Value};
use sim::Config;

use super::drive;
use crate::args::Format;
use crate::args::expose::{SnapshotArgs, SnapshotCommand};
use crate::failure::EXIT_DONE;
use crate::ui::out::data;

pub fn run(args: &SnapshotArgs) -> anyhow::Result<u8> {
    match &args.command {
        SnapshotCommand::Save { socket, file } => {
            let file = absolute(file).map_err(|source| slip(file, source.into()))?;
            drive::send(socket, &Order::Save { file }, args.format)
        }
        SnapshotCommand::Load { socket, file } => {
            let file = absolute(file).map_err(|source| slip(file, source.into()))?;
            drive::send(socket, &Order::Load { file }, args.format)
        }
        SnapshotCommand::Info { file } => info(file, args.format),
    }
}

fn info(path: &Path, format: Format) -> anyhow::Result<u8> {
    let header = serde_json::to_value(file::header(path).map_err(|fault| slip(path, fault))?)?;
    match (format, header) {
        (Format::Text, Value::Object(members)) => drive::print(&Map::from_iter(members)),
        (_, header) => data!("{header}"),
    }
    Ok(EXIT_DONE)
}

/// A disk in the saved state, or a fresh one if there is no such file; the file can then be written at the end.
pub(super) fn disk(
    path: Option<&Path>,
    config: Config,
    contents: Contents,
) -> Result<Disk<Token>, IoError> {
    let Some(path) = path else { return Ok(Disk::new(config, contents)) };
    let fail = |fault| slip(path, fault);
    Replace::State.check(path).map_err(fail)?;
    if path.symlink_metadata().is_err() {
        return Ok(Disk::new(config, contents));
    }
    require_replaceable(path)?;
    Saved::read(path, &config).and_then(|saved| saved.into_disk(contents)).map_err(fail)
}

/// Saves the state at the end.
pub(super) fn save(disk: &mut Disk<Token>, drive: &str, path: &Path) -> Result<(), IoError> {
    require_replaceable(path)?;
    let saved = file::save(disk, drive, path, Replace::State);
    saved.map(drop).map_err(|fault| slip(path, fault))
}

/// Refuses a state file that somebody else uses.
fn require_replaceable(path: &Path) -> Result<(), IoError> {
    let Ok(resolved) = path.canonicalize() else { return Ok(()) };
    guard::check_replaceable(path, &resolved)
}

fn slip(path: &Path, fault: FileFault) -> IoError {
    match fault {
        FileFault::Io(source) => {
            IoError::Device { context: format!("the saved state {}", path.display()), source }
        }
        fault => IoError::Usage(format!("{} {fault}", path.display())),
    }
}
