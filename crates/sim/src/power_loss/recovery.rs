//! Recovery of the map from NAND alone.
//!
//! 1. Read all units of the map: the last committed checkpoint, and the journal units that count.
//!    Each names its predecessor, so that the chain ends where a unit was lost.
//! 2. Read the first unit of every die in every superblock, to find blank superblocks, and those
//!    begun after the last journal unit that counts (its *anchor* has the number of the next map
//!    change).
//! 3. Read those superblocks, and those that were open or not yet covered at the anchor, to the
//!    end.
//! 4. For each LBA, the change with the highest number counts; the segments of a checkpoint
//!    represent all changes before their copy.
//! 5. Mark superblocks without a valid page for erase. If there are none and no blank one either,
//!    collection would have no room: then a superblock that holds only copies is given up for the
//!    originals.
//!
//! Changes found outside the journal join it again.

use std::collections::{BTreeMap, BTreeSet};

use super::contents::Dram;
use super::nand::{Anchor, JournalRecord, MapUnit, NandContents, UnitState};
use crate::events::NEVER;
use crate::ftl::rebuild::FoundSuperblock;
use crate::ftl::{NO_PAGE, StreamId};
use crate::mechanism::mapping::Ring;
use crate::model::Config;
use crate::nand::{DieOp, Nand};

/// The work of a recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Recovery {
    /// Time from power on until the drive was ready.
    pub duration_ns: u64,
    /// Units read: of the map, first units of dies, and units of superblocks searched.
    pub units_read: u64,
    /// Journal units that counted.
    pub journal_units: u64,
    /// Superblocks searched to the end.
    pub superblocks_searched: u64,
    /// Pages found in them.
    pub pages_found: u64,
    /// Whether a superblock of copies was given up to make room.
    pub gave_up_copies: bool,
}

/// The findings of a recovery, and the new state of the drive.
pub(super) struct Findings {
    pub(super) map: Vec<u64>,
    pub(super) superblocks: Vec<FoundSuperblock>,
    pub(super) dram: Dram,
    pub(super) ring: Ring,
    pub(super) next_area: u32,
    pub(super) leftover_journal: Vec<u32>,
    pub(super) report: Recovery,
}

/// A journal unit, read back.
struct JournalUnit<'a> {
    unit: u32,
    number: u64,
    previous: u64,
    records: &'a [JournalRecord],
    anchor: &'a Anchor,
}

/// The journal units that count, and their end.
struct Chain {
    members: BTreeSet<u64>,
    last: u64,
    anchor: Anchor,
}

/// The newest known change of every LBA page.
struct Newest {
    changes: Vec<(u64, u64)>,
    next_sequence: u64,
}

impl Newest {
    fn learn(&mut self, record: &JournalRecord) {
        let change = &mut self.changes[record.logical as usize];
        if record.sequence >= change.0 {
            *change = (record.sequence, record.physical);
        }
        self.saw(record.sequence);
    }

    fn saw(&mut self, sequence: u64) {
        self.next_sequence = self.next_sequence.max(sequence + 1);
    }
}

/// Reads NAND and counts the reads.
struct Reader<'a> {
    nand: &'a NandContents,
    dies: Nand,
    now_ns: u64,
    units_read: u64,
}

impl Reader<'_> {
    /// Reads these units as a whole, all dies at once, and waits for the last.
    fn read_whole(&mut self, units: impl Iterator<Item = u32>) {
        let geometry = &self.nand.geometry;
        self.read(units, geometry.unit_pages * geometry.host_pages());
    }

    /// Reads a part of each of these units, so many transfers, all dies at once, and waits for the last.
    fn read(&mut self, units: impl Iterator<Item = u32>, transfers: u32) {
        for unit in units {
            let die = self.nand.geometry.die_of_unit(unit);
            self.dies.enqueue(
                die,
                DieOp::HostRead { tag: 0, unit, transfers, page: None },
                self.now_ns,
            );
            self.units_read += 1;
        }
        loop {
            let next_ns = self.dies.next_event_ns();
            if next_ns == NEVER {
                return;
            }
            self.now_ns = next_ns;
            let _ = self.dies.on_event(next_ns);
        }
    }
}

