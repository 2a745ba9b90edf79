//! Re-sorting: while the host is away, data that lies scattered is rewritten in the order of its LBAs.
//!
//! Phenomenon: after random writes, neighbours lie in different units, and a sequential read senses a unit for each
//! page; reviews see the sequential reads of some drives recover while nobody asks for anything. Source: those reviews;
//! no vendor says what its firmware does, so the rule is assumed. After a time without the host, the drive goes once
//! through its LBAs, a stretch at a time. A stretch that takes more than half as many senses again as it must is read
//! and then programmed in the order of its LBAs, in the stream of cold data, at a rate at most. It takes an erased
//! superblock only where the host could have one, and pays for the room as the host does, so that a full drive collects
//! garbage for it: totals and WAF count both. When the host comes back, what is read is dropped; what is placed is
//! programmed. Simplifications: a stretch is read as a whole into DRAM; pages in the pSLC cache and of victims stay;
//! one round for each absence of the host. Test: `tests/mechanisms/idle_sort.rs`.

use base::facts::Sourced;

use crate::ftl::{Ftl, NO_PAGE, SuperblockState};
use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{HOUR_NS, ModelError, section};
use crate::nand::programmed::ProgrammedUnits;

/// Stretches in order that are passed over at a time.
const LOOKS: u32 = 64;

section! {
    /// Rewriting of what lies scattered while the host is away.
    pub struct IdleSortSection {
        /// Time without a host command before it begins.
        pub after_ns: Sourced<u64> [1_000_000, HOUR_NS],
        /// Largest rate of moves, in pages of 4 KiB per second.
        pub pages_per_s: Sourced<u64> [1, 1_000_000_000],
        /// Data that is read and rewritten together.
        pub stretch_bytes: Sourced<u64>,
    }
}

/// Times and sizes of re-sorting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct IdleSort {
    /// Time without a host command after which it begins.
    pub after_ns: u64,
    /// Time to wait for each unit's worth of pages moved.
    pub unit_interval_ns: u64,
    /// Logical pages that are read and rewritten together.
    pub stretch_pages: u32,
}

impl Section for IdleSortSection {
    type Plan = IdleSort;
    type State = Sorter;

    fn resolve(&self, basis: &Basis<'_>) -> Result<IdleSort, ModelError> {
        let Basis { check, geometry, .. } = basis;
        const STRETCH: &str = "idle_sort.stretch_bytes";
        let stretch_bytes = self.stretch_bytes.value;
        check.within(STRETCH, stretch_bytes, geometry.page_bytes.into(), 1 << 24)?;
        let handles = basis.number("interface.placement_handles");
        for (section, is_there) in [
            ("nand.die_groups", geometry.die_groups > 1),
            ("[compression]", basis.has("compression")),
            ("interface.placement_handles", handles.is_some_and(|handles| handles > 1)),
        ] {
            if is_there {
                let rule = format!("re-sorting does not go together with {section}");
                return check.fail(STRETCH, stretch_bytes, &rule);
            }
        }
        Ok(IdleSort {
            after_ns: self.after_ns.value,
            unit_interval_ns: geometry.unit_interval_ns(self.pages_per_s.value),
            stretch_pages: (stretch_bytes / u64::from(geometry.page_bytes)) as u32,
        })
    }

    fn begin(plan: IdleSort, geometry: &Geometry, _: usize) -> Sorter {
        Sorter::new(plan, geometry)
    }
}

/// A page in NAND: its number for the host, and its place.
type StoredPage = (u64, u64);

/// The round of a drive over its LBAs, and the stretch in hand.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Sorter {
    plan: IdleSort,
    unit_pages: u32,
    stretches: u32,
    /// The stretch to look at next, and the number of those that the round has left.
    next_stretch: u32,
    stretches_left: u32,
    /// Pages of the stretch in hand that can move, by LBA.
    pages: Vec<StoredPage>,
    /// Reads of stretches that have not ended.
    reads: u32,
}

