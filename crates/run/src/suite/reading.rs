//! The reading form of a test (`--read-only`): its steps that only read, on the data that the drive holds.
//!
//! No step purges, fills or writes, so the state of the drive is that of its use. The figures of the steps that are
//! left out are missing. A read that finds nothing but zeros may be of a block that was never written, which a drive
//! answers without its NAND: such reads are counted and marked.

use serde_json::Value;
use target::TargetError;

use super::Test;
use super::procedure::{PhaseSpec, Procedure, Step};
use crate::error::RunError;

/// Label of the condition under which a drive was read.
const STATE: &str = "data on the drive";
const AS_FOUND: &str = "as found";

const NOTE: &str = "read only: nothing was purged, filled or written, so the figures are of the drive with the data \
                    that it holds; figures of tests that prepare a drive are of another state";

impl Procedure {
    /// The steps that only read. Pauses and changes of settings go as well: without the step behind them they serve
    /// nothing.
    ///
    /// # Errors
    /// [`TargetError::Refused`] with the code `read-only` if none only reads.
    pub(crate) fn reading(mut self, test: Test) -> Result<Self, RunError> {
        self.steps = self.steps.into_iter().filter_map(Step::reading).collect();
        if self.steps.is_empty() {
            return Err(no_reads(test));
        }
        self.config.insert("read_only".to_owned(), Value::Bool(true));
        self.conditions.insert(STATE.to_owned(), AS_FOUND.to_owned());
        self.notes.push(NOTE.to_owned());
        Ok(self)
    }
}

impl Step {
    fn reading(self) -> Option<Self> {
        match self {
            Self::Phase(_) | Self::Adapted { .. } | Self::Rounds { .. } => {
                self.phases().iter().all(PhaseSpec::only_reads).then_some(self)
            }
            Self::Chosen { mut phases, phases_max, wanted } => {
                phases.retain(PhaseSpec::only_reads);
                (!phases.is_empty()).then_some(Self::Chosen { phases, phases_max, wanted })
            }
        }
    }
}

fn no_reads(test: Test) -> RunError {
    let readers = Test::ALL.into_iter().filter(|test| test.reads_alone());
    let names: Vec<_> = readers.map(Test::name).collect();
    RunError::Target(TargetError::Refused {
        code: "read-only",
        message: format!(
            "`{}` with these settings has no step that only reads, as --read-only wants; tests that have some: {}",
            test.name(),
            names.join(", ")
        ),
    })
}
