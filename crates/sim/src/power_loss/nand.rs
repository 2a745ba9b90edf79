//! The NAND of a drive as a controller finds it at power on.

use std::collections::BTreeMap;

use crate::ftl::{NO_PAGE, StreamId};
use crate::geometry::Geometry;
use crate::mechanism::mapping::MappingShape;

/// The content of a page's spare area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Spare {
    /// The LBA page, or [`NO_PAGE`] for padding.
    pub logical: u64,
    /// Number of the map change that put it here.
    pub sequence: u64,
    /// Number of the host's write that made the data; a copy keeps it.
    pub version: u64,
    /// The stream that wrote it.
    pub stream: StreamId,
    /// Index among the physical pages of the LBA page, from 0; drives that compress have several.
    pub part: u8,
    /// Number of physical pages of the LBA page; known from the first one.
    pub parts: u8,
}

/// State of a program unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum UnitState {
    /// Erased.
    Blank,
    /// Unreadable: power failed during its program or erase.
    Torn,
    /// Readable.
    Written,
}

/// One map change in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct JournalRecord {
    /// The LBA page.
    pub logical: u64,
    /// Number of the change.
    pub sequence: u64,
    /// Its place after the change, or [`NO_PAGE`].
    pub physical: u64,
}

impl JournalRecord {
    /// The change that mapped an LBA page to a physical page.
    pub(super) fn of((physical, spare): (u64, Spare)) -> Self {
        Self { logical: spare.logical, sequence: spare.sequence, physical }
    }
}

/// The point from which a search of the data must complete the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Anchor {
    /// Number of the next map change at the time of the journal unit.
    pub sequence: u64,
    /// Superblocks that were open then, or had units that no journal unit covers.
    pub unsettled: Vec<u32>,
}

/// Content of a unit of the map.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum MapUnit {
    /// Journal.
    Journal {
        /// Its number; numbers grow, with gaps after a loss of power.
        number: u64,
        /// Number of the preceding unit: a unit counts only if that one does.
        previous: u64,
        /// Map changes.
        records: Vec<JournalRecord>,
        /// Its anchor: the part of the data that it does not cover.
        anchor: Anchor,
    },
    /// A part of the map.
    Segment {
        /// Number of the checkpoint.
        checkpoint: u64,
        /// First LBA page.
        first: u64,
        /// Number of the next map change at the time of the copy.
        sequence: u64,
        /// Places of the LBA pages from there on.
        map: Vec<u64>,
    },
    /// The end of a checkpoint.
    Commit {
        /// Its number.
        checkpoint: u64,
        /// The last journal unit that was safe then with all earlier ones.
        journal: u64,
        /// The part of the data that this journal unit does not cover.
        anchor: Anchor,
    },
}

/// The content of NAND, and nothing else.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct NandContents {
    pub(super) geometry: Geometry,
    pub(super) shape: MappingShape,
    /// States of all units: those of the FTL, then those of the map.
    pub(super) units: Vec<UnitState>,
    /// Spare areas of the FTL's pages; meaningless for units that are not written.
    pub(super) spares: Vec<Spare>,
    pub(super) map_units: BTreeMap<u32, MapUnit>,
    pub(super) erase_counts: Vec<u32>,
}

pub(super) const ERASED: Spare =
    Spare { logical: NO_PAGE, sequence: 0, version: 0, stream: StreamId::Host, part: 0, parts: 1 };

impl NandContents {
    pub(super) fn new(geometry: Geometry, shape: MappingShape) -> Self {
        let superblocks = geometry.superblocks + shape.superblocks();
        Self {
            geometry,
            shape,
            units: vec![UnitState::Blank; (superblocks * geometry.superblock_units) as usize],
            spares: vec![ERASED; geometry.physical_pages() as usize],
            map_units: BTreeMap::new(),
            erase_counts: vec![0; geometry.superblocks as usize],
        }
    }

