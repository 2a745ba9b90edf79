//! The map on NAND: a journal of its changes, and checkpoints that shorten the journal.
//!
//! Phenomenon: the map is in DRAM, so a drive must record its changes, and that costs programs and
//! die time like any data. Sources: every page contains its LBA and the order of its write in the
//! spare area; a mapping journal contains the same in compact form; and sequence numbers order both
//! (pblk, SPDK FTL: P2L maps and sequence ids). Checkpoints are written segment by segment, beside
//! the work of the drive and the journal (fuzzy dumps: Hagmann 1986), in two areas in turn, so that
//! the last complete one is never overwritten (ping-pong: Salem and Garcia-Molina 1987). Sizes are
//! those of the model.
//!
//! - [`Journal`]: the entries of a unit of data, one for each physical page, are appended when the
//!   unit is in NAND, a deallocation when it is executed. A journal unit is programmed when it is
//!   full; earlier for a flush after a deallocation, and before a victim is erased.
//! - [`Checkpoints`]: when half of the superblocks of the journal are full, every segment of the
//!   map is copied and programmed, then a commit unit once all data that the copies point to is in
//!   NAND. The journal superblocks that were full at the beginning are erased.
//!
//! Both use reserved superblocks behind those of the FTL. Simplifications: the superblocks of the
//! map wear apart from the others; headers are free; an entry has one size. Tests:
//! `tests/mechanisms/mapping.rs`, `tests/power_loss.rs`.

mod checkpoint;
mod journal;

use std::collections::VecDeque;
use std::ops::Range;

pub use checkpoint::Checkpoints;
pub use journal::{Journal, JournalUnit, Ring};

use base::facts::Sourced;

use crate::ftl::durability::Mark;
use crate::ftl::placement::Placement;
use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{ModelError, section};

/// Units of the journal beside its open superblock that every drive needs.
const JOURNAL_UNITS_MIN: u64 = 8;

/// Most program units that the collection of one victim may pad on a drive without placement handles: one each in the
/// streams of host, cache, collected and cold data.
const PADDED_UNITS: u64 = 4;

section! {
    /// The records of a drive about its map.
    pub struct MappingSection {
        /// Bytes of a journal entry: one map change.
        pub entry_bytes: Sourced<u32> [4, 1_024],
        /// Bytes of a map entry in a checkpoint.
        pub map_entry_bytes: Sourced<u32> [4, 1_024],
        /// Superblocks of the journal, taken from `nand.reserved_superblocks`.
        pub journal_superblocks: Sourced<u32> [3, 1 << 16],
    }
}

/// Sizes of journal and checkpoints, in units and pages of their drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MappingShape {
    /// Entries in a journal unit.
    pub unit_entries: u32,
    /// Logical pages in a segment of the map, which is one unit of a checkpoint.
    pub segment_pages: u32,
    /// Segments of the map.
    pub segments: u32,
    /// Superblocks of the journal.
    pub journal_superblocks: u32,
    /// Superblocks of each of the two checkpoint areas.
    pub area_superblocks: u32,
}

impl MappingShape {
    /// The shape for a drive: bytes of an entry of the journal and of the map, superblocks of the journal.
    pub fn new(
        geometry: &Geometry,
        entry_bytes: u32,
        map_entry_bytes: u32,
        journal_superblocks: u32,
    ) -> Self {
        let unit_bytes = geometry.unit_pages * geometry.physical_page_bytes() as u32;
        let segment_pages = unit_bytes / map_entry_bytes;
        let segments = geometry.logical_pages.div_ceil(segment_pages.into()) as u32;
        Self {
            unit_entries: unit_bytes / entry_bytes,
            segment_pages,
            segments,
            journal_superblocks,
            // One unit more commits the checkpoint.
            area_superblocks: (segments + 1).div_ceil(geometry.superblock_units),
        }
    }