impl Sorter {
    /// No round yet.
    pub fn new(plan: IdleSort, geometry: &Geometry) -> Self {
        Self {
            plan,
            unit_pages: geometry.unit_pages,
            stretches: geometry.logical_pages.div_ceil(plan.stretch_pages.into()) as u32,
            next_stretch: 0,
            stretches_left: 0,
            pages: Vec::with_capacity(plan.stretch_pages as usize),
            reads: 0,
        }
    }

    /// Time without a host command after which a round begins.
    pub fn after_ns(&self) -> u64 {
        self.plan.after_ns
    }

    /// Time to wait for the stretch in hand, at least that for a unit.
    pub fn interval_ns(&self) -> u64 {
        let units = (self.pages.len() as u64).div_ceil(self.unit_pages.into());
        self.plan.unit_interval_ns.saturating_mul(units.max(1))
    }

    /// The host is or was there: the stretch in hand stays as it is, and the next absence has a round of its own.
    pub fn begin_round(&mut self) {
        self.stretches_left = self.stretches;
        self.pages.clear();
    }

    /// Whether the round has come to its end.
    pub fn is_done(&self) -> bool {
        self.stretches_left == 0
    }

    /// Whether parts of a stretch are being read.
    pub fn is_reading(&self) -> bool {
        self.reads > 0
    }

    /// Takes the next scattered stretch in hand; false if there is none among the next ones.
    pub fn find_scattered(&mut self, ftl: &Ftl, programmed: &ProgrammedUnits) -> bool {
        for _ in 0..LOOKS.min(self.stretches_left) {
            self.take_in_hand(ftl, programmed);
            if self.is_scattered() {
                return true;
            }
            self.pass();
        }
        false
    }

    fn take_in_hand(&mut self, ftl: &Ftl, programmed: &ProgrammedUnits) {
        let stretch_pages = u64::from(self.plan.stretch_pages);
        let first = u64::from(self.next_stretch) * stretch_pages;
        let end = (first + stretch_pages).min(ftl.geometry.logical_pages);
        let place = |logical: u64| (logical, ftl.l2p.get(logical));
        let is_in_nand = |&(_, physical): &StoredPage| {
            physical != NO_PAGE && programmed.contains(ftl.unit_of(physical))
        };
        self.pages.clear();
        let pages = (first..end).map(place).filter(is_in_nand);
        self.pages.extend(pages.filter(|&page| can_move(ftl, page)));
    }

    /// The stretch in hand is done with.
    pub fn pass(&mut self) {
        self.pages.clear();
        self.stretches_left = self.stretches_left.saturating_sub(1);
        self.next_stretch = (self.next_stretch + 1) % self.stretches;
    }

    /// The stretch in hand has to wait.
    pub fn put_back(&mut self) {
        self.pages.clear();
    }

    fn is_scattered(&self) -> bool {
        let least = (self.pages.len() as u32).div_ceil(self.unit_pages);
        self.parts().count() as u32 > least + (least / 2).max(1)
    }

    /// The parts of the stretch in hand that one read each takes, as (unit, pages of it).
    pub fn parts(&self) -> impl Iterator<Item = (u32, u32)> {
        let unit = |&(_, physical): &StoredPage| (physical / u64::from(self.unit_pages)) as u32;
        let runs = self.pages.chunk_by(move |one, next| unit(one) == unit(next));
        runs.map(move |run| (unit(&run[0]), run.len() as u32))
    }

    /// So many parts of the stretch in hand are being read.
    pub fn reads_begun(&mut self, reads: u32) {
        self.reads += reads;
    }

    /// A part of a stretch has been read; true if nothing else is being read.
    pub fn read_ended(&mut self) -> bool {
        self.reads -= 1;
        self.reads == 0
    }

    /// The pages of the stretch in hand, by LBA.
    pub fn pages(&self) -> &[StoredPage] {
        &self.pages
    }
}

/// Whether a page is still at its place, and neither cached nor collected there.
pub fn can_move(ftl: &Ftl, (logical, physical): StoredPage) -> bool {
    let superblock = ftl.superblock_of(physical);
    let is_kept =
        matches!(ftl.states[superblock as usize], SuperblockState::Open | SuperblockState::Closed);
    ftl.l2p.get(logical) == physical && is_kept && !ftl.is_cache(superblock)
}
