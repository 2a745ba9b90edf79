//! The journal: positions count entries since power on, so that operations can wait for one.

use std::collections::VecDeque;

use super::MappingShape;
use crate::ftl::durability::Durability;
use crate::geometry::Geometry;

/// Units reserved for a loss of power: with capacitors, the last deallocations need room.
const RESERVE_UNITS: u32 = 2;

/// The superblocks of the journal, by their numbers within it.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Ring {
    pub(super) superblock_units: u32,
    /// Ready for writing, in the order of use.
    pub erased: VecDeque<u32>,
    /// The open one, and its next unit.
    pub open: Option<(u32, u32)>,
    /// Written to the end.
    pub full: Vec<u32>,
    /// In erase, with the number of remaining dies.
    erasing: Vec<(u32, u32)>,
}

impl Ring {
    /// No superblocks yet; each has this number of units.
    pub fn new(superblock_units: u32) -> Self {
        Self { superblock_units, ..Self::default() }
    }

    fn room_units(&self) -> u32 {
        let open = self.open.map_or(0, |(_, next_unit)| self.superblock_units - next_unit);
        open + self.erased.len() as u32 * self.superblock_units
    }

    /// The next unit, as superblock and unit within it.
    fn take_unit(&mut self) -> Option<(u32, u32)> {
        let (superblock, unit) = match self.open.take() {
            Some(open) => open,
            None => (self.erased.pop_front()?, 0),
        };
        if unit + 1 == self.superblock_units {
            self.full.push(superblock);
        } else {
            self.open = Some((superblock, unit + 1));
        }
        Some((superblock, unit))
    }

    /// Begins the erase of a superblock on this number of dies.
    pub fn erase(&mut self, superblock: u32, dies: u32) {
        self.full.retain(|&full| full != superblock);
        self.erasing.push((superblock, dies));
    }

    /// A die has erased its blocks of a superblock; true if it was the last.
    pub fn die_erased(&mut self, superblock: u32) -> bool {
        let Some(index) = self.erasing.iter().position(|(erasing, _)| *erasing == superblock)
        else {
            return false;
        };
        self.erasing[index].1 -= 1;
        if self.erasing[index].1 > 0 {
            return false;
        }
        self.erasing.remove(index);
        self.erased.push_back(superblock);
        true
    }
}

/// A journal unit to program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct JournalUnit {
    /// Superblock of the journal.
    pub superblock: u32,
    /// Unit within it.
    pub unit: u32,
    /// Its place in the order of journal programs.
    pub sequence: u64,
    /// End of its entries: it contains the entries before this position that no earlier unit
    /// contains.
    pub covered: u64,
}

/// Entries, their positions and their units.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Journal {
    unit_entries: u64,
    superblocks: u32,
    /// Number of entries so far.
    appended: u64,
    /// Entries before this position have been given to a unit.
    covered: u64,
    /// Position before which all entries are in NAND.
    durable: u64,
    /// Position that an operation waits for: the entries before it.
    wanted: u64,
    /// Position behind the last deallocation.
    deallocated: u64,
    programs: Durability,
    /// Positions that units in progress will make durable, oldest first.
    under_way: VecDeque<u64>,
    pub(super) ring: Ring,
}

impl Journal {
    pub(super) fn new(geometry: &Geometry, shape: MappingShape) -> Self {
        let mut ring = Ring::new(geometry.superblock_units);
        ring.erased.extend(0..shape.journal_superblocks);
        Self {
            unit_entries: u64::from(shape.unit_entries),
            superblocks: shape.journal_superblocks,
            appended: 0,
            covered: 0,
            durable: 0,
            wanted: 0,
            deallocated: 0,
            programs: Durability::default(),
            under_way: VecDeque::new(),
            ring,
        }
    }

    /// Adds entries.
    #[inline]
    pub fn append(&mut self, entries: u64) {
        self.appended += entries;
    }

    /// Adds the entry of a deallocation, its only record.
    pub fn append_deallocation(&mut self) {
        self.appended += 1;
        self.deallocated = self.appended;
    }

    /// Position behind all entries so far.
    pub fn end(&self) -> u64 {
        self.appended
    }

    /// Position behind the last deallocation.
    pub fn deallocated(&self) -> u64 {
        self.deallocated
    }

    /// Position behind the last entry given to a unit.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// Position before which all entries are in NAND.
    pub fn durable(&self) -> u64 {
        self.durable
    }

    /// Requests the write of the entries before a position.
    pub fn want(&mut self, position: u64) {
        self.wanted = self.wanted.max(position);
    }

    /// Whether a unit should be written now.
    #[inline]
    pub fn is_due(&self) -> bool {
        let pending = self.appended - self.covered;
        pending >= self.unit_entries || self.covered < self.wanted
    }

    /// Whether there is room for a unit beside the reserve.
    pub fn has_room(&self) -> bool {
        self.ring.room_units() > RESERVE_UNITS
    }

    /// The unit to write now, if one is due and has room.
    pub fn take_unit(&mut self) -> Option<JournalUnit> {
        if self.is_due() && self.has_room() { self.next_unit() } else { None }
    }

    /// The unit to write at a loss of power: all entries that have room, and in the reserve those
    /// that are the only record.
    pub fn take_last_unit(&mut self) -> Option<JournalUnit> {
        let only_here = self.covered < self.deallocated;
        let pending = self.covered < self.appended;
        if only_here || pending && self.has_room() { self.next_unit() } else { None }
    }

    fn next_unit(&mut self) -> Option<JournalUnit> {
        let (superblock, unit) = self.ring.take_unit()?;
        self.covered += self.unit_entries.min(self.appended - self.covered);
        self.under_way.push_back(self.covered);
        let sequence = self.programs.issue();
        Some(JournalUnit { superblock, unit, sequence, covered: self.covered })
    }

    /// A journal unit is in NAND; true if more entries are durable now.
    pub fn ended(&mut self, sequence: u64) -> bool {
        let before = self.programs.low_water();
        if !self.programs.end(sequence) {
            return false;
        }
        for _ in before..self.programs.low_water() {
            self.durable = self.under_way.pop_front().unwrap_or(self.durable);
        }
        true
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let Self { appended, covered, durable, .. } = *self;
        if durable > covered || covered > appended {
            return Err(format!(
                "the journal has {appended} entries, {covered} covered, {durable} durable"
            ));
        }
        let ring = &self.ring;
        let open = ring.open.map(|(superblock, _)| superblock);
        let erasing = ring.erasing.iter().map(|(superblock, _)| *superblock);
        let mut all: Vec<u32> = ring.erased.iter().copied().collect();
        all.extend(ring.full.iter().copied().chain(open).chain(erasing));
        all.sort_unstable();
        if all.iter().copied().eq(0..self.superblocks) {
            return Ok(());
        }
        Err(format!("the journal has {} superblocks, found {all:?}", self.superblocks))
    }
}
