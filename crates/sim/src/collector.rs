//! The life of victims: scanned unit by unit, relocated, made durable, erased.
//!
//! A victim is erased only when every page moved out of it has been programmed elsewhere, so that
//! a power cut at any moment leaves one good copy.

use std::collections::VecDeque;

use crate::durability::{Mark, StreamPrograms};
use crate::ftl::StreamId;

/// One superblock on its way from closed to erased.
#[derive(Clone, Copy, Debug)]
struct Victim {
    superblock: u32,
    /// Next unit to look at, within the superblock.
    next_unit: u32,
    /// Units read or being read whose pages are not yet placed.
    units_in_flight: u32,
    /// Behind the programs of the pages moved out of it so far.
    durable_at: Mark,
    /// On drives with a journal: `durable_at` counts what has overwritten its pages too.
    is_settled: bool,
    /// On drives with a journal: entries that it must hold before the erase, set once all pages are durable.
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

/// An erase under way.
#[derive(Clone, Copy, Debug)]
struct Erasing {
    superblock: u32,
    dies_left: u32,
}

/// Garbage collection's work in hand.
#[derive(Debug, Default)]
pub struct Collector {
    /// Oldest first; only the last may still be scanned.
    victims: Vec<Victim>,
    /// All pages of one of them have their new place: asked with every unit, so it is not looked for.
    is_any_placed: bool,
    erasing: VecDeque<Erasing>,
    /// Valid pages the pacing policy wants moved.
    pub owed_pages: u64,
    /// A stream whose open unit gets the next pages moved, whatever they are.
    pub top_up: Option<StreamId>,
    /// Valid pages that idle collection or a reorganisation may move now; less than none where a unit held
    /// more than that.
    pub idle_pages: i64,
    /// Valid pages read or being read that are not yet placed.
    pub in_flight_pages: u32,
    /// Valid pages of the newest victim that was chosen to make room, at that moment.
    pub victim_valid_pages: u32,
    /// Pages of victims already looked at, whose room comes back with the erase.
    pub reclaimed_pages: u64,
}

impl Collector {
    /// The next unit to look at, as (superblock, unit within it); `None` where a new victim is needed.
    #[inline]
    pub fn next_unit(&mut self, superblock_units: u32) -> Option<(u32, u32)> {
        let victim = self.victims.last_mut()?;
        if victim.next_unit == superblock_units {
            return None;
        }
        victim.next_unit += 1;
        Some((victim.superblock, victim.next_unit - 1))
    }

    /// True where the newest victim has units left to look at.
    #[must_use]
    pub fn has_unit(&self, superblock_units: u32) -> bool {
        self.victims.last().is_some_and(|victim| victim.next_unit < superblock_units)
    }

    /// The newest victim, where it has units left to look at.
    #[must_use]
    pub fn victim_in_hand(&self, superblock_units: u32) -> Option<u32> {
        let victim = self.victims.last().filter(|victim| victim.next_unit < superblock_units);
        victim.map(|victim| victim.superblock)
    }

    /// Lets a unit's worth of pages move that nobody waits for; what was not used does not add up.
    pub fn allow_unit(&mut self, unit_pages: u32) {
        let unit_pages = i64::from(unit_pages);
        self.idle_pages = (self.idle_pages + unit_pages).min(unit_pages);
    }

    /// Begins with a superblock.
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

    /// A unit of the newest victim is being read; `slack_pages` more than its own may be needed to place it.
    #[inline]
    pub fn unit_issued(&mut self, pages: u32, slack_pages: u32) {
        self.in_flight_pages += pages + slack_pages;
        if self.idle_pages > 0 {
            self.idle_pages -= i64::from(pages);
        }
        self.owed_pages = self.owed_pages.saturating_sub(u64::from(pages));
        if let Some(victim) = self.victims.last_mut() {
            victim.units_in_flight += 1;
        }
    }

    /// Where a victim stands among the others, until the next one is taken away.
    #[inline]
    #[must_use]
    pub fn place_of(&self, superblock: u32) -> usize {
        let mut victims = self.victims.iter();
        victims.position(|victim| victim.superblock == superblock).unwrap_or(usize::MAX)
    }

    /// Pages of a victim have gone to a stream; they are durable behind so many of its programs.
    #[inline]
    pub fn moved(&mut self, place: usize, stream: StreamId, programs: u64) {
        if let Some(victim) = self.victims.get_mut(place) {
            victim.durable_at.reach(stream, programs);
        }
    }

