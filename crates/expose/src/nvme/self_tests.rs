//! The self-test that is going on, and the results of the last ones.

use std::collections::VecDeque;
use std::ops::Range;

use nvme::self_test::{Failure, RESULTS_MAX, SelfTestLog, SelfTestResult, code};
use nvme::status::CommandStatus;

/// The tests that an event ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Each.
    All,
    /// Those of the namespace.
    Namespace,
    /// The short ones of this controller.
    Controller(u16),
}

/// A test that is going on.
#[derive(Debug)]
pub struct SelfTest {
    /// Its number among all.
    number: u64,
    code: u8,
    /// The controller that has begun it.
    controller_id: u16,
    namespace_id: u32,
    /// The bytes of each part that it reads.
    pub parts: Vec<Range<u64>>,
    pub parts_done: usize,
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

    /// Begins a test of these parts. Returns its number.
    ///
    /// # Errors
    /// [`CommandStatus::SELF_TEST`]: one is going on.
    pub fn begin(
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
    pub fn running(&mut self, number: u64) -> Option<&mut SelfTest> {
        self.running.as_mut().filter(|test| test.number == number)
    }

    /// Ends the test that is going on.
    pub fn end(&mut self, outcome: u8, failure: Option<Failure>, power_on_hours: u64) {
        let Some(SelfTest { code, namespace_id, .. }) = self.running.take() else { return };
        let result = SelfTestResult { code, outcome, power_on_hours, namespace_id, failure };
        self.results.truncate(RESULTS_MAX - 1);
        self.results.push_front(result);
    }

    /// Ends the test that is going on, if the event concerns it.
    pub fn abort(&mut self, outcome: u8, scope: Scope, power_on_hours: u64) {
        let is_concerned = self.running.as_ref().is_some_and(|test| match scope {
            Scope::All => true,
            Scope::Namespace => test.namespace_id != 0,
            Scope::Controller(id) => test.code == code::SHORT && test.controller_id == id,
        });
        if is_concerned {
            self.end(outcome, None, power_on_hours);
        }
    }
}
