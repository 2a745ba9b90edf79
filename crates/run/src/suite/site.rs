//! The place of a test, and the settings that depend on it.

use base::Bytes;
use target::{Identity, Limits};

use super::procedure::{Notes, PhaseSpec};
use super::steps;
use crate::error::RunError;
use crate::params::Params;

/// The place of a test.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Available bytes, from LBA 0.
    pub span_bytes: u64,
    /// The target's identity.
    pub identity: &'a Identity,
    /// The target's limits.
    pub limits: &'a Limits,
    /// Whether a meter reads its power.
    pub has_meter: bool,
}

impl Site<'_> {
    /// The first bytes of the span, as many as the parameter says. A default that is too large
    /// becomes the whole span, with a note.
    ///
    /// # Errors
    /// [`RunError::Usage`] if the user asked for more than the span: nothing else may replace it.
    pub fn region(&self, params: &Params, name: &str, notes: &mut Notes) -> Result<u64, RunError> {
        let asked: Bytes = params.get(name)?;
        if asked.0 == 0 {
            return Err(RunError::Usage(format!(
                "`--set {name}={}` would measure nothing; expected a size above 0, such as 1GiB",
                params.text(name)
            )));
        }
        if asked.0 <= self.span_bytes {
            return Ok(asked.0);
        }
        let span = steps::size(self.span_bytes);
        if params.is_set(name) {
            return Err(RunError::Usage(format!(
                "`--set {name}={asked}` asks for {}, more than the span of {span} on {}; ask for no more than that",
                steps::size(asked.0),
                self.identity.name
            )));
        }
        notes.push(format!(
            "the span is only {span}, so the test uses that and not {}",
            steps::size(asked.0)
        ));
        Ok(self.span_bytes)
    }

    /// The depths of the parameter that the target supports; a note names the rest of a default.
    ///
    /// # Errors
    /// [`RunError::Usage`] if the user asked for a deeper queue than the target has.
    pub fn depths(
        &self,
        params: &Params,
        name: &str,
        notes: &mut Notes,
    ) -> Result<Vec<u32>, RunError> {
        let most = self.limits.queue_depth_max;
        let takes = format!("the target takes {most} commands at a time");
        let asked: Vec<u32> = params.list(name)?;
        let (possible, too_deep): (Vec<u32>, Vec<u32>) =
            asked.iter().partition(|depth| **depth <= most);
        match too_deep.first() {
            Some(depth) if params.is_set(name) => Err(RunError::Usage(format!(
                "`--set {name}={}` is not possible: QD {depth} is too deep, {takes}",
                params.text(name)
            ))),
            _ => {
                let note = |depth| format!("QD {depth} is not supported: {takes}");
                notes.extend(too_deep.into_iter().map(note));
                Ok(possible)
            }
        }
    }

    /// Writes the first `span_bytes` in LBA order, so that every LBA holds data.
    #[must_use]
    pub fn fill(&self, name: &str, span_bytes: u64) -> PhaseSpec {
        steps::fill(name, span_bytes, self.fill_depth())
    }

    /// A step after a purge and a fill of the first `span_bytes`: steps with compared figures begin
    /// alike, after any earlier writes.
    #[must_use]
    pub fn from_filled(&self, span_bytes: u64, step: PhaseSpec) -> [PhaseSpec; 3] {
        [steps::purge(), self.fill("prepare", span_bytes), step]
    }

    /// Outstanding commands of a fill: no figure depends on it, so it is as deep as the target
    /// supports.
    #[must_use]
    pub fn fill_depth(&self) -> u32 {
        steps::FILL_QUEUE_DEPTH.min(self.limits.queue_depth_max)
    }

    /// The note that commands of this size are too small for the target.
    #[must_use]
    pub fn too_small(&self, block_bytes: u32) -> String {
        let block = Bytes(block_bytes.into());
        let smallest = Bytes(self.limits.logical_block_bytes.into());
        format!("transfers of {block} are not supported: the target's blocks are {smallest}")
    }

    /// Whether time is virtual, so that hours cost minutes.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.identity.kind.is_simulated()
    }
}
