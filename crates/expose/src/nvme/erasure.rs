//! Format NVM and Sanitize: every page becomes empty, in the time that the drive takes to deallocate it, or to reset its
//! zones.

use std::sync::Arc;

use nvme::command::{ALL_NAMESPACES, Command};
use nvme::log::SanitizeState;
use nvme::status::CommandStatus;
use sim::host::ZoneAction;

use super::channel::{CommandReply, CommandResult};
use super::io::status_of;
use super::subsystem::{BLOCK_BYTES, NAMESPACE, Subsystem};
use crate::request::{Action, Answer, Fault, Request};

/// Begins a format, which `reply` ends. The hosts of all controllers but this one hear of it.
pub(super) fn format(
    subsystem: &Arc<Subsystem>,
    controller_id: u16,
    command: &Command,
    reply: impl FnOnce(CommandResult) + Send + 'static,
) -> Result<(), CommandStatus> {
    const ERASES: [u32; 3] = [0, 1, 2];
    let dword = command.dwords[0];
    if !subsystem.can_erase() {
        return Err(CommandStatus::INVALID_OPCODE);
    }
    if ![NAMESPACE, ALL_NAMESPACES].contains(&command.namespace_id) {
        return Err(CommandStatus::INVALID_NAMESPACE);
    }
    let lba_format = dword & 0xf | (dword >> 12 & 0b11) << 4;
    let has_metadata_or_protection = dword >> 4 & 0b1_1111 != 0;
    let block_bytes = BLOCK_BYTES
        .get(lba_format as usize)
        .filter(|bytes| !has_metadata_or_protection && subsystem.block_sizes().contains(bytes));
    let block_bytes = *block_bytes.ok_or(CommandStatus::INVALID_FORMAT)?;
    if !ERASES.contains(&(dword >> 9 & 0b111)) {
        return Err(CommandStatus::INVALID_FIELD);
    }
    let drive = Arc::clone(subsystem);
    erase(subsystem, move |result| {
        if result.is_ok() {
            drive.set_block_bytes(block_bytes, controller_id);
        }
        reply(result.map(|_| CommandReply::default()).map_err(|fault| status_of(fault, true)));
    });
    Ok(())
}

/// Begins a sanitize, which goes on behind its completion.
pub(super) fn sanitize(subsystem: &Arc<Subsystem>, command: &Command) -> CommandResult {
    const EXIT_FAILURE: u32 = 1;
    const BLOCK_ERASE: u32 = 2;
    const CRYPTO_ERASE: u32 = 4;
    if !subsystem.can_erase() {
        return Err(CommandStatus::INVALID_OPCODE);
    }
    if subsystem.sanitize_log().state == SanitizeState::InProgress {
        return Err(CommandStatus::SANITIZING);
    }
    match command.dwords[0] & 0b111 {
        EXIT_FAILURE => {}
        BLOCK_ERASE | CRYPTO_ERASE => {
            subsystem.set_sanitize_state(SanitizeState::InProgress);
            let drive = Arc::clone(subsystem);
            erase(subsystem, move |result| {
                let is_done = result.is_ok();
                drive.set_sanitize_state(if is_done {
                    SanitizeState::Completed
                } else {
                    SanitizeState::Failed
                });
            });
        }
        _ => return Err(CommandStatus::INVALID_FIELD),
    }
    Ok(CommandReply::default())
}

fn erase(subsystem: &Subsystem, end: impl FnOnce(Result<Answer, Fault>) + Send + 'static) {
    let bytes = subsystem.capacity_bytes();
    let action = match subsystem.zones() {
        Some(_) => Action::Zone { action: ZoneAction::Reset, all: true },
        None => Action::Trim,
    };
    let request = Request::new(action, 0, bytes);
    subsystem.shared.send(request, Box::new(end));
}
