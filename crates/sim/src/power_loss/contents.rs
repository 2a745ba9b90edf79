//! The content of NAND, page by page, beside the facts that a drive knows only in its DRAM.
//!
//! A probe builds both from the reports of the device. [`Contents::into_nand`] drops the DRAM, so
//! that none of it can reach a recovery.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::nand::{Anchor, ERASED, JournalRecord, MapUnit, NandContents, Spare, UnitState};
use crate::ftl::table::PageTable;
use crate::ftl::{NO_PAGE, StreamId};
use crate::geometry::Geometry;
use crate::mechanism::mapping::MappingShape;
use crate::probe::Probe;

/// Map changes that joined the journal together.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Group {
    /// Position in the journal behind the last of them.
    end: u64,
    /// The superblock of their unit; `None` for a deallocation.
    superblock: Option<u32>,
    records: Vec<JournalRecord>,
}

/// A journal unit on its way to NAND.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct PendingUnit {
    unit: u32,
    number: u64,
    anchor: Anchor,
    is_in_nand: bool,
}

/// The facts that the drive loses with its power.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Dram {
    /// Number of the next map change.
    pub(super) sequence: u64,
    /// The place of each logical page: the page whose version a move carries on.
    pub(super) current: Vec<u64>,
    groups: VecDeque<Group>,
    appended: u64,
    unmapped: Vec<JournalRecord>,
    /// Superblocks with units that no journal unit covers, and the number of such units.
    pub(super) unsettled: BTreeMap<u32, u32>,
    /// Units of the map on their way to NAND.
    writing: BTreeMap<u32, MapUnit>,
    issued: VecDeque<PendingUnit>,
    /// The last journal unit that is in NAND with all earlier ones.
    pub(super) durable: (u64, Anchor),
    /// The last issued journal unit, and the number of the next.
    pub(super) journal_last: u64,
    pub(super) journal_next: u64,
    /// Number of the last checkpoint begun.
    pub(super) checkpoint: u64,
    /// The last written unit of the cache's stream, within its superblock.
    cache_unit: u32,
}

impl Dram {
    /// Adds the records of a unit of data, or those of map changes made by a recovery.
    pub(super) fn append(
        &mut self,
        entries: u64,
        superblock: Option<u32>,
        records: Vec<JournalRecord>,
    ) {
        self.appended += entries;
        self.groups.push_back(Group { end: self.appended, superblock, records });
    }

    /// Number of journal entries so far.
    pub(super) fn appended(&self) -> u64 {
        self.appended
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence - 1
    }

    /// Removes the records before a position.
    fn take_records(&mut self, covered: u64) -> Vec<JournalRecord> {
        let mut records = Vec::new();
        while self.groups.front().is_some_and(|group| group.end <= covered) {
            let Some(group) = self.groups.pop_front() else { break };
            records.extend(group.records);
            if let Some(superblock) = group.superblock {
                self.settle_unit(superblock);
            }
        }
        records
    }

    fn settle_unit(&mut self, superblock: u32) {
        if let Some(units) = self.unsettled.get_mut(&superblock) {
            *units -= 1;
            if *units == 0 {
                self.unsettled.remove(&superblock);
            }
        }
    }

    fn anchor(&self) -> Anchor {
        Anchor { sequence: self.sequence, unsettled: self.unsettled.keys().copied().collect() }
    }
}

/// Follows a drive with a journal through its life.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Contents {
    geometry: Geometry,
    nand: NandContents,
    dram: Dram,
}

impl Contents {
    /// A new drive: every block erased.
    pub fn new(geometry: Geometry, shape: MappingShape) -> Self {
        let dram = Dram {
            current: vec![NO_PAGE; geometry.logical_pages as usize],
            journal_next: 1,
            ..Dram::default()
        };
        Self::recovered(NandContents::new(geometry, shape), dram)
    }

    pub(super) fn recovered(nand: NandContents, dram: Dram) -> Self {
        Self { geometry: nand.geometry, nand, dram }
    }

    /// The content that remains after a loss of power.
    pub(super) fn into_nand(self) -> NandContents {
        self.nand
    }

    /// The version of a logical page that a read returns now, in NAND or not; `None` if the page is
    /// empty. Versions are numbers that grow with every write of the host.
    pub fn version(&self, logical: u64) -> Option<u64> {
        let physical = self.dram.current[logical as usize];
        (physical != NO_PAGE).then(|| self.nand.spares[physical as usize].version)
    }

    /// The content of NAND.
    pub fn nand(&self) -> &NandContents {
        &self.nand
    }

    fn unit_of(&self, physical: u64) -> u32 {
        (physical / u64::from(self.geometry.unit_pages)) as u32
    }

    /// Units of data that a stream writes into a superblock, from a place in it on.
    fn data_units(&self, stream: StreamId, from: u32) -> u32 {
        let is_cache = stream == StreamId::Pslc;
        let end = if is_cache { self.geometry.cache_units } else { self.geometry.superblock_units };
        (from..end).filter(|&unit| !self.geometry.is_parity(unit)).count() as u32
    }

