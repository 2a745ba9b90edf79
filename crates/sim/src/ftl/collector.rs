//! The life of victims: scanned unit by unit, relocated, made durable, erased.
//!
//! A victim is erased only after the programs of all pages moved out of it, so that a power cut at
//! any moment leaves one good copy.

use std::collections::VecDeque;

use crate::ftl::StreamId;
use crate::ftl::durability::{Mark, StreamPrograms};
use crate::geometry::Geometry;

/// Units per die that may be in flight.
const UNITS_PER_DIE: u32 = 2;

/// One superblock on its way from closed to erased.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Victim {
    superblock: u32,
    /// Next unit to scan, within the superblock.
    next_unit: u32,
    /// Units read or being read whose pages are not yet placed.
    units_in_flight: u32,
    /// Mark behind the programs of the pages moved out of it so far.
    durable_at: Mark,
    /// On drives with a journal: whether `durable_at` also covers the programs that overwrote its
    /// pages.
    is_settled: bool,
    /// On drives with a journal: position that must be durable before the erase, set once all pages
    /// are durable.
    journal_at: Option<u64>,
}

impl Victim {
    fn is_placed(&self, superblock_units: u32) -> bool {
        self.next_unit == superblock_units && self.units_in_flight == 0
    }

    fn is_unjournalled(&self, programs: &StreamPrograms) -> bool {
        self.is_settled && self.journal_at.is_none() && programs.reached(self.durable_at)
    }
}

/// An erase in progress.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct SuperblockErase {
    superblock: u32,
    dies_left: u32,
}

/// The present work of garbage collection.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Collector {
    superblock_units: u32,
    /// Most room that relocating a unit may take beyond its own pages.
    slack_pages: u32,
    /// Most room that relocating a unit may take.
    unit_pages_max: u32,
    /// Most valid pages that may be in flight.
    in_flight_pages_max: u32,
    /// Oldest first; only the last may still be scanned.
    victims: Vec<Victim>,
    /// Whether all pages of one of them are placed: queried with every unit, so it is stored.
    is_any_placed: bool,
    erasing: VecDeque<SuperblockErase>,
    owed_pages: u64,
    top_up: Option<StreamId>,
    /// Valid pages that idle collection or a refresh may move now; less than none where a unit held more than that.
    unasked_pages: i64,
    /// The only victim whose pages these may be, or `None` if any may move.
    unasked_of: Option<u32>,
    /// Valid pages that early collection may move now.
    early_pages: u64,
    in_flight_pages: u32,
    victim_valid_pages: u32,
    reclaimed_pages: u64,
    are_open_units_awaited: bool,
}

impl Collector {
    /// No work yet.
    pub fn new(geometry: &Geometry) -> Self {
        let slack_pages = geometry.relocation_slack_pages();
        let unit_pages_max = geometry.unit_pages + slack_pages;
        let dies = geometry.dies / geometry.reclaim_groups;
        let parallel = UNITS_PER_DIE * dies * unit_pages_max;
        Self {
            superblock_units: geometry.superblock_units,
            slack_pages,
            unit_pages_max,
            in_flight_pages_max: parallel.min(geometry.superblock_data_pages()),
            victims: Vec::new(),
            is_any_placed: false,
            erasing: VecDeque::new(),
            owed_pages: 0,
            top_up: None,
            unasked_pages: 0,
            unasked_of: None,
            early_pages: 0,
            in_flight_pages: 0,
            victim_valid_pages: 0,
            reclaimed_pages: 0,
            are_open_units_awaited: false,
        }
    }

    /// Valid pages that the pacing policy wants moved.
    #[inline]
    pub fn owed_pages(&self) -> u64 {
        self.owed_pages
    }

    /// Most valid pages that may be read or being read and not yet placed.
    #[inline]
    pub fn in_flight_pages_max(&self) -> u32 {
        self.in_flight_pages_max
    }

    /// Whether more is owed than can be in flight: the host has to wait until it has been caught up with.
    #[inline]
    pub fn owes_much(&self) -> bool {
        self.owed_pages > u64::from(self.in_flight_pages_max)
    }

    /// Adds pages to the debt.
    #[inline]
    pub fn owe(&mut self, pages: u64) {
        self.owed_pages += pages;
    }

    /// Cancels the debt: no victim would give room.
    pub fn forgive(&mut self) {
        self.owed_pages = 0;
        self.early_pages = 0;
    }

    /// Valid pages read or being read that are not yet placed.
    #[inline]
    pub fn in_flight_pages(&self) -> u32 {
        self.in_flight_pages
    }

    /// Pages in flight with one more unit, or `None` if those were too many.
    #[inline]
    pub fn in_flight_with_unit(&self) -> Option<u32> {
        let pages = self.in_flight_pages + self.unit_pages_max;
        (pages <= self.in_flight_pages_max).then_some(pages)
    }

    /// Valid pages of the newest victim chosen to make room, at the time of the choice.
    #[inline]
    pub fn victim_valid_pages(&self) -> u32 {
        self.victim_valid_pages
    }

    /// Records the choice of a victim to make room.
    pub fn note_victim(&mut self, valid_pages: u32) {
        self.victim_valid_pages = valid_pages;
    }