    /// The pages of a unit of a victim have been placed.
    #[inline]
    pub fn unit_placed(&mut self, place: usize, pages: u32, superblock_units: u32) {
        self.in_flight_pages -= pages;
        if let Some(victim) = self.victims.get_mut(place) {
            victim.units_in_flight -= 1;
            self.is_any_placed |= victim.is_placed(superblock_units);
        }
    }

    /// The unit of the newest victim that was looked at holds nothing that has to be placed.
    pub fn unit_is_empty(&mut self, superblock_units: u32) {
        let is_placed = |victim: &Victim| victim.is_placed(superblock_units);
        self.is_any_placed |= self.victims.last().is_some_and(is_placed);
    }

    /// True where all pages of a victim have their new place.
    #[inline]
    #[must_use]
    pub fn is_any_placed(&self) -> bool {
        self.is_any_placed
    }

    /// True where a fully placed victim has not been told what else it must wait for.
    #[must_use]
    pub fn is_any_unsettled(&self, superblock_units: u32) -> bool {
        self.victims.iter().any(|victim| !victim.is_settled && victim.is_placed(superblock_units))
    }

    /// Tells the fully placed victims what they must wait for beside the pages moved.
    pub fn settle(&mut self, superblock_units: u32, overwritten_at: Mark) {
        let is_new =
            |victim: &&mut Victim| !victim.is_settled && victim.is_placed(superblock_units);
        for victim in self.victims.iter_mut().filter(is_new) {
            victim.is_settled = true;
            victim.durable_at.extend(overwritten_at);
        }
    }

    /// True where a settled victim is durable and nobody has asked the journal for it.
    #[must_use]
    pub fn is_any_unjournalled(&self, programs: &StreamPrograms) -> bool {
        self.victims.iter().any(|victim| victim.is_unjournalled(programs))
    }

    /// Tells the victims that are durable which entries the journal must hold.
    pub fn journal(&mut self, programs: &StreamPrograms, journal_at: u64) {
        for victim in self.victims.iter_mut().filter(|victim| victim.is_unjournalled(programs)) {
            victim.journal_at = Some(journal_at);
        }
    }

    /// Takes a superblock that holds nothing, to be erased once the journal holds these entries.
    pub fn adopt_empty(&mut self, superblock: u32, superblock_units: u32, journal_at: u64) {
        let victim = Victim {
            superblock,
            next_unit: superblock_units,
            units_in_flight: 0,
            durable_at: Mark::default(),
            is_settled: true,
            journal_at: Some(journal_at),
        };
        self.victims.insert(0, victim);
        self.is_any_placed = true;
    }

    /// Takes a victim that is fully placed and whose pages are all durable, and on a drive with a journal
    /// in the entries before `journal`; it is counted as being erased on `dies`.
    pub fn take_erasable(
        &mut self,
        superblock_units: u32,
        programs: &StreamPrograms,
        journal: Option<u64>,
        dies: u32,
    ) -> Option<u32> {
        let ready = |victim: &Victim| {
            victim.is_placed(superblock_units)
                && programs.reached(victim.durable_at)
                && journal.is_none_or(|journal| victim.journal_at.is_some_and(|at| at <= journal))
        };
        let index = self.victims.iter().position(ready)?;
        let victim = self.victims.remove(index);
        self.is_any_placed = self.victims.iter().any(|victim| victim.is_placed(superblock_units));
        self.erasing.push_back(Erasing { superblock: victim.superblock, dies_left: dies });
        Some(victim.superblock)
    }

    /// The stream that a fully placed victim waits for, because its last pages stand in a unit that is
    /// not full.
    #[must_use]
    pub fn stuck_stream(
        &self,
        superblock_units: u32,
        programs: &StreamPrograms,
    ) -> Option<StreamId> {
        self.stuck_stream_of(superblock_units, programs, |_| true)
    }

    /// The same for some victims only.
    #[must_use]
    pub fn stuck_stream_of(
        &self,
        superblock_units: u32,
        programs: &StreamPrograms,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<StreamId> {
        let is_placed =
            |victim: &&Victim| victim.is_placed(superblock_units) && is_wanted(victim.superblock);
        let mut placed = self.victims.iter().filter(is_placed);
        placed.find_map(|victim| programs.not_issued(victim.durable_at))
    }

    /// True while a superblock is being erased.
    #[must_use]
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
