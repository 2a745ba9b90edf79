//! Checkpoints: copies of the whole map, segment by segment, in two areas in turn.

use super::MappingShape;
use crate::ftl::durability::Mark;
use crate::geometry::Geometry;

/// A checkpoint in progress.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Work {
    next_segment: u32,
    segments_under_way: u32,
    /// Segments that may be written before the journal grows further.
    allowed: u32,
    /// Superblocks of the journal that it supersedes.
    superseded: Vec<u32>,
    /// The basis of the copies, set with the last one: programs of data, and entries of the
    /// journal.
    rests_on: Option<(Mark, u64)>,
    is_committing: bool,
}

/// The checkpoints of one drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Checkpoints {
    shape: MappingShape,
    superblock_units: u32,
    dies: u32,
    /// Segments for each journal unit: a checkpoint ends within one superblock of the journal.
    pace: u32,
    /// The area to write next.
    area: u32,
    work: Option<Work>,
}

impl Checkpoints {
    pub(super) fn new(geometry: &Geometry, shape: MappingShape, area: u32) -> Self {
        Self {
            shape,
            superblock_units: geometry.superblock_units,
            dies: geometry.dies,
            pace: shape.segments.div_ceil(geometry.superblock_units),
            area,
            work: None,
        }
    }

    /// Begins a checkpoint if none is in progress and enough superblocks of the journal are full;
    /// returns the superblocks of the map to erase for it.
    pub fn begin(&mut self, full: &[u32]) -> Option<std::ops::Range<u32>> {
        let limit = (self.shape.journal_superblocks / 2).max(1);
        if self.work.is_some() || (full.len() as u32) < limit {
            return None;
        }
        let superseded = full.to_vec();
        self.work = Some(Work { superseded, allowed: self.pace, ..Work::default() });
        let first = self.first_superblock();
        Some(first..first + self.shape.area_superblocks)
    }

    fn first_superblock(&self) -> u32 {
        self.shape.journal_superblocks + self.area * self.shape.area_superblocks
    }

    /// The journal has grown by a unit.
    pub fn journal_grew(&mut self) {
        if let Some(work) = &mut self.work {
            work.allowed = work.allowed.saturating_add(self.pace);
        }
    }

    /// The next segment to write, as (unit of the map, segment); `is_urgent` lifts the pace.
    pub fn take_segment(&mut self, is_urgent: bool) -> Option<(u32, u32)> {
        let first_unit = self.first_superblock() * self.superblock_units;
        let work = self.work.as_mut()?;
        let is_allowed = is_urgent || work.allowed > 0;
        let all_copied = work.next_segment == self.shape.segments;
        if all_copied || !is_allowed || work.segments_under_way >= self.dies {
            return None;
        }
        work.allowed = work.allowed.saturating_sub(1);
        work.segments_under_way += 1;
        work.next_segment += 1;
        Some((first_unit + work.next_segment - 1, work.next_segment - 1))
    }

    /// A segment is in NAND.
    pub fn segment_ended(&mut self) {
        if let Some(work) = &mut self.work {
            work.segments_under_way -= 1;
        }
    }

    /// Whether the last segment has been copied and the basis of the copies is not set yet.
    pub fn is_copied(&self) -> bool {
        let all = self.shape.segments;
        self.work.as_ref().is_some_and(|work| work.next_segment == all && work.rests_on.is_none())
    }

    /// Sets the basis of the copies: these programs of data, and the entries of the journal before
    /// a position.
    pub fn rest_on(&mut self, programs: Mark, position: u64) {
        if let Some(work) = &mut self.work {
            work.rests_on = Some((programs, position));
        }
    }

    /// The unit of the map that commits the checkpoint, once all of its basis is durable.
    pub fn take_commit(&mut self, is_there: impl Fn(Mark, u64) -> bool) -> Option<u32> {
        let unit = self.first_superblock() * self.superblock_units + self.shape.segments;
        let work = self.work.as_mut()?;
        let (programs, position) = work.rests_on?;
        if work.is_committing || work.segments_under_way > 0 || !is_there(programs, position) {
            return None;
        }
        work.is_committing = true;
        Some(unit)
    }

    /// The checkpoint is committed; returns the superblocks of the journal that it supersedes.
    pub fn committed(&mut self) -> Vec<u32> {
        self.area = 1 - self.area;
        self.work.take().map(|work| work.superseded).unwrap_or_default()
    }
}
