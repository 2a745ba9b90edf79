//! Format NVM and Sanitize: every page becomes empty, in the time that the drive takes to deallocate it, or to reset its
//! zones. An overwrite programs every page before, once for each pass.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nvme::command::{ALL_NAMESPACES, Command};
use nvme::log::SanitizeState;
use nvme::self_test::outcome;
use nvme::status::CommandStatus;
use sim::host::ZoneAction;

use super::channel::{CommandReply, CommandResult, End};
use super::controller::Controller;
use super::io::status_of;
use super::self_tests::Scope;
use super::subsystem::{BLOCK_BYTES, Subsystem};
use crate::request::{Action, Answer, Fault, Request};
use crate::shared::Reply;

/// Begins a format of all namespaces, which `end` ends. The hosts of all controllers but this one hear of it.
pub(super) fn format(
    subsystem: &Arc<Subsystem>,
    controller: &Controller,
    command: &Command,
    end: End,
) -> Result<(), CommandStatus> {
    const ERASES: [u32; 3] = [0, 1, 2];
    let dword = command.dwords[0];
    if !subsystem.can_erase() {
        return Err(CommandStatus::INVALID_OPCODE);
    }
    let id = command.namespace_id;
    if id != ALL_NAMESPACES && subsystem.namespace_of(id, controller).is_none() {
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
    if subsystem.sanitize_log().state == SanitizeState::InProgress {
        return Err(CommandStatus::SANITIZING);
    }
    subsystem.abort_self_test(outcome::FORMATTED, Scope::Namespace);
    let (drive, controller_id) = (Arc::clone(subsystem), controller.id);
    erase(subsystem, 0..subsystem.capacity_bytes(), move |result| {
        if result.is_ok() {
            drive.set_block_bytes(block_bytes, controller_id);
        }
        end(ended(result));
    });
    Ok(())
}

/// Most passes of an overwrite.
const PASSES_MAX: u8 = 16;

/// Begins a sanitize, which goes on behind its completion.
pub(super) fn sanitize(subsystem: &Arc<Subsystem>, command: &Command) -> CommandResult {
    const EXIT_FAILURE: u32 = 1;
    const BLOCK_ERASE: u32 = 2;
    const OVERWRITE: u32 = 3;
    const CRYPTO_ERASE: u32 = 4;
    /// No deallocation behind it: the drive always deallocates.
    const KEEPS_PAGES: u32 = 1 << 9;
    if !subsystem.can_erase() {
        return Err(CommandStatus::INVALID_OPCODE);
    }
    if subsystem.sanitize_log().state == SanitizeState::InProgress {
        return Err(CommandStatus::SANITIZING);
    }
    let dword = command.dwords[0];
    if dword & KEEPS_PAGES != 0 {
        return Err(CommandStatus::INVALID_FIELD);
    }
    match dword & 0b111 {
        EXIT_FAILURE => {}
        BLOCK_ERASE | CRYPTO_ERASE => {
            begin(subsystem);
            let drive = Arc::clone(subsystem);
            let all = 0..subsystem.capacity_bytes();
            erase(subsystem, all, move |result| end(&drive, result.is_ok()));
        }
        OVERWRITE if subsystem.zones().is_none() => {
            begin(subsystem);
            let passes = match dword >> 4 & 0b1111 {
                0 => PASSES_MAX,
                passes => passes as u8,
            };
            overwrite(subsystem, passes);
        }
        _ => return Err(CommandStatus::INVALID_FIELD),
    }
    Ok(CommandReply::default())
}

fn begin(subsystem: &Subsystem) {
    subsystem.abort_self_test(outcome::SANITIZED, Scope::All);
    subsystem.set_sanitize_state(SanitizeState::InProgress);
}

fn end(subsystem: &Subsystem, is_done: bool) {
    let state = if is_done { SanitizeState::Completed } else { SanitizeState::Failed };
    subsystem.set_sanitize_state(state);
}

/// Writes over every page, so many times, and then makes all empty. Nobody can read meanwhile, so that the contents need
/// not hold the pattern.
fn overwrite(subsystem: &Arc<Subsystem>, passes: u8) {
    let parts = subsystem.parts(0..subsystem.capacity_bytes());
    let total = parts.len() * usize::from(passes);
    let counts = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
    let reply = || {
        let (drive, counts, pass_parts) = (Arc::clone(subsystem), Arc::clone(&counts), parts.len());
        let reply = move |result: Result<Answer, Fault>| {
            let (done, has_failed) = &*counts;
            has_failed.fetch_or(result.is_err(), Ordering::AcqRel);
            let done = done.fetch_add(1, Ordering::AcqRel) + 1;
            let progress = done * usize::from(u16::MAX) / total;
            drive.set_sanitize_progress(progress as u16, (done / pass_parts) as u8);
            if done < total {
                return;
            }
            if has_failed.load(Ordering::Acquire) {
                return end(&drive, false);
            }
            let last = Arc::clone(&drive);
            let all = 0..drive.capacity_bytes();
            erase(&drive, all, move |result| end(&last, result.is_ok()));
        };
        Box::new(reply) as Reply
    };
    let write = |part: &Range<u64>| Request {
        fua: true,
        ..Request::new(Action::Overwrite, part.start, part.end - part.start)
    };
    let requests = (0..passes).flat_map(|_| &parts).map(|part| (write(part), reply()));
    subsystem.shared.send_all(requests.collect());
}

/// The outcome of a command that ends with an erasure.
pub(super) fn ended(result: Result<Answer, Fault>) -> CommandResult {
    result.map(|_| CommandReply::default()).map_err(|fault| status_of(fault, true))
}

/// Empties these bytes of the drive, or resets all of its zones.
pub(super) fn erase(
    subsystem: &Subsystem,
    bytes: Range<u64>,
    end: impl FnOnce(Result<Answer, Fault>) + Send + 'static,
) {
    let action = match subsystem.zones() {
        Some(_) => Action::Zone { action: ZoneAction::Reset, all: true },
        None => Action::Trim,
    };
    let request = Request::new(action, bytes.start, bytes.end - bytes.start);
    subsystem.shared.send(request, Box::new(end));
}