    fn write(&mut self, physical: u64, spare: Spare) {
        let unit = self.unit_of(physical);
        assert!(
            self.nand.units[unit as usize] == UnitState::Blank,
            "unit {unit} is written without being erased"
        );
        self.nand.spares[physical as usize] = spare;
        let superblock = unit / self.geometry.superblock_units;
        if !self.dram.unsettled.contains_key(&superblock) {
            let units = self.data_units(spare.stream, 0);
            self.dram.unsettled.insert(superblock, units);
        }
        if spare.stream == StreamId::Pslc {
            self.dram.cache_unit = unit % self.geometry.superblock_units;
        }
    }
}

impl Probe for Contents {
    fn placed(&mut self, stream: StreamId, logical: u64, physical: u64) {
        let sequence = self.dram.next_sequence();
        let old = self.dram.current[logical as usize];
        let version =
            if stream.is_moved() { self.nand.spares[old as usize].version } else { sequence };
        self.write(physical, Spare { logical, sequence, version, stream, part: 0, parts: 1 });
        self.dram.current[logical as usize] = physical;
    }

    fn extended(&mut self, _: StreamId, logical: u64, physical: u64) {
        let first = self.dram.current[logical as usize];
        let spare = &mut self.nand.spares[first as usize];
        spare.parts += 1;
        let spare = Spare { part: (physical - first) as u8, ..*spare };
        self.write(physical, spare);
    }

    fn padded(&mut self, stream: StreamId, physical: u64) {
        let sequence = self.dram.sequence;
        self.write(physical, Spare { sequence, stream, ..ERASED });
    }

    fn unmapped(&mut self, logical: u64) {
        let sequence = self.dram.next_sequence();
        self.dram.current[logical as usize] = NO_PAGE;
        self.dram.unmapped.push(JournalRecord { logical, sequence, physical: NO_PAGE });
    }

    fn deallocated(&mut self) {
        let records = std::mem::take(&mut self.dram.unmapped);
        self.dram.append(1, None, records);
    }

    fn programmed(&mut self, unit: u32) {
        self.nand.units[unit as usize] = UnitState::Written;
        let place = unit % self.geometry.superblock_units;
        if !self.geometry.is_parity(place) {
            let records = self.nand.records_completed_by(unit);
            let superblock = unit / self.geometry.superblock_units;
            let entries = u64::from(self.geometry.unit_pages);
            self.dram.append(entries, Some(superblock), records);
        }
    }

    fn journal(&mut self, unit: u32, covered: u64) {
        let records = self.dram.take_records(covered);
        let (number, previous) = (self.dram.journal_next, self.dram.journal_last);
        let anchor = self.dram.anchor();
        (self.dram.journal_last, self.dram.journal_next) = (number, number + 1);
        self.dram.issued.push_back(PendingUnit {
            unit,
            number,
            anchor: anchor.clone(),
            is_in_nand: false,
        });
        self.dram.writing.insert(unit, MapUnit::Journal { number, previous, records, anchor });
    }

    fn segment(&mut self, unit: u32, pages: Range<u64>, map: &PageTable) {
        let first = pages.start;
        self.dram.checkpoint += u64::from(first == 0);
        let map = pages.map(|page| map.get(page)).collect();
        let (checkpoint, sequence) = (self.dram.checkpoint, self.dram.sequence);
        self.dram.writing.insert(unit, MapUnit::Segment { checkpoint, first, sequence, map });
    }

    fn commit(&mut self, unit: u32) {
        let (journal, anchor) = self.dram.durable.clone();
        self.dram
            .writing
            .insert(unit, MapUnit::Commit { checkpoint: self.dram.checkpoint, journal, anchor });
    }

    fn map_programmed(&mut self, unit: u32) {
        // The erase may have been waiting on the same die when the unit was made.
        assert!(
            self.nand.units[unit as usize] == UnitState::Blank,
            "map unit {unit} is written without being erased"
        );
        self.nand.units[unit as usize] = UnitState::Written;
        if let Some(content) = self.dram.writing.remove(&unit) {
            self.nand.map_units.insert(unit, content);
        }
        for issued in self.dram.issued.iter_mut().filter(|issued| issued.unit == unit) {
            issued.is_in_nand = true;
        }
        while self.dram.issued.front().is_some_and(|issued| issued.is_in_nand) {
            let Some(issued) = self.dram.issued.pop_front() else { break };
            self.dram.durable = (issued.number, issued.anchor);
        }
    }

    fn cache_closed(&mut self, superblock: u32) {
        let never_written = self.data_units(StreamId::Pslc, self.dram.cache_unit + 1);
        (0..never_written).for_each(|_| self.dram.settle_unit(superblock));
    }

    fn die_erased(&mut self, superblock: u32, die: u32) {
        self.nand.set_block(superblock, die, UnitState::Blank);
    }

    fn erased(&mut self, superblock: u32) {
        self.nand.erase_counts[superblock as usize] += 1;
        self.dram.unsettled.remove(&superblock);
    }
}