pub(super) fn recover(config: &Config, nand: &NandContents) -> Findings {
    let dies = Nand::new(&config.geometry, config.nand, &config.options.nand_features, config.seed);
    let mut reader = Reader { nand, dies, now_ns: 0, units_read: 0 };
    let mut report = Recovery::default();
    read_map_units(&mut reader);
    let commit = last_commit(nand);
    let journal = journal_units(nand);
    let chain = chain(&journal, commit);
    let mut newest = start_from_segments(nand, commit);
    for unit in &journal {
        let counts = chain.members.contains(&unit.number);
        report.journal_units += u64::from(counts);
        unit.records.iter().filter(|_| counts).for_each(|record| newest.learn(record));
        newest.saw(unit.anchor.sequence);
    }
    newest.saw(chain.anchor.sequence);

    read_first_units(&mut reader);
    let searched = superblocks_to_search(nand, &chain.anchor);
    let mut dram = Dram::default();
    search(&mut reader, &searched, &mut newest, &mut dram, &mut report);

    let mut map: Vec<u64> = newest.changes.iter().map(|(_, physical)| *physical).collect();
    let superblocks: Vec<_> =
        (0..nand.geometry.superblocks).map(|index| look_at(nand, index)).collect();
    for group in 0..nand.geometry.reclaim_groups {
        if !has_room(nand, group, &superblocks, &map) {
            report.gave_up_copies = true;
            let found = (group, &superblocks[..]);
            give_up_copies(&mut reader, found, &mut map, &mut newest, &mut dram);
        }
    }
    dram.sequence = newest.next_sequence;
    dram.current.clone_from(&map);
    dram.durable = (chain.last, chain.anchor.clone());
    dram.journal_last = chain.last;
    dram.journal_next = journal.last().map_or(0, |unit| unit.number).max(chain.last) + 1;
    dram.checkpoint = last_checkpoint(nand);
    let (ring, leftover_journal) = ring(nand, &journal, &chain);
    (report.duration_ns, report.units_read) = (reader.now_ns, reader.units_read);
    let next_area = commit.map_or(0, |(unit, ..)| 1 - area_of(nand, unit));
    Findings { map, superblocks, dram, ring, next_area, leftover_journal, report }
}

fn read_map_units(reader: &mut Reader<'_>) {
    let nand = reader.nand;
    let first = nand.geometry.superblocks * nand.geometry.superblock_units;
    let written = (first..nand.units.len() as u32).filter(|&u| nand.state(u) != UnitState::Blank);
    reader.read_whole(written);
}

/// The last commit: its unit, its number and its content.
fn last_commit(nand: &NandContents) -> Option<(u32, u64, u64, &Anchor)> {
    let commits = nand.map_units.iter().filter_map(|(&unit, content)| match content {
        MapUnit::Commit { checkpoint, journal, anchor } => {
            Some((unit, *checkpoint, *journal, anchor))
        }
        _ => None,
    });
    commits.max_by_key(|(_, checkpoint, ..)| *checkpoint)
}

/// The highest number of any checkpoint begun.
fn last_checkpoint(nand: &NandContents) -> u64 {
    let numbers = nand.map_units.values().filter_map(|content| match content {
        MapUnit::Segment { checkpoint, .. } | MapUnit::Commit { checkpoint, .. } => {
            Some(*checkpoint)
        }
        MapUnit::Journal { .. } => None,
    });
    numbers.max().unwrap_or(0)
}

/// All readable journal units, by number.
fn journal_units(nand: &NandContents) -> Vec<JournalUnit<'_>> {
    let journal = nand.map_units.iter().filter_map(|(&unit, content)| match content {
        MapUnit::Journal { number, previous, records, anchor } => {
            Some(JournalUnit { unit, number: *number, previous: *previous, records, anchor })
        }
        _ => None,
    });
    let mut units: Vec<_> = journal.collect();
    units.sort_by_key(|unit| unit.number);
    units
}