    /// The spare area of a page, or `None` if the page cannot be read or is empty.
    pub fn read(&self, physical: u64) -> Option<Spare> {
        let unit = physical / u64::from(self.geometry.unit_pages);
        let is_written = self.units[unit as usize] == UnitState::Written;
        let spare = self.spares.get(physical as usize).copied();
        spare.filter(|spare| is_written && spare.logical != NO_PAGE)
    }

    /// The spare area of the LBA page that begins at a physical page; `None` if a part of it cannot be
    /// read.
    pub fn read_whole(&self, physical: u64) -> Option<Spare> {
        let first = self.read(physical).filter(|spare| spare.part == 0)?;
        let is_there = |part: u8| {
            self.read(physical + u64::from(part))
                .is_some_and(|spare| (spare.sequence, spare.part) == (first.sequence, part))
        };
        (1..first.parts).all(is_there).then_some(first)
    }

    /// The readable physical pages of a unit of data, with their spares.
    pub(super) fn pages_of(&self, unit: u32) -> impl Iterator<Item = (u64, Spare)> + '_ {
        let first = self.geometry.first_page_of(unit);
        (first..first + u64::from(self.geometry.unit_pages))
            .filter_map(|physical| Some((physical, self.read(physical)?)))
    }

    /// The readable LBA pages that begin in a unit of data, with the spares of their first parts.
    pub(super) fn whole_pages_of(&self, unit: u32) -> impl Iterator<Item = (u64, Spare)> + '_ {
        let first = self.geometry.first_page_of(unit);
        (first..first + u64::from(self.geometry.unit_pages))
            .filter_map(|physical| Some((physical, self.read_whole(physical)?)))
    }

    /// The map changes behind the pages that begin in a unit of data.
    pub(super) fn records_of(&self, unit: u32) -> Vec<JournalRecord> {
        self.whole_pages_of(unit).map(JournalRecord::of).collect()
    }

    /// The map changes that a unit of data has completed: those of the pages that begin in it, and
    /// of one that began in the preceding unit and is complete now.
    pub(super) fn records_completed_by(&self, unit: u32) -> Vec<JournalRecord> {
        let first = self.geometry.first_page_of(unit);
        let reaches_over = self.read(first).map_or(0, |spare| u64::from(spare.part));
        let earlier = first - reaches_over;
        let earlier = (reaches_over > 0).then(|| Some((earlier, self.read_whole(earlier)?)));
        let earlier = earlier.flatten().map(JournalRecord::of);
        earlier.into_iter().chain(self.records_of(unit)).collect()
    }

    /// The units of a superblock over the whole drive.
    pub(super) fn units_of(&self, superblock: u32) -> std::ops::Range<u32> {
        let units = self.geometry.superblock_units;
        superblock * units..(superblock + 1) * units
    }

    /// The state of a unit.
    pub fn state(&self, unit: u32) -> UnitState {
        self.units[unit as usize]
    }

    /// Makes a unit unreadable.
    pub fn tear_unit(&mut self, unit: u32) {
        self.units[unit as usize] = UnitState::Torn;
        self.map_units.remove(&unit);
    }

    /// Sets the blocks of one die in a superblock to a state without data.
    pub fn set_block(&mut self, superblock: u32, die: u32, state: UnitState) {
        for unit in self.units_of(superblock) {
            if self.geometry.die_of_unit(unit) == die {
                self.units[unit as usize] = state;
                self.map_units.remove(&unit);
            }
        }
    }

    /// Spare areas of all pages, mutable, to damage them.
    pub fn spares_mut(&mut self) -> &mut [Spare] {
        &mut self.spares
    }

    /// The readable content of the map, by unit.
    pub fn map_units(&self) -> &BTreeMap<u32, MapUnit> {
        &self.map_units
    }

    /// The units of the map, to damage them.
    pub fn map_units_mut(&mut self) -> impl Iterator<Item = &mut MapUnit> {
        self.map_units.values_mut()
    }
}