    /// The logical pages of a segment of the map.
    pub fn pages_of(&self, segment: u32, geometry: &Geometry) -> Range<u64> {
        let first = u64::from(segment) * u64::from(self.segment_pages);
        first..(first + u64::from(self.segment_pages)).min(geometry.logical_pages)
    }

    /// Number of superblocks for journal and checkpoints.
    pub const fn superblocks(&self) -> u32 {
        self.journal_superblocks + 2 * self.area_superblocks
    }
}

/// To keep its erase from waiting, every victim may complete an open unit of each stream with
/// padding. A victim must on average give more than that, or collection would never end.
fn check_padding(basis: &Basis<'_>) -> Result<(), ModelError> {
    let Basis { check, geometry, .. } = basis;
    let spare_units = geometry.spare_superblocks() * u64::from(geometry.superblock_units);
    let of_handles = basis.placement.map_or(0, Placement::more_open_superblocks);
    let padded_units = PADDED_UNITS + u64::from(of_handles);
    let needed = padded_units * u64::from(geometry.superblocks);
    if spare_units > needed {
        return Ok(());
    }
    let rule = format!(
        "{spare_units} program units of spare space are left, and a drive with [mapping] needs more than \
         {padded_units} for each of its {} superblocks; lower it, enlarge nand.pages_per_block, or take a \
         larger scale",
        geometry.superblocks
    );
    let (key, capacity) = &basis.capacity;
    check.fail(key, capacity, &rule)
}

impl Section for MappingSection {
    type Plan = MappingShape;
    type State = MapLog;

    fn resolve(&self, basis: &Basis<'_>) -> Result<MappingShape, ModelError> {
        let Basis { check, geometry, blocks, .. } = basis;
        let reserved = blocks.scaled_reserved() * geometry.die_groups;
        let (entry, map_entry) = (self.entry_bytes.value, self.map_entry_bytes.value);
        let superblocks = self.journal_superblocks.value;
        if u64::from(superblocks - 1) * u64::from(geometry.superblock_units) < JOURNAL_UNITS_MIN {
            let rule = format!(
                "a superblock holds {} program units, and all but one of the journal's superblocks must \
                 hold {JOURNAL_UNITS_MIN}",
                geometry.superblock_units
            );
            return check.fail("mapping.journal_superblocks", superblocks, &rule);
        }
        check_padding(basis)?;
        let unit_entries = geometry.unit_bytes() / u64::from(map_entry);
        if geometry.logical_pages / unit_entries >= u64::from(u32::MAX / 2) {
            let rule = "a checkpoint must have fewer than 2^31 program units";
            return check.fail("mapping.map_entry_bytes", map_entry, rule);
        }
        let shape = MappingShape::new(geometry, entry, map_entry, superblocks);
        if shape.superblocks() <= reserved {
            return Ok(shape);
        }
        let rule = format!(
            "journal and two checkpoints of {} superblocks take {} of them",
            shape.area_superblocks,
            shape.superblocks()
        );
        check.fail("nand.reserved_superblocks", reserved, &rule)
    }

    fn begin(plan: MappingShape, geometry: &Geometry, _: usize) -> MapLog {
        MapLog::new(geometry, plan)
    }
}

/// The content of a unit of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum MapWrite {
    /// Journal entries; place of the unit in the order of journal programs.
    Journal {
        /// Its number since power on.
        sequence: u64,
    },
    /// A segment of a checkpoint.
    Segment,
    /// The end of a checkpoint.
    Commit,
}

/// Journal and checkpoints of one drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct MapLog {
    /// Their sizes.
    pub shape: MappingShape,
    /// Changes of the map since the last checkpoint, and their programs.
    pub journal: Journal,
    /// The map as programmed, piece by piece.
    pub checkpoints: Checkpoints,
    /// First superblock of the map over the whole drive.
    first_superblock: u32,
    /// Tags of deallocations that wait for room in the journal, oldest first.
    held: VecDeque<u32>,
}

