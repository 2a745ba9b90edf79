//! The part of a simulated drive that a test simulates: write amplification and rates in steady state are
//! those of the whole drive, for a part of the work.

use base::{Bytes, Ratio};
use target::Identity;

use super::keys::{Key, Reading, entry};
use super::procedure::PhaseSpec;
use super::{Conditions, steps};
use crate::error::RunError;
use crate::params::Param;

/// The parameter, as the tests that take it declare it.
pub(crate) const SCALE: Param = Param::new(
    "scale",
    "auto",
    "part of a simulated drive that is simulated, such as 1/16 or 1 for the whole; auto: at least 12 GB",
);

/// The smallest part of a simulated drive that `auto` selects, and the most that it divides by.
const PART_BYTES_MIN: u64 = 12_000_000_000;
const PARTS_MAX: u64 = 64;
/// The span of a part is a multiple of this, and is within every part.
const SPAN_STEP: Bytes = Bytes(8 << 20);

/// The part of the drive that is simulated, and its span.
pub(crate) struct DriveShare {
    pub(crate) scale: Ratio,
    pub(crate) span_bytes: u64,
}

impl DriveShare {
    /// Whether the drive is smaller than the model.
    fn is_part(&self) -> bool {
        !self.scale.complement().is_zero()
    }

    /// The fresh state of the part.
    pub(crate) fn purge(&self) -> PhaseSpec {
        if self.is_part() { steps::purge_to_scale(self.scale) } else { steps::purge() }
    }

    /// The share in words, if it is not the whole.
    pub(crate) fn conditions(&self) -> Conditions {
        let words = || format!("{} of the drive is simulated", self.scale);
        self.is_part().then(|| ("scale".to_owned(), words())).into_iter().collect()
    }
}

entry! { DriveShare: |value| value.scale.to_string() }

/// The part of the drive that is simulated: the requested one, or the smallest that tells as much.
pub(crate) enum ShareOfDrive {}

impl Key for ShareOfDrive {
    type Value = DriveShare;

    fn read(Reading { name, params, site, .. }: Reading<'_>) -> Result<DriveShare, RunError> {
        let is_whole = site.is_simulated() && site.identity.scale().is_none();
        let text = params.text(name);
        let scale: Ratio = if text == "auto" {
            let parts = if is_whole { parts(site.identity) } else { 1 };
            Ratio::new(1, parts).unwrap_or(Ratio::ONE)
        } else {
            params.get(name)?
        };
        if scale.is_zero() || !is_whole && !scale.complement().is_zero() {
            return Err(RunError::Usage(format!(
                "`--set {name}={text}` cannot be used on {}: only a simulated drive at its full size has smaller parts, \
                 such as 1/16; leave it away",
                site.identity.name
            )));
        }
        let span_bytes = match scale.complement().is_zero() {
            true => site.span_bytes,
            false => Bytes(scale.of(site.span_bytes)).align_down(SPAN_STEP).0,
        };
        Ok(DriveShare { scale, span_bytes })
    }
}

/// The number of parts of which `auto` simulates one: a power of two that divides the pages of a block, so that the
/// part has exactly its share of the NAND and of the capacity.
fn parts(identity: &Identity) -> u64 {
    let details = identity.details.get(Identity::BLOCK_PAGES);
    let pages: u64 = details.and_then(|pages| pages.parse().ok()).unwrap_or(1);
    let doubled = std::iter::successors(Some(1), |parts| Some(parts * 2));
    let is_large = |parts: u64| identity.capacity_bytes / parts >= PART_BYTES_MIN;
    let fits =
        |parts: &u64| *parts <= PARTS_MAX && is_large(*parts) && pages.is_multiple_of(*parts);
    doubled.take_while(fits).last().unwrap_or(1)
}