    /// Scanned pages of victims, whose room returns with the erase.
    #[inline]
    pub fn reclaimed_pages(&self) -> u64 {
        self.reclaimed_pages
    }

    /// Adds scanned pages of a victim, whose room will return.
    #[inline]
    pub fn reclaim(&mut self, pages: u64) {
        self.reclaimed_pages += pages;
    }

    /// Removes pages whose room has returned with their erase.
    pub fn give_back(&mut self, pages: u64) {
        debug_assert!(pages <= self.reclaimed_pages, "more room comes back than was reclaimed");
        self.reclaimed_pages -= pages;
    }

    /// Whether pages may move without pressure from the host.
    #[inline]
    pub fn may_move_unasked(&self) -> bool {
        self.unasked_pages > 0
            && (self.unasked_of.is_none() || self.victim_in_hand() == self.unasked_of)
    }

    /// Permits the move of one unit without pressure from the host; unused permission does not add
    /// up.
    pub fn allow_unit(&mut self, unit_pages: u32) {
        let unit_pages = i64::from(unit_pages);
        self.unasked_pages = (self.unasked_pages + unit_pages).min(unit_pages);
        self.unasked_of = None;
    }

    /// Permits the move of one unit of this victim only.
    pub fn allow_unit_of(&mut self, victim: u32, unit_pages: u32) {
        self.allow_unit(unit_pages);
        self.unasked_of = Some(victim);
    }

    /// Valid pages that early collection may move.
    #[inline]
    pub fn early_pages(&self) -> u64 {
        self.early_pages
    }

    /// Permits early collection to move so many pages.
    pub fn allow_early(&mut self, pages: u64) {
        self.early_pages = pages;
    }

    /// Withdraws the permission to move pages without pressure from the host.
    pub fn allow_none(&mut self) {
        self.unasked_pages = 0;
    }

    /// The next unit to scan, as (superblock, unit within it); `None` if a new victim is needed.
    #[inline]
    pub fn next_unit(&mut self) -> Option<(u32, u32)> {
        let superblock_units = self.superblock_units;
        let victim = self.victims.last_mut()?;
        if victim.next_unit == superblock_units {
            return None;
        }
        victim.next_unit += 1;
        Some((victim.superblock, victim.next_unit - 1))
    }

    /// Whether the newest victim has units left to scan.
    pub fn has_unit(&self) -> bool {
        self.victim_in_hand().is_some()
    }

    /// The newest victim, if it has units left to scan.
    pub fn victim_in_hand(&self) -> Option<u32> {
        let victim = self.victims.last().filter(|victim| victim.next_unit < self.superblock_units);
        victim.map(|victim| victim.superblock)
    }

    /// Begins a superblock.
    pub fn begin(&mut self, superblock: u32) {
        self.victims.push(Victim {
            superblock,
            next_unit: 0,
            units_in_flight: 0,
            durable_at: Mark::default(),
            is_settled: false,
            journal_at: None,
        });
    }

    /// Records the read of this number of valid pages of the newest victim; they reduce the debt if
    /// they give room for it (`pays`).
    #[inline]
    pub fn unit_issued(&mut self, pages: u32, pays: bool) {
        self.in_flight_pages += pages + self.slack_pages;
        if self.unasked_pages > 0 {
            self.unasked_pages -= i64::from(pages);
        }
        self.early_pages = self.early_pages.saturating_sub(u64::from(pages));
        if pays {
            self.owed_pages = self.owed_pages.saturating_sub(u64::from(pages));
        }
        if let Some(victim) = self.victims.last_mut() {
            victim.units_in_flight += 1;
        }
    }

    /// Index of a victim, valid until the next removal.
    #[inline]
    pub fn place_of(&self, superblock: u32) -> usize {
        let mut victims = self.victims.iter();
        victims.position(|victim| victim.superblock == superblock).unwrap_or(usize::MAX)
    }

    /// Records that pages of a victim have gone to a stream; they are durable after this number of
    /// its programs.
    #[inline]
    pub fn moved(&mut self, place: usize, stream: StreamId, programs: u64) {
        if let Some(victim) = self.victims.get_mut(place) {
            victim.durable_at.reach(stream, programs);
        }
    }

    /// Records that all pages of a unit of a victim are placed.
    #[inline]
    pub fn unit_placed(&mut self, place: usize, pages: u32) {
        let pages = pages + self.slack_pages;
        debug_assert!(pages <= self.in_flight_pages, "more pages are placed than were read");
        self.in_flight_pages -= pages;
        if let Some(victim) = self.victims.get_mut(place) {
            victim.units_in_flight -= 1;
            self.is_any_placed |= victim.is_placed(self.superblock_units);
        }
    }

    /// Records that the last scanned unit of the newest victim has no pages to place.
    pub fn unit_is_empty(&mut self) {
        let is_placed = |victim: &Victim| victim.is_placed(self.superblock_units);
        self.is_any_placed |= self.victims.last().is_some_and(is_placed);
    }

    /// Whether all pages of a victim are placed.
    #[inline]
    pub fn is_any_placed(&self) -> bool {
        self.is_any_placed
    }

