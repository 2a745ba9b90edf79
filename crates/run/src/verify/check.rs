//! Reads everything back and compares it with what was promised.

use std::collections::BTreeMap;

use base::OpKind;
use io::verifiable::{SECTOR_BYTES, Sector, read};
use io::{RealTarget, Target};

use super::promises::Promises;
use super::{Layout, all};
use crate::error::RunError;

/// Damaged blocks that are told one by one; all are counted.
const TOLD_MAX: usize = 20;

/// What a block holds, against what was promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// The promised version.
    Kept,
    /// A later version that was never promised: it was under way when the power went.
    Newer,
    /// Parts of several later versions, none of them promised; allowed, but not every drive does it.
    TornUnpromised,
    /// An older version of the block.
    Stale,
    /// Nothing of this run at all.
    Lost,
    /// Parts of several versions, of which one is older than promised or none at all.
    Torn,
    /// What was written for another address.
    Misdirected,
}

impl Finding {
    /// The word in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Newer => "newer",
            Self::TornUnpromised => "torn-unpromised",
            Self::Stale => "stale",
            Self::Lost => "lost",
            Self::Torn => "torn",
            Self::Misdirected => "misdirected",
        }
    }

    /// True where a promise was broken.
    #[must_use]
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::Stale | Self::Lost | Self::Torn | Self::Misdirected)
    }
}

/// A block that does not hold what was promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Where.
    pub offset_bytes: u64,
    /// What is wrong.
    pub finding: Finding,
    /// The generation promised.
    pub promised: u64,
    /// The sectors as they are.
    pub found: Vec<Sector>,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Blocks by what they hold.
    pub counts: BTreeMap<Finding, u64>,
    /// The first broken ones.
    pub broken: Vec<Broken>,
}

impl Report {
    /// Blocks that do not hold what was promised.
    #[must_use]
    pub fn broken_blocks(&self) -> u64 {
        self.counts.iter().filter(|(finding, _)| finding.is_broken()).map(|(_, count)| count).sum()
    }
}

/// Reads every block that was promised and judges it.
///
/// # Errors
/// Where the target fails to read.
pub fn check(target: &mut RealTarget, promises: &Promises) -> Result<Report, RunError> {
    let layout = promises.header.layout;
    let seed = promises.header.seed;
    let promised: Vec<(u64, u64)> = promises.durable.iter().map(|(b, g)| (*b, *g)).collect();
    let depth = target.limits().queue_depth_max as usize;
    let mut report = Report::default();
    for piece in promised.chunks(depth) {
        let blocks: Vec<u64> = piece.iter().map(|(block, _)| *block).collect();
        all(target, &layout, OpKind::Read, &blocks)?;
        for (&(block, promised), tag) in piece.iter().zip(0..) {
            let bytes = target.read_bytes(tag, layout.block_bytes as usize).unwrap_or_default();
            let found: Vec<Sector> =
                bytes.chunks(SECTOR_BYTES).map(|sector| read(sector, seed)).collect();
            report.add(&layout, block, promised, found);
        }
    }
    Ok(report)
}

impl Report {
    fn add(&mut self, layout: &Layout, block: u64, promised: u64, found: Vec<Sector>) {
        let offset_bytes = layout.offset_bytes(block);
        let finding = judge(offset_bytes, promised, &found);
        *self.counts.entry(finding).or_default() += 1;
        if finding.is_broken() && self.broken.len() < TOLD_MAX {
            self.broken.push(Broken { offset_bytes, finding, promised, found });
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
            Sector::Zeros | Sector::Unknown => foreign += 1,
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
