//! Device Self-test: the drive reads its own pages, while it serves its hosts.
//!
//! Phenomenon: a drive tests itself in the background and tells how far it is; its hosts feel it. Source: NVM Express
//! Base Specification 2.0, Device Self-test. Simplifications: a test is its reads alone, one part of the drive after the
//! other, each a segment of the test; the short one reads a hundredth of each part, the extended one everything; a loss
//! of power ends both, where a real drive goes on with the extended one. On the fast clock a test ends before its command
//! does. Test: `tests/all/nvme_self_test.rs`.

use std::ops::Range;
use std::sync::Arc;

use nvme::command::{ALL_NAMESPACES, Command};
use nvme::log::SanitizeState;
use nvme::self_test::{Failure, code, outcome};
use nvme::status::CommandStatus;

use super::channel::{CommandReply, CommandResult};
use super::controller::Controller;
use super::self_tests::Scope;
use super::subsystem::Subsystem;
use crate::clock::Pace;
use crate::request::{Action, Answer, Fault, Request};
use crate::shared::locked;

/// Share of a part that the short test reads.
const SHORT_SHARE: u64 = 100;

/// Begins a test, or ends the one that is going on.
pub(super) fn command(
    subsystem: &Arc<Subsystem>,
    controller: &Controller,
    command: &Command,
) -> CommandResult {
    let namespace_id = command.namespace_id;
    let bytes = match namespace_id {
        // The controller alone needs no time.
        0 => 0..0,
        ALL_NAMESPACES => 0..subsystem.capacity_bytes(),
        id => subsystem.namespace_of(id, controller).ok_or(CommandStatus::INVALID_NAMESPACE)?.0,
    };
    if subsystem.sanitize_log().state == SanitizeState::InProgress {
        return Err(CommandStatus::SANITIZING);
    }
    match command.dwords[0] as u8 & 0xf {
        code::ABORT => subsystem.abort_self_test(outcome::ABORTED, Scope::All),
        code @ (code::SHORT | code::EXTENDED) => {
            let parts = if bytes.is_empty() { Vec::new() } else { subsystem.parts(bytes) };
            let parts = parts.into_iter().map(|part| shortened(&part, code)).collect();
            let number =
                locked(&subsystem.self_tests).begin(code, controller.id, namespace_id, parts)?;
            go_on(subsystem, number);
        }
        _ => return Err(CommandStatus::INVALID_FIELD),
    }
    Ok(CommandReply::default())
}

/// The bytes of a part that a test of this kind reads.
fn shortened(part: &Range<u64>, code: u8) -> Range<u64> {
    let bytes = part.end - part.start;
    let read_bytes = match code {
        code::SHORT => (bytes / SHORT_SHARE).next_multiple_of(sim::PAGE_BYTES).min(bytes),
        _ => bytes,
    };
    part.start..part.start + read_bytes
}

/// Reads the next part; on the fast clock all that are left.
fn go_on(subsystem: &Arc<Subsystem>, number: u64) {
    while let Some(request) = next(subsystem, number) {
        let (drive, part) = (Arc::clone(subsystem), request.range());
        let is_fast = subsystem.shared.pace() == Pace::Fast;
        let reply = move |result| {
            note(&drive, number, &part, &result);
            if !is_fast {
                go_on(&drive, number);
            }
        };
        subsystem.shared.send(request, Box::new(reply));
        if !is_fast {
            return;
        }
    }
}

/// The read of the next part of a test, or `None` if it has ended, or ends now.
fn next(subsystem: &Subsystem, number: u64) -> Option<Request> {
    let hours = subsystem.power_on_hours();
    let mut tests = locked(&subsystem.self_tests);
    let test = tests.running(number)?;
    if let Some(part) = test.parts.get(test.parts_done) {
        return Some(Request::new(Action::Scan, part.start, part.end - part.start));
    }
    tests.end(outcome::PASSED, None, hours);
    None
}

/// Takes the outcome of a part.
fn note(subsystem: &Subsystem, number: u64, part: &Range<u64>, result: &Result<Answer, Fault>) {
    // A zone that went out of use is nothing that a test could read.
    if matches!(result, Ok(_) | Err(Fault::Zone(_))) {
        if let Some(test) = locked(&subsystem.self_tests).running(number) {
            test.parts_done += 1;
        }
        return;
    }
    let hours = subsystem.power_on_hours();
    let bad = subsystem.shared.with(|disk| disk.faults.first_bad(disk.shape(), part));
    let block = bad.map(|offset| {
        let start = subsystem.namespaces().start_of(offset).unwrap_or_default();
        (offset - start) / u64::from(subsystem.block_bytes())
    });
    let mut tests = locked(&subsystem.self_tests);
    let Some(test) = tests.running(number) else { return };
    let segment = (test.parts_done * 100 / test.parts.len() + 1) as u8;
    let status = CommandStatus::READ_ERROR;
    let failure = block.map(|block| Failure { segment, block, status });
    // Without a bad block the power was cut.
    let outcome = if failure.is_some() { outcome::FAILED } else { outcome::RESET };
    tests.end(outcome, failure, hours);
}
