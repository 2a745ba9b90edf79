//! Device Self-test: the drive reads its own pages, while it serves its hosts.
//!
//! Phenomenon: a drive tests itself in the background and tells how far it is; its hosts feel it. Source: NVM Express
//! Base Specification 2.0, Device Self-test. Simplifications: a test is its reads alone, one part of the drive after the
//! other, each a segment of the test; the short one reads a hundredth of each part, the extended one everything; a loss
//! of power ends both, where a real drive goes on with the extended one. On the fast clock a test ends before its command
//! does. Test: `tests/all/nvme_self_test.rs`.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use nvme::command::{ALL_NAMESPACES, Command};
use nvme::log::SanitizeState;
use nvme::self_test::{Failure, RESULTS_MAX, SelfTestLog, SelfTestResult, code, outcome};
use nvme::status::CommandStatus;

use super::channel::{CommandReply, CommandResult};
use super::logs;
use super::subsystem::{NAMESPACE, Subsystem};
use crate::clock::Pace;
use crate::request::{Action, Answer, Fault, Request};
use crate::shared::locked;

/// Share of a part that the short test reads.
const SHORT_SHARE: u64 = 100;

/// A test that is going on.
#[derive(Debug)]
struct SelfTest {
    /// Its number among all.
    number: u64,
    code: u8,
    /// The controller that has begun it.
    controller_id: u16,
    namespace_id: u32,
    parts: Vec<Range<u64>>,
    parts_done: usize,
}

/// The test that is going on, and the results of the last ones.
#[derive(Debug, Default)]
pub struct SelfTests {
    running: Option<SelfTest>,
    results: VecDeque<SelfTestResult>,
    begun: u64,
}

impl SelfTests {
    /// The log page.
    pub fn log(&self) -> SelfTestLog {
        let percent = |test: &SelfTest| test.parts_done * 100 / test.parts.len().max(1);
        let running = self.running.as_ref().map(|test| (test.code, percent(test) as u8));
        SelfTestLog { running, results: self.results.iter().copied().collect() }
    }

    fn begin(
        &mut self,
        code: u8,
        controller_id: u16,
        namespace_id: u32,
        parts: Vec<Range<u64>>,
    ) -> Result<u64, CommandStatus> {
        if self.running.is_some() {
            return Err(CommandStatus::SELF_TEST);
        }
        self.begun += 1;
        let (number, parts_done) = (self.begun, 0);
        self.running =
            Some(SelfTest { number, code, controller_id, namespace_id, parts, parts_done });
        Ok(number)
    }

    /// The test of this number, or `None` if it has ended.
    fn running(&mut self, number: u64) -> Option<&mut SelfTest> {
        self.running.as_mut().filter(|test| test.number == number)
    }

    fn end(&mut self, outcome: u8, failure: Option<Failure>, power_on_hours: u64) {
        let Some(SelfTest { code, namespace_id, .. }) = self.running.take() else { return };
        let result = SelfTestResult { code, outcome, power_on_hours, namespace_id, failure };
        self.results.truncate(RESULTS_MAX - 1);
        self.results.push_front(result);
    }
}

/// Begins a test, or ends the one that is going on.
pub(super) fn command(
    subsystem: &Arc<Subsystem>,
    controller_id: u16,
    command: &Command,
) -> CommandResult {
    let namespace_id = command.namespace_id;
    if ![0, NAMESPACE, ALL_NAMESPACES].contains(&namespace_id) {
        return Err(CommandStatus::INVALID_NAMESPACE);
    }
    if subsystem.sanitize_log().state == SanitizeState::InProgress {
        return Err(CommandStatus::SANITIZING);
    }
    match command.dwords[0] as u8 & 0xf {
        code::ABORT => abort(subsystem, outcome::ABORTED, Scope::All),
        code @ (code::SHORT | code::EXTENDED) => {
            // The controller alone needs no time.
            let parts = if namespace_id == 0 { Vec::new() } else { subsystem.parts() };
            let parts = parts.into_iter().map(|part| shortened(&part, code)).collect();
            let number =
                locked(&subsystem.self_tests).begin(code, controller_id, namespace_id, parts)?;
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
    let hours = logs::power_on_hours(subsystem);
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
    let hours = logs::power_on_hours(subsystem);
    let bad = subsystem.shared.with(|disk| disk.faults.first_bad(disk.shape(), part));
    let block = bad.map(|offset| offset / u64::from(subsystem.block_bytes()));
    let mut tests = locked(&subsystem.self_tests);
    let Some(test) = tests.running(number) else { return };
    // A zone that went out of use is nothing that a test could read.
    if matches!(result, Ok(_) | Err(Fault::Zone(_))) {
        test.parts_done += 1;
        return;
    }
    let segment = (test.parts_done * 100 / test.parts.len() + 1) as u8;
    let status = CommandStatus::READ_ERROR;
    let failure = block.map(|block| Failure { segment, block, status });
    // Without a bad block the power was cut.
    let outcome = if failure.is_some() { outcome::FAILED } else { outcome::RESET };
    tests.end(outcome, failure, hours);
}

/// The tests that an event ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Each.
    All,
    /// Those of the namespace.
    Namespace,
    /// The short ones of this controller.
    Controller(u16),
}

/// Ends the test that is going on, if the event concerns it.
pub(super) fn abort(subsystem: &Subsystem, outcome: u8, scope: Scope) {
    let hours = logs::power_on_hours(subsystem);
    let mut tests = locked(&subsystem.self_tests);
    let is_concerned = tests.running.as_ref().is_some_and(|test| match scope {
        Scope::All => true,
        Scope::Namespace => test.namespace_id != 0,
        Scope::Controller(id) => test.code == code::SHORT && test.controller_id == id,
    });
    if is_concerned {
        tests.end(outcome, None, hours);
    }
}