/// Follows the chain of predecessors from the unit that the commit names, forwards and backwards.
fn chain(journal: &[JournalUnit<'_>], commit: Option<(u32, u64, u64, &Anchor)>) -> Chain {
    let (start, anchor) =
        commit.map_or((0, Anchor::default()), |(_, _, journal, anchor)| (journal, anchor.clone()));
    let mut chain = Chain { members: BTreeSet::from([start]), last: start, anchor };
    for unit in journal.iter().filter(|unit| unit.number > start) {
        if chain.members.contains(&unit.previous) {
            chain.members.insert(unit.number);
            (chain.last, chain.anchor) = (unit.number, unit.anchor.clone());
        }
    }
    let mut number = start;
    while let Ok(index) = journal.binary_search_by_key(&number, |unit| unit.number) {
        number = journal[index].previous;
        chain.members.insert(number);
    }
    chain
}

fn start_from_segments(nand: &NandContents, commit: Option<(u32, u64, u64, &Anchor)>) -> Newest {
    let pages = nand.geometry.logical_pages as usize;
    let mut newest = Newest { changes: vec![(0, NO_PAGE); pages], next_sequence: 0 };
    let Some((_, committed, ..)) = commit else { return newest };
    for content in nand.map_units.values() {
        let MapUnit::Segment { checkpoint, first, sequence, map } = content else { continue };
        if *checkpoint == committed {
            newest.saw(*sequence);
            let first = *first as usize;
            for (change, &physical) in newest.changes[first..].iter_mut().zip(map) {
                *change = (*sequence, physical);
            }
        }
    }
    newest
}

/// The first unit of each of its dies in a superblock.
fn first_units(nand: &NandContents, superblock: u32) -> impl Iterator<Item = u32> + '_ {
    nand.units_of(superblock).take(nand.geometry.superblock_dies() as usize)
}

fn read_first_units(reader: &mut Reader<'_>) {
    let nand = reader.nand;
    let superblocks = 0..nand.geometry.superblocks;
    reader.read(superblocks.flat_map(|superblock| first_units(nand, superblock)), 1);
}

/// The facts in the first units of a superblock.
fn look_at(nand: &NandContents, superblock: u32) -> FoundSuperblock {
    let is_blank = first_units(nand, superblock).all(|unit| nand.state(unit) == UnitState::Blank);
    let pages = first_units(nand, superblock).flat_map(|unit| nand.pages_of(unit));
    let first = pages.map(|(_, spare)| spare).min_by_key(|spare| spare.sequence);
    FoundSuperblock {
        is_blank,
        written_by: first.map_or(StreamId::Host, |spare| spare.stream),
        sequence: first.map_or(0, |spare| spare.sequence),
        erases: nand.erase_counts[superblock as usize],
    }
}

/// Superblocks that may contain data that no journal unit covers.
fn superblocks_to_search(nand: &NandContents, anchor: &Anchor) -> Vec<u32> {
    let is_new = |&superblock: &u32| {
        let mut pages = first_units(nand, superblock).flat_map(|unit| nand.pages_of(unit));
        pages.any(|(_, spare)| spare.sequence >= anchor.sequence)
    };
    let new = (0..nand.geometry.superblocks).filter(is_new);
    let all: BTreeSet<u32> = new.chain(anchor.unsettled.iter().copied()).collect();
    all.into_iter().collect()
}

/// Reads every readable unit of these superblocks; their entries join the journal.
fn search(
    reader: &mut Reader<'_>,
    superblocks: &[u32],
    newest: &mut Newest,
    dram: &mut Dram,
    report: &mut Recovery,
) {
    let nand = reader.nand;
    let units = superblocks.iter().flat_map(|&superblock| nand.units_of(superblock));
    let written: Vec<u32> = units.filter(|&unit| nand.state(unit) != UnitState::Blank).collect();
    reader.read_whole(written.iter().copied());
    for unit in written {
        let records = nand.records_of(unit);
        if records.is_empty() {
            continue;
        }
        records.iter().for_each(|record| newest.learn(record));
        report.pages_found += records.len() as u64;
        let superblock = unit / nand.geometry.superblock_units;
        *dram.unsettled.entry(superblock).or_insert(0) += 1;
        dram.append(u64::from(nand.geometry.unit_pages), Some(superblock), records);
    }
    report.superblocks_searched = superblocks.len() as u64;
}

fn superblock_of(nand: &NandContents, physical: u64) -> u32 {
    (physical / u64::from(nand.geometry.superblock_pages())) as u32
}

