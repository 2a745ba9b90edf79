//! Reads all blocks back and compares them with the promises.

use std::collections::BTreeMap;

use base::verifiable::{SECTOR_BYTES, Sector, read};
use base::{Op, OpKind, Status};
use target::Target;
use target::TargetError;
use target::error::is_of_medium;

use super::promises::Promises;
use super::{CommandOutcome, all};
use crate::error::RunError;

/// Damaged blocks in the report; all are counted.
const TOLD_MAX: usize = 20;

/// The content of a block, compared with the promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// The promised version.
    Kept,
    /// A later version that was never promised: it was in progress at the power cut.
    Newer,
    /// Parts of several later versions, none of them promised; permitted, but not every drive does
    /// it.
    TornUnpromised,
    /// An older version of the block.
    Stale,
    /// Nothing of this run at all.
    Lost,
    /// Parts of several versions, of which one is older than promised or unknown.
    Torn,
    /// Data for another address.
    Misdirected,
    /// The drive reports that it cannot read the block.
    Unreadable,
}

impl Finding {
    /// The word in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Newer => "newer",
            Self::TornUnpromised => "torn-unpromised",
            Self::Stale => "stale",
            Self::Lost => "lost",
            Self::Torn => "torn",
            Self::Misdirected => "misdirected",
            Self::Unreadable => "unreadable",
        }
    }

    /// Whether a promise was broken.
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::Stale | Self::Lost | Self::Torn | Self::Misdirected | Self::Unreadable)
    }
}

/// A block without its promised content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenBlock {
    /// Its place.
    pub offset_bytes: u64,
    /// The fault.
    pub finding: Finding,
    /// The generation promised.
    pub promised: u64,
    /// The actual sectors; none if they cannot be read.
    pub found: Vec<Sector>,
}

/// The result of the check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of blocks by content.
    pub counts: BTreeMap<Finding, u64>,
    /// The first broken ones.
    pub broken: Vec<BrokenBlock>,
    /// Broken blocks with data of another run: if that came later, the drive is not to blame.
    pub other_run_blocks: u64,
}

impl Report {
    /// Number of blocks without their promised content.
    pub fn broken_blocks(&self) -> u64 {
        self.counts.iter().filter(|(finding, _)| finding.is_broken()).map(|(_, count)| count).sum()
    }
}

/// Reads every promised block and judges it.
///
/// # Errors
/// If the target cannot contain the blocks, is gone, or fails in other ways than by unreadable
/// blocks; also if every block is unreadable: a target without any answer is broken itself, rather
/// than its promises.
pub fn check(target: &mut impl Target, promises: &Promises) -> Result<Report, RunError> {
    let layout = promises.header.layout;
    layout.require_held_by(target)?;
    let seed = promises.header.seed;
    let promised: Vec<(u64, u64)> = promises.durable.iter().map(|(b, g)| (*b, *g)).collect();
    let depth = target.limits().queue_depth_max as usize;
    let (mut report, mut first_unreadable) = (Report::default(), None);
    for piece in promised.chunks(depth) {
        let blocks: Vec<u64> = piece.iter().map(|(block, _)| *block).collect();
        for (ended, &(_, promised)) in
            all(target, &layout, OpKind::Read, &blocks)?.iter().zip(piece)
        {
            let found = sectors(target, ended, seed)?;
            if found.is_none() && first_unreadable.is_none() {
                first_unreadable = ended.require_ok(target).err();
            }
            report.add(ended.op.offset, promised, found);
        }
    }
    match first_unreadable {
        Some(error) if report.is_silence() => Err(error),
        _ => Ok(report),
    }
}

/// The content of a block, or `None` if the drive, which is still there, cannot read it.
fn sectors(
    target: &mut impl Target,
    ended: &CommandOutcome,
    seed: u64,
) -> Result<Option<Vec<Sector>>, RunError> {
    let Op { tag, offset, len, .. } = ended.op;
    if is_unreadable(ended.status) {
        target.confirm_identity()?;
        return Ok(None);
    }
    ended.require_ok(target)?;
    let bytes = target.read_bytes(tag, len as usize).ok_or_else(|| {
        TargetError::Unsupported(format!("what was read at offset {offset} cannot be looked at"))
    })?;
    let sectors = bytes.chunks(SECTOR_BYTES).zip((offset..).step_by(SECTOR_BYTES));
    Ok(Some(sectors.map(|(sector, here_bytes)| read(sector, seed, here_bytes)).collect()))
}

fn is_unreadable(status: Status) -> bool {
    matches!(status, Status::Failed { errno } if is_of_medium(errno))
}

impl Report {
    /// Whether no block could be read.
    fn is_silence(&self) -> bool {
        self.counts.keys().eq([&Finding::Unreadable])
    }

    fn add(&mut self, offset_bytes: u64, promised: u64, found: Option<Vec<Sector>>) {
        let finding = match &found {
            Some(found) => judge(offset_bytes, promised, found),
            None => Finding::Unreadable,
        };
        let found = found.unwrap_or_default();
        *self.counts.entry(finding).or_default() += 1;
        if !finding.is_broken() {
            return;
        }
        let is_other = |sector: &Sector| matches!(sector, Sector::OtherRun { .. });
        self.other_run_blocks += u64::from(found.iter().any(is_other));
        if self.broken.len() < TOLD_MAX {
            self.broken.push(BrokenBlock { offset_bytes, finding, promised, found });
        }
    }
}

/// Judges one block by its sectors.
fn judge(offset_bytes: u64, promised: u64, found: &[Sector]) -> Finding {
    let mut generations = Vec::with_capacity(found.len());
    let mut foreign = 0;
    for (sector, expected) in found.iter().zip((offset_bytes..).step_by(SECTOR_BYTES)) {
        match *sector {
            Sector::Intact { offset_bytes, .. } if offset_bytes != expected => {
                return Finding::Misdirected;
            }
            Sector::Intact { generation, .. } => generations.push(generation),
            Sector::OtherRun { .. } | Sector::Zeros | Sector::Unknown => foreign += 1,
        }
    }
    let oldest = generations.iter().min().copied();
    let newest = generations.iter().max().copied();
    match (oldest, newest) {
        (None, _) | (_, None) => Finding::Lost,
        (Some(_), Some(_)) if foreign > 0 => Finding::Torn,
        (Some(oldest), Some(newest)) if oldest != newest => {
            if oldest < promised {
                Finding::Torn
            } else {
                Finding::TornUnpromised
            }
        }
        (Some(generation), _) if generation < promised => Finding::Stale,
        (Some(generation), _) if generation > promised => Finding::Newer,
        _ => Finding::Kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_cannot_be_read_is_a_broken_promise_but_silence_is_none() {
        let mut report = Report::default();
        report.add(8192, 3, None);
        assert!(report.is_silence());
        let sector = Sector::Intact { offset_bytes: 0, generation: 1 };
        report.add(0, 1, Some(vec![sector]));
        assert!(!report.is_silence());
        assert_eq!(report.counts, BTreeMap::from([(Finding::Kept, 1), (Finding::Unreadable, 1)]));
        assert_eq!((report.broken_blocks(), report.broken[0].offset_bytes), (1, 8192));
    }

    #[test]
    fn only_what_the_medium_lost_is_unreadable() {
        // EIO, ENODATA and EILSEQ; EINVAL, ENODEV and ENXIO say nothing of the medium.
        for (errno, expected) in
            [(5, true), (61, true), (84, true), (22, false), (19, false), (6, false)]
        {
            assert_eq!(is_unreadable(Status::Failed { errno }), expected, "{errno}");
        }
        assert!(!is_unreadable(Status::Ok));
    }
}