impl MapLog {
    /// Journal and checkpoints of a new drive, erased.
    pub fn new(geometry: &Geometry, shape: MappingShape) -> Self {
        Self {
            shape,
            journal: Journal::new(geometry, shape),
            checkpoints: Checkpoints::new(geometry, shape, 0),
            first_superblock: geometry.superblocks,
            held: VecDeque::new(),
        }
    }

    /// Journal and checkpoints after power on: the remaining superblocks of the journal, the
    /// checkpoint area to use next, and recovered entries that must be written again.
    pub fn recovered(
        geometry: &Geometry,
        shape: MappingShape,
        ring: Ring,
        next_area: u32,
        entries: u64,
    ) -> Self {
        let mut log = Self::new(geometry, shape);
        log.journal.ring = ring;
        log.journal.append(entries);
        log.checkpoints = Checkpoints::new(geometry, shape, next_area);
        log
    }

    /// The superblock over the whole drive of the map's own superblock `index`.
    pub const fn superblock(&self, index: u32) -> u32 {
        self.first_superblock + index
    }

    /// The journal's superblock at a superblock of the drive; `None` if it holds checkpoints.
    fn journal_index(&self, superblock: u32) -> Option<u32> {
        let index = superblock.checked_sub(self.first_superblock)?;
        (index < self.shape.journal_superblocks).then_some(index)
    }

    /// Whether the journal has no room except its reserve: a checkpoint is urgent. The drive must
    /// not accept a deallocation then, or power could fail before the journal contains it.
    pub fn is_stuck(&self) -> bool {
        !self.journal.has_room()
    }

    /// Adds a deallocation that waits until the journal has room.
    pub fn hold(&mut self, tag: u32) {
        self.held.push_back(tag);
    }

    /// Number of waiting deallocations.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Removes the oldest waiting deallocation, or returns `None` if there is none or no room for
    /// it.
    pub fn take_held(&mut self) -> Option<u32> {
        if self.is_stuck() { None } else { self.held.pop_front() }
    }

    /// Begins a due checkpoint; returns the superblocks of the drive to erase for it.
    pub fn begin_checkpoint(&mut self) -> Option<Range<u32>> {
        let area = self.checkpoints.begin(&self.journal.ring.full)?;
        Some(self.superblock(area.start)..self.superblock(area.end))
    }

    /// The next segment to write, as (unit of the drive, segment).
    pub fn take_segment(&mut self) -> Option<(u32, u32)> {
        let is_urgent = self.is_stuck();
        let (unit, segment) = self.checkpoints.take_segment(is_urgent)?;
        Some((self.first_unit() + unit, segment))
    }

    /// The unit of the drive that commits the checkpoint, once all of its basis is durable.
    pub fn take_commit(&mut self, is_there: impl Fn(Mark, u64) -> bool) -> Option<u32> {
        Some(self.first_unit() + self.checkpoints.take_commit(is_there)?)
    }

    const fn first_unit(&self) -> u32 {
        self.first_superblock * self.journal.ring.superblock_units
    }

    /// The checkpoint is committed; returns the superblocks of the drive that may now be erased.
    pub fn supersede(&mut self, dies: u32) -> Vec<u32> {
        let superseded = self.checkpoints.committed();
        for &superblock in &superseded {
            self.journal.ring.erase(superblock, dies);
        }
        superseded.into_iter().map(|index| self.superblock(index)).collect()
    }

    /// Begins the erase of a superblock of the journal; returns its number over the whole drive.
    pub fn erase_journal(&mut self, index: u32, dies: u32) -> u32 {
        self.journal.ring.erase(index, dies);
        self.superblock(index)
    }

    /// A die has erased its blocks of a superblock of the drive; true if the journal has more room.
    pub fn die_erased(&mut self, superblock: u32) -> bool {
        let journal = self.journal_index(superblock);
        journal.is_some_and(|index| self.journal.ring.die_erased(index))
    }

    /// Checks that positions are in order and that every superblock of the journal is in one state.
    ///
    /// # Errors
    /// The first broken invariant, in words.
    pub fn check(&self) -> Result<(), String> {
        self.journal.check()
    }
}