/// Whether a superblock that the collection of a group can write to is blank or has no valid page.
fn has_room(nand: &NandContents, group: u32, superblocks: &[FoundSuperblock], map: &[u64]) -> bool {
    let mapped = map.iter().filter(|physical| **physical != NO_PAGE);
    let used: BTreeSet<u32> = mapped.map(|&physical| superblock_of(nand, physical)).collect();
    let mut others = nand
        .geometry
        .superblocks_of_group(group)
        .filter(|&index| !nand.geometry.is_cache_only(index));
    others.any(|index| superblocks[index as usize].is_blank || !used.contains(&index))
}

/// Points the map at the originals of the copies in one superblock of a group that holds nothing else. If no
/// erased superblock is left, the last one of collection is such a superblock: none of its victims
/// has been erased.
fn give_up_copies(
    reader: &mut Reader<'_>,
    (group, superblocks): (u32, &[FoundSuperblock]),
    map: &mut [u64],
    newest: &mut Newest,
    dram: &mut Dram,
) {
    let nand = reader.nand;
    let all = 0..nand.geometry.superblocks * nand.geometry.superblock_units;
    reader.read_whole(all.clone());
    let mut places: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
    for (physical, spare) in all.flat_map(|unit| nand.whole_pages_of(unit)) {
        places.entry((spare.logical, spare.version)).or_default().push(physical);
    }
    let original = |logical: usize, copy: u64| {
        let spare = nand.read(copy)?;
        let places = places.get(&(logical as u64, spare.version))?;
        let elsewhere = |place: &&u64| superblock_of(nand, **place) != superblock_of(nand, copy);
        places.iter().find(elsewhere).copied()
    };
    let gives_room = |&superblock: &u32| !nand.geometry.is_cache_only(superblock);
    let mut newest_first: Vec<u32> =
        nand.geometry.superblocks_of_group(group).filter(gives_room).collect();
    newest_first.sort_by_key(|&index| std::cmp::Reverse(superblocks[index as usize].sequence));
    for superblock in newest_first {
        let pages = (0..).zip(map.iter()).filter(|(_, physical)| {
            **physical != NO_PAGE && superblock_of(nand, **physical) == superblock
        });
        let moves: Option<Vec<(usize, u64)>> =
            pages.map(|(logical, &copy)| Some((logical, original(logical, copy)?))).collect();
        let Some(moves) = moves else { continue };
        let mut records = Vec::new();
        for (logical, physical) in moves {
            map[logical] = physical;
            let sequence = newest.next_sequence;
            newest.saw(sequence);
            records.push(JournalRecord { logical: logical as u64, sequence, physical });
        }
        dram.append(records.len() as u64, None, records);
        return;
    }
}

/// The future superblocks of the journal: those that count stay, and the last one continues.
fn ring(nand: &NandContents, journal: &[JournalUnit<'_>], chain: &Chain) -> (Ring, Vec<u32>) {
    let units = nand.geometry.superblock_units;
    let first_superblock = nand.geometry.superblocks;
    let counting = || journal.iter().filter(|unit| chain.members.contains(&unit.number));
    let kept: BTreeSet<u32> = counting().map(|unit| unit.unit / units).collect();
    let last = counting().next_back().map(|unit| unit.unit / units);
    let mut ring = Ring::new(units);
    let mut leftover = Vec::new();
    for index in 0..nand.shape.journal_superblocks {
        let superblock = first_superblock + index;
        let written =
            nand.units_of(superblock).rposition(|unit| nand.state(unit) != UnitState::Blank);
        match written {
            None => ring.erased.push_back(index),
            Some(_) if !kept.contains(&superblock) => leftover.push(index),
            Some(place) if last == Some(superblock) && (place as u32) + 1 < units => {
                ring.open = Some((index, place as u32 + 1));
            }
            Some(_) => ring.full.push(index),
        }
    }
    (ring, leftover)
}

/// The checkpoint area, 0 or 1, that contains a unit of the map.
fn area_of(nand: &NandContents, unit: u32) -> u32 {
    let superblock = unit / nand.geometry.superblock_units - nand.geometry.superblocks;
    (superblock - nand.shape.journal_superblocks) / nand.shape.area_superblocks
}