    /// Number of fully placed victims that wait for their erase.
    pub fn waiting(&self) -> usize {
        self.victims.iter().filter(|victim| victim.is_placed(self.superblock_units)).count()
    }

    /// Whether a fully placed victim does not know its further conditions yet.
    pub fn is_any_unsettled(&self) -> bool {
        let units = self.superblock_units;
        self.victims.iter().any(|victim| !victim.is_settled && victim.is_placed(units))
    }

    /// Sets the further conditions of the fully placed victims.
    pub fn settle(&mut self, overwritten_at: Mark) {
        let units = self.superblock_units;
        let is_new = |victim: &&mut Victim| !victim.is_settled && victim.is_placed(units);
        for victim in self.victims.iter_mut().filter(is_new) {
            victim.is_settled = true;
            victim.durable_at.extend(overwritten_at);
        }
    }

    /// Whether a settled victim is durable and still lacks its journal position.
    pub fn is_any_unjournalled(&self, programs: &StreamPrograms) -> bool {
        self.victims.iter().any(|victim| victim.is_unjournalled(programs))
    }

    /// Sets the journal position of the durable victims.
    pub fn journal(&mut self, programs: &StreamPrograms, journal_at: u64) {
        for victim in self.victims.iter_mut().filter(|victim| victim.is_unjournalled(programs)) {
            victim.journal_at = Some(journal_at);
        }
    }

    /// Adds an empty superblock, to be erased once the journal contains these entries.
    pub fn adopt_empty(&mut self, superblock: u32, journal_at: u64) {
        let victim = Victim {
            superblock,
            next_unit: self.superblock_units,
            units_in_flight: 0,
            durable_at: Mark::default(),
            is_settled: true,
            journal_at: Some(journal_at),
        };
        self.victims.insert(0, victim);
        self.is_any_placed = true;
    }

    /// Begins to erase a superblock on `dies`, from which nothing had to move.
    pub fn erase(&mut self, superblock: u32, dies: u32) {
        self.erasing.push_back(SuperblockErase { superblock, dies_left: dies });
    }

    /// Removes a victim that is fully placed and durable, on a drive with a journal also in the
    /// entries before `journal`; it counts as being erased on `dies`.
    pub fn take_erasable(
        &mut self,
        programs: &StreamPrograms,
        journal: Option<u64>,
        dies: u32,
    ) -> Option<u32> {
        let superblock_units = self.superblock_units;
        let ready = |victim: &Victim| {
            victim.is_placed(superblock_units)
                && programs.reached(victim.durable_at)
                && journal.is_none_or(|journal| victim.journal_at.is_some_and(|at| at <= journal))
        };
        let index = self.victims.iter().position(ready)?;
        let victim = self.victims.remove(index);
        self.is_any_placed = self.victims.iter().any(|victim| victim.is_placed(superblock_units));
        self.erasing.push_back(SuperblockErase { superblock: victim.superblock, dies_left: dies });
        Some(victim.superblock)
    }

    /// The stream whose open unit gets the next moved pages of any kind, or `None` if each goes to
    /// its own.
    #[inline]
    pub fn top_up(&self) -> Option<StreamId> {
        self.top_up
    }

    /// Directs the next pages to the open unit that a fully placed victim waits for, if there is
    /// one.
    pub fn begin_top_up(&mut self, programs: &StreamPrograms) {
        self.top_up = self.stuck_stream_of(programs, |_| true);
    }

    /// A unit of moved pages is full.
    #[inline]
    pub fn end_top_up(&mut self) {
        self.top_up = None;
    }

    /// Whether an erase waits for the open units of moved pages.
    #[inline]
    pub fn are_open_units_awaited(&self) -> bool {
        self.are_open_units_awaited
    }

    /// Records that an erase waits for the open units of moved pages.
    pub fn await_open_units(&mut self) {
        self.are_open_units_awaited = true;
    }

    /// Records that the open units of moved pages are complete.
    pub fn open_units_completed(&mut self) {
        self.top_up = None;
        self.are_open_units_awaited = false;
    }

    /// The stream that some fully placed victim waits for, because its last pages are in a unit
    /// that is not full.
    pub fn stuck_stream_of(
        &self,
        programs: &StreamPrograms,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<StreamId> {
        let is_placed = |victim: &&Victim| {
            victim.is_placed(self.superblock_units) && is_wanted(victim.superblock)
        };
        let mut placed = self.victims.iter().filter(is_placed);
        placed.find_map(|victim| programs.not_issued(victim.durable_at))
    }

    /// Whether a superblock is being erased.
    pub fn is_erasing(&self) -> bool {
        !self.erasing.is_empty()
    }

    /// One die has erased its blocks of `superblock`; true when it was the last.
    pub fn die_erased(&mut self, superblock: u32) -> bool {
        let Some(index) = self.erasing.iter().position(|e| e.superblock == superblock) else {
            return false;
        };
        self.erasing[index].dies_left -= 1;
        if self.erasing[index].dies_left > 0 {
            return false;
        }
        self.erasing.remove(index);
        true
    }
}
