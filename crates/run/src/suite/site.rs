//! The place of a test, and the settings that depend on it.

use base::Bytes;
use target::{Identity, Limits};

use super::procedure::{Notes, PhaseSpec};
use super::steps;
use crate::error::RunError;
use crate::params::Params;

/// Regions below full size have whole commands of the longest kind that a test uses.
const REGION_STEP: Bytes = Bytes(8 << 20);
/// The shortest region below full size: a row of the longest commands, 500 zones of 128 KiB, or a random span in
/// which few commands meet.
const REGION_MIN: Bytes = Bytes(64 << 20);

/// A size for a drive of full size, on this target: in proportion to the size of a simulated drive.
pub fn in_proportion(bytes: Bytes, identity: &Identity) -> Bytes {
    let Some(scale) = identity.scale() else { return bytes };
    let scaled = Bytes(scale.of(bytes.0)).align_down(REGION_STEP);
    scaled.max(REGION_MIN).min(bytes)
}

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
    /// The first bytes of the span, as many as the parameter says. A default is in proportion to the
    /// size of a simulated drive; one that is too large becomes the whole span, with a note.
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
        let asked = if params.is_set(name) { asked } else { in_proportion(asked, self.identity) };
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
    pub fn fill(&self, name: &str, span_bytes: u64) -> PhaseSpec {
        steps::fill(name, span_bytes, self.fill_depth())
    }

    /// A step after a purge and a fill of the first `span_bytes`: steps with compared figures begin
    /// alike, after any earlier writes.
    pub fn from_filled(&self, span_bytes: u64, step: PhaseSpec) -> [PhaseSpec; 3] {
        [steps::purge(), self.fill("prepare", span_bytes), step]
    }

    /// Outstanding commands of a fill: no figure depends on it, so it is as deep as the target
    /// supports.
    pub fn fill_depth(&self) -> u32 {
        steps::FILL_QUEUE_DEPTH.min(self.limits.queue_depth_max)
    }

    /// The note that commands of this size are too small for the target.
    pub fn too_small(&self, block_bytes: u32) -> String {
        let block = Bytes(block_bytes.into());
        let smallest = Bytes(self.limits.logical_block_bytes.into());
        format!("transfers of {block} are not supported: the target's blocks are {smallest}")
    }

    /// Whether time is virtual, so that hours cost minutes.
    pub fn is_simulated(&self) -> bool {
        self.identity.kind.is_simulated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use target::TargetKind;

    #[test]
    fn a_region_is_in_proportion_to_the_drive_and_holds_what_a_test_needs() {
        let of = |scale: Option<&str>, asked: u64| {
            let scale = scale.map(|scale| (Identity::SCALE.to_owned(), scale.to_owned()));
            let identity = Identity {
                kind: TargetKind::Simulated,
                name: String::new(),
                spec: String::new(),
                serial: None,
                firmware: None,
                capacity_bytes: 1 << 40,
                raw_bytes: None,
                log_bytes: None,
                engine: String::new(),
                facts: base::Facts::default(),
                details: scale.into_iter().collect(),
            };
            in_proportion(Bytes(asked), &identity).0
        };
        let (gib, mib) = (1 << 30, 1 << 20);
        assert_eq!(of(None, 8 * gib), 8 * gib);
        assert_eq!(of(Some("1/32"), 8 * gib), 256 * mib);
        assert_eq!(of(Some("1/30"), 8 * gib), 272 * mib, "whole commands of 8 MiB");
        assert_eq!(of(Some("1/1024"), 8 * gib), 64 * mib, "not less than a test needs");
        assert_eq!(of(Some("1/32"), 5 * mib), 5 * mib, "not more than asked for");
    }
}
