//! Does the simulator keep its map right? A second FTL, small and slow, follows every operation.
//!
//! The reference shares no code with the simulator: maps in `BTreeMap`s, its own streams, free list
//! and victim choice. It gets each operation through a probe, computes the place of the page, the
//! necessary victim and whether an erase is safe, and panics at the first difference. Random
//! drives, random commands; a failure names the seed, the model and the command that repeats this
//! one case.

#[path = "../common/mod.rs"]
mod common;
mod groups;
mod handles;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use base::{OpKind, Rng};
use sim::ftl::allocation::Allocation;
use sim::ftl::gc::VictimPolicy;
use sim::ftl::placement::{Isolation, Placement};
use sim::ftl::{STREAMS, StreamId};
use sim::host::DeallocateSupport;
use sim::{Config, Device, PAGE_BYTES, Probe};

use common::cases::Cases;
use common::swarm::{Draft, Watchdog, alive, is_small, torture};
use common::{alone, op, sometimes_large};

/// Number of tested drives.
const SEEDS: u64 = 10_000;
const POLICIES: [&str; 5] = ["greedy", "fifo", "d-choices", "windowed-greedy", "cost-benefit"];

/// An open superblock and its next page.
type Open = (u32, u32);

/// The second FTL.
struct Reference {
    config: Config,
    /// First physical page of each logical page, and their number.
    map: BTreeMap<u64, (u64, u32)>,
    /// Valid physical pages of each superblock.
    valid: BTreeMap<u32, BTreeSet<u64>>,
    /// Erased superblocks, oldest first.
    free: VecDeque<u32>,
    /// Erased superblocks that serve only as cache, oldest first.
    cache_free: VecDeque<u32>,
    /// Superblocks written as cache, oldest first.
    cached: Vec<u32>,
    /// Those of them that have become victims.
    folding: BTreeSet<u32>,
    /// Open superblock and next page of each stream.
    streams: [Option<Open>; STREAMS],
    /// The same for the other groups of dies, the next one first, and the group at hand.
    groups: groups::Groups,
    /// Full superblocks in the order in which they were filled.
    closed: Vec<u32>,
    /// Superblocks being collected, with the new places of the pages moved out.
    victims: BTreeMap<u32, Vec<u64>>,
    /// Places of the pages that re-sorting has taken from superblocks that are no victims yet.
    sorted: BTreeMap<u32, Vec<u64>>,
    /// The victim of the page placed last.
    moving: Option<u32>,
    /// The writer of each superblock since its last erase.
    writers: BTreeMap<u32, StreamId>,
    /// Superblocks that are victims for the sake of wear or age, as far as can be told.
    young: BTreeSet<u32>,
    /// Order in which each superblock was filled, and the number of fills.
    filled_at: BTreeMap<u32, u64>,
    filled: u64,
    programmed: BTreeSet<u32>,
    erases: BTreeMap<u32, u32>,
    programs: u64,
    /// Possible states of the drive's random generator, by the number of draws so far: one state,
    /// unless a victim can have two reasons.
    lots: BTreeMap<u64, Rng>,
    /// Number of victims that the policy must have chosen.
    chosen: u64,
    dog: Watchdog,
}

impl Reference {
    fn new(config: Config) -> Self {
        Self {
            groups: groups::at_start(&config),
            lots: BTreeMap::from([(0, Rng::split(config.seed, "victims"))]),
            chosen: 0,
            dog: Watchdog::default(),
            free: (0..Self::first_cache(&config)).collect(),
            cache_free: (Self::first_cache(&config)..config.geometry.superblocks).collect(),
            cached: Vec::new(),
            folding: BTreeSet::new(),
            config,
            map: BTreeMap::new(),
            valid: BTreeMap::new(),
            streams: [None; STREAMS],
            closed: Vec::new(),
            victims: BTreeMap::new(),
            sorted: BTreeMap::new(),
            moving: None,
            writers: BTreeMap::new(),
            young: BTreeSet::new(),
            filled_at: BTreeMap::new(),
            filled: 0,
            programmed: BTreeSet::new(),
            erases: BTreeMap::new(),
            programs: 0,
        }
    }

    /// The first superblock that serves only as cache.
    fn first_cache(config: &Config) -> u32 {
        config.geometry.superblocks - config.geometry.cache_superblocks
    }

    fn superblock_of(&self, physical: u64) -> u32 {
        (physical / u64::from(self.config.geometry.superblock_pages())) as u32
    }

    fn valid_count(&self, superblock: u32) -> usize {
        self.valid.get(&superblock).map_or(0, BTreeSet::len)
    }

    /// The necessary place of the next page of a stream, which has gone to `physical`.
    fn advance(&mut self, stream: StreamId, physical: u64) -> u64 {
        let pages = self.config.geometry.superblock_pages();
        let is_cache = stream == StreamId::Pslc;
        let cache_pages = self.config.geometry.cache_units * self.config.geometry.unit_pages;
        let end = if is_cache { cache_pages } else { pages };
        self.skip_groups(stream, self.superblock_of(physical));
        let group = self.groups[stream as usize].1;
        let (superblock, next) = self.streams[stream as usize].unwrap_or_else(|| {
            let own = if is_cache { self.cache_free.pop_front() } else { None };
            let erased = own.or_else(|| self.next_free(stream, group));
            (erased.expect("a stream opened a superblock that was not free"), 0)
        });
        let mut after = next + 1;
        while after < pages && self.is_parity(after) {
            after += 1;
        }
        let is_full = after >= end;
        self.streams[stream as usize] = (!is_full).then_some((superblock, after));
        self.writers.insert(superblock, stream);
        assert!(self.is_within_limit(), "the cache borrows more than it may");
        self.end_row(stream, after);
        if is_full {
            if is_cache { &mut self.cached } else { &mut self.closed }.push(superblock);
            self.note_filled(superblock);
        }
        u64::from(superblock) * u64::from(pages) + u64::from(next)
    }

    /// Whether the cache borrows no more superblocks than it may.
    fn is_within_limit(&self) -> bool {
        let max = self.config.options.pslc.and_then(|pslc| pslc.borrowed_superblocks_max);
        let native = self.writers.range(..Self::first_cache(&self.config));
        let borrowed = native.filter(|(_, writer)| **writer == StreamId::Pslc);
        max.is_none_or(|max| borrowed.count() <= max as usize)
    }

    fn note_filled(&mut self, superblock: u32) {
        self.filled_at.insert(superblock, self.filled);
        self.filled += 1;
    }

    /// Free space per cost of gaining it, times age (Rosenblum and Ousterhout 1992).
    fn cost_benefit(&self, superblock: u32) -> f64 {
        let valid = self.valid_count(superblock) as f64;
        let pages = f64::from(self.config.geometry.superblock_data_pages());
        let age = (self.filled - self.filled_at[&superblock] + 1) as f64;
        if valid > 0.0 { (pages - valid) * age / (2.0 * valid) } else { f64::INFINITY }
    }

    /// The stream for data of a victim: with the policy, data that has moved before is cold; so is
    /// data that moves because of wear.
    fn check_separation(&self, stream: StreamId, from: u32, physical: u64) {
        let writer = self.writers[&from];
        if !self.victims.contains_key(&from) {
            assert!(self.config.options.idle_sort.is_some(), "only victims are collected");
            assert!(stream == StreamId::Cold && writer != StreamId::Pslc, "{from} is not sorted");
            return;
        }
        let was_moved = StreamId::MOVED.contains(&writer);
        let is_cold = if self.config.options.streams.is_some() {
            was_moved
        } else {
            writer == StreamId::Cold
        };
        let wanted = match self.config.options.placement {
            Some(Placement { isolation: Isolation::Persistent, .. }) => same_handle(writer),
            _ if self.is_apart() => self.stream_of_group(from),
            _ if is_cold => StreamId::Cold,
            _ => StreamId::Gc,
        };
        let is_young = stream == StreamId::Cold && self.young.contains(&from);
        // An open unit that others wait for is filled with anything, and without erased superblocks there is no choice.
        let completes_unit = !physical.is_multiple_of(self.config.geometry.unit_pages.into());
        let has_no_choice = self.free.is_empty() && !self.is_open(wanted) && !self.is_apart();
        assert!(
            stream == wanted || is_young || completes_unit && !self.is_apart() || has_no_choice,
            "data of {from}, written by {writer:?}, went to {stream:?}"
        );
    }

    /// Whether a page of a superblock belongs to parity: the last unit of the first stripe, the
    /// last but one of the second, and so on.
    fn is_parity(&self, page: u32) -> bool {
        let geometry = &self.config.geometry;
        let unit = page / geometry.unit_pages;
        geometry.stripe_units > 0
            && (unit + unit / geometry.stripe_units + 1).is_multiple_of(geometry.stripe_units)
    }

    /// Parity needs all the data of its stripe: checks that every page of it has been placed.
    fn check_stripe(&self, unit: u32) {
        let geometry = &self.config.geometry;
        let (superblock, place) =
            (unit / geometry.superblock_units, unit % geometry.superblock_units);
        if !self.is_parity(place * geometry.unit_pages) {
            return;
        }
        let end =
            (place - place % geometry.stripe_units + geometry.stripe_units) * geometry.unit_pages;
        let open = self.streams.iter().flatten().find(|(open, _)| *open == superblock);
        assert!(open.is_none_or(|(_, next)| *next >= end), "parity of unit {unit} came too early");
    }

    /// The necessary next erased superblock of a stream.
    fn next_free(&mut self, stream: StreamId, group: u32) -> Option<u32> {
        let candidates = self.free_of(group);
        let chosen =
            match self.config.options.wear_leveling.map(|wear| wear.allocation).unwrap_or_default()
            {
                Allocation::OldestFirst => *candidates.first()?,
                Allocation::LeastWorn if stream == StreamId::Cold => {
                    let most =
                        candidates.iter().map(|&superblock| self.erases_of(superblock)).max()?;
                    *candidates.iter().rfind(|&&superblock| self.erases_of(superblock) == most)?
                }
                Allocation::LeastWorn => {
                    let fewest =
                        candidates.iter().map(|&superblock| self.erases_of(superblock)).min()?;
                    *candidates.iter().find(|&&superblock| self.erases_of(superblock) == fewest)?
                }
            };
        self.free.retain(|&superblock| superblock != chosen);
        Some(chosen)
    }

    fn erases_of(&self, superblock: u32) -> u32 {
        self.erases.get(&superblock).copied().unwrap_or(0)
    }

    /// Whether wear alone permits this victim: it is the least worn of those whose data stays, and the lead is too large.
    fn is_too_young(&self, superblock: u32) -> bool {
        let Some(spread_max) = self.config.options.wear_leveling.and_then(|wear| wear.spread_max)
        else {
            return false;
        };
        let others = 0..Self::first_cache(&self.config);
        let most = others.clone().map(|other| self.erases_of(other)).max().unwrap_or(0);
        let has_stayed =
            |closed: u32| self.filled - self.filled_at[&closed] > u64::from(others.end);
        let staying = self.closed.iter().copied().filter(|&closed| has_stayed(closed));
        let least = staying.map(|closed| self.erases_of(closed)).min();
        let erases = self.erases_of(superblock);
        has_stayed(superblock) && Some(erases) == least && most.saturating_sub(erases) > spread_max
    }

    /// Whether a reorganisation may have chosen this victim; `performance_mode.rs` checks which
    /// superblocks were fast.
    fn is_reorganised(&self, superblock: u32) -> bool {
        self.config.options.performance_mode.is_some() && self.closed.contains(&superblock)
    }

    /// True where blocks that were read too often are moved: which those are is for `device/aging.rs`.
    fn reclaims(&self) -> bool {
        let retry = self.config.options.nand_features.retry;
        retry.is_some_and(|retry| retry.reclaim_reads.is_some())
    }

    /// True where a reclaim may have chosen this victim.
    fn is_reclaimed(&self, superblock: u32) -> bool {
        self.reclaims() && self.closed.contains(&superblock)
    }

    fn forget(&mut self, logical: u64) -> Option<u64> {
        let (old, size) = self.map.remove(&logical)?;
        let superblock = self.superblock_of(old);
        let valid = self.valid.get_mut(&superblock).expect("the superblock held something");
        assert!((old..old + u64::from(size)).all(|page| valid.remove(&page)));
        Some(old)
    }

    /// A physical page of a logical one; a page moved by garbage collection is recorded for its
    /// victim.
    fn fill(&mut self, from: Option<u32>, physical: u64) {
        if let Some(from) = from {
            match self.victims.get_mut(&from) {
                Some(moved) => moved.push(physical),
                None => self.sorted.entry(from).or_default().push(physical),
            }
        }
        let superblock = self.superblock_of(physical);
        self.valid.entry(superblock).or_default().insert(physical);
    }

    /// Whether the policy may choose this victim now.
    fn may_choose(&mut self, superblock: u32) -> bool {
        let emptiest = |&superblock: &u32| self.valid_count(superblock);
        let closed = self.closed_beside(superblock);
        let window = closed.iter().copied().take(self.config.gc_candidates as usize);
        match self.config.gc_policy {
            VictimPolicy::Greedy => {
                let numbered = closed.iter().map(|&s| (self.valid_count(s), s)).min();
                numbered.is_some_and(|(_, emptiest)| emptiest == superblock)
            }
            VictimPolicy::Fifo => closed.first() == Some(&superblock),
            // Of equals the oldest.
            VictimPolicy::WindowedGreedy => window.min_by_key(emptiest) == Some(superblock),
            VictimPolicy::CostBenefit => {
                let best = closed.iter().map(|&s| self.cost_benefit(s)).fold(0.0, f64::max);
                // The drive compares whole millionths.
                closed.contains(&superblock) && self.cost_benefit(superblock) >= best - 2e-6
            }
            // Any full superblock may have been moved for another reason, so nothing is known of the lots.
            VictimPolicy::DChoices
                if self.config.options.performance_mode.is_some()
                    || self.refreshes()
                    || self.reclaims() =>
            {
                self.closed.contains(&superblock)
            }
            VictimPolicy::DChoices => self.may_draw(superblock),
        }
    }

    /// Whether a random draw gives this victim. Updates the known states of the generator: if the
    /// victim may have another reason, nothing may have been drawn for it.
    fn may_draw(&mut self, superblock: u32) -> bool {
        let before = std::mem::take(&mut self.lots);
        let mut after = BTreeMap::new();
        let closed = self.closed_beside(superblock);
        let fill = |superblock| closed.contains(&superblock).then(|| self.valid_count(superblock));
        let (first, step) = self.group_beside(superblock);
        let fills: Vec<_> =
            (first..self.config.geometry.superblocks).step_by(step).map(fill).collect();
        for (drawn, lots) in &before {
            let mut lots = lots.clone();
            let (place, more) = draw(&mut lots, &fills, self.config.gc_candidates);
            if place * step as u32 + first == superblock {
                after.insert(drawn + more, lots);
            }
        }
        let is_drawn = !after.is_empty();
        if self.has_other_reason(superblock) {
            after.extend(before);
        }
        self.lots = after;
        is_drawn
    }

    /// Whether a superblock may be a victim independent of the policy.
    fn has_other_reason(&self, superblock: u32) -> bool {
        self.is_too_young(superblock)
            || self.is_reorganised(superblock)
            || self.is_refreshed(superblock)
            || self.is_reclaimed(superblock)
    }

    /// True where a superblock may be a victim because it is old. Time is not followed here; `housekeeping.rs` checks it.
    fn is_refreshed(&self, superblock: u32) -> bool {
        self.refreshes() && self.closed.contains(&superblock)
    }

    fn refreshes(&self) -> bool {
        self.config.options.housekeeping.is_some_and(|plan| plan.refresh.is_some())
    }

    fn compare(&self, device: &Device<Self>) {
        let ftl = device.ftl();
        for (logical, physical) in (0..).zip(ftl.l2p.iter()) {
            let (want, size) = self.map.get(&logical).copied().unwrap_or((sim::ftl::NO_PAGE, 0));
            assert_eq!(physical, want, "place of logical page {logical}");
            let known = if size > 0 { ftl.size(logical) } else { 0 };
            assert_eq!(known, size, "size of logical page {logical}");
        }
        for superblock in 0..self.config.geometry.superblocks {
            let index = superblock as usize;
            let valid = ftl.valid_pages[index] as usize;
            assert_eq!(valid, self.valid_count(superblock), "valid in {superblock}");
            let erases = self.erases.get(&superblock).copied().unwrap_or(0);
            assert_eq!(ftl.erase_counts[index], erases, "erases of {superblock}");
        }
        let totals = device.telemetry();
        let geometry = &self.config.geometry;
        let unit_pages = geometry.unit_bytes() / PAGE_BYTES;
        assert_eq!(totals.programmed_pages, self.programs * unit_pages, "programs");
        assert!(ftl.free.iter().eq(&self.free), "free superblocks");
        assert!(ftl.cache_free.iter().eq(&self.cache_free), "free cache");
    }
}

/// The stream to which data of a handle moves where handles stay apart.
fn same_handle(writer: StreamId) -> StreamId {
    let pairs = StreamId::HOSTS.into_iter().zip(StreamId::COLLECTED);
    pairs.into_iter().find(|&(host, _)| host == writer).map_or(writer, |(_, collected)| collected)
}

/// The emptiest among this number of full superblocks drawn at random, the first among equals, and
/// the number of draws; the first full one if hardly any draw finds one. `fills` has the valid
/// pages of full superblocks, among which it counts.
fn draw(lots: &mut Rng, fills: &[Option<usize>], candidates: u32) -> (u32, u64) {
    let mut found = Vec::new();
    let mut drawn = 0;
    while found.len() < candidates as usize && drawn < 16 * u64::from(candidates) {
        let superblock = lots.below(fills.len() as u64) as u32;
        drawn += 1;
        found.extend(fills[superblock as usize].map(|pages| (pages, superblock)));
    }
    let emptiest = found.into_iter().min_by_key(|(pages, _)| *pages).map(|(_, found)| found);
    let first = || fills.iter().position(Option::is_some).map(|first| first as u32);
    (emptiest.or_else(first).expect("one of the full ones is a victim"), drawn)
}

impl Probe for Reference {
    fn placed(&mut self, stream: StreamId, logical: u64, physical: u64) {
        self.dog.placed(stream, logical, physical);
        assert_eq!(self.advance(stream, physical), physical, "a page went to the wrong place");
        let old = self.forget(logical);
        assert!(
            stream != StreamId::Cold || self.config.has_cold_stream(),
            "there is no cold stream"
        );
        self.moving = StreamId::MOVED
            .contains(&stream)
            .then(|| self.superblock_of(old.expect("only mapped pages are moved")));
        if let Some(from) = self.moving {
            self.check_separation(stream, from, physical);
        }
        self.map.insert(logical, (physical, 1));
        self.fill(self.moving, physical);
    }

    fn extended(&mut self, stream: StreamId, logical: u64, physical: u64) {
        assert_eq!(self.advance(stream, physical), physical, "a page went to the wrong place");
        let (first, size) = self.map.get_mut(&logical).expect("it was placed just now");
        assert_eq!(*first + u64::from(*size), physical, "a page lies in pieces");
        *size += 1;
        assert!(*size <= self.config.geometry.page_granules, "a page grew by compression");
        self.fill(self.moving, physical);
    }

    fn padded(&mut self, stream: StreamId, physical: u64) {
        assert_eq!(self.advance(stream, physical), physical);
    }

    fn map_programmed(&mut self, unit: u32) {
        self.programmed(unit);
    }

    fn die_erased(&mut self, superblock: u32, die: u32) {
        let geometry = self.config.geometry;
        if superblock >= geometry.superblocks {
            let units = geometry.superblock_units;
            let mut of_die = (0..units).filter(|unit| {
                unit % geometry.superblock_dies() == die % geometry.superblock_dies()
            });
            let _ = of_die.all(|unit| self.programmed.remove(&(superblock * units + unit)));
        }
    }

    fn unmapped(&mut self, logical: u64) {
        assert!(self.forget(logical).is_some());
    }

    fn programmed(&mut self, unit: u32) {
        assert!(self.programmed.insert(unit), "unit {unit} was programmed twice without an erase");
        self.check_stripe(unit);
        self.programs += 1;
    }

    fn cache_closed(&mut self, superblock: u32) {
        let open = self.streams[StreamId::Pslc as usize].take();
        assert_eq!(open.map(|(open, _)| open), Some(superblock), "another one was open");
        self.cached.push(superblock);
        self.note_filled(superblock);
    }

    fn victim(&mut self, superblock: u32) {
        self.dog.victim(superblock);
        if let Some(place) = self.cached.iter().position(|&cached| cached == superblock) {
            let first_cache = Self::first_cache(&self.config);
            let borrowed = self.cached.iter().position(|&cached| cached < first_cache);
            assert!(place == 0 || borrowed == Some(place), "{superblock} was folded out of turn");
            self.cached.remove(place);
            self.folding.insert(superblock);
            self.victims.insert(superblock, Vec::new());
            return;
        }
        let may_choose = self.may_choose(superblock);
        let has_other_reason = self.has_other_reason(superblock);
        assert!(may_choose || has_other_reason, "the policy may not choose {superblock}");
        self.chosen += u64::from(!has_other_reason);
        if self.is_too_young(superblock) || self.is_refreshed(superblock) {
            self.young.insert(superblock);
        }
        self.closed.retain(|&closed| closed != superblock);
        let sorted = self.sorted.remove(&superblock).unwrap_or_default();
        self.victims.insert(superblock, sorted);
    }

    fn erased(&mut self, superblock: u32) {
        let moved = self.victims.remove(&superblock).expect("only victims are erased");
        assert_eq!(self.valid_count(superblock), 0, "superblock {superblock} held data");
        let unit_pages = self.config.geometry.unit_pages;
        for physical in moved {
            let unit = (physical / u64::from(unit_pages)) as u32;
            assert!(self.programmed.contains(&unit), "{superblock} went before its data was safe");
        }
        // Pages that other victims had moved in here have moved on, and are safe there.
        let pages = u64::from(self.config.geometry.superblock_pages());
        for others in self.victims.values_mut().chain(self.sorted.values_mut()) {
            others.retain(|physical| physical / pages != u64::from(superblock));
        }
        let units = self.config.geometry.superblock_units;
        for unit in superblock * units..(superblock + 1) * units {
            let was_written = self.programmed.remove(&unit) || self.folding.contains(&superblock);
            assert!(was_written, "unit {unit} was erased before it was written");
        }
        self.folding.remove(&superblock);
        self.young.remove(&superblock);
        self.writers.remove(&superblock);
        *self.erases.entry(superblock).or_default() += 1;
        let is_cache_only = superblock >= Self::first_cache(&self.config);
        if is_cache_only { &mut self.cache_free } else { &mut self.free }.push_back(superblock);
    }
}

/// Deallocates some pages of 4 KiB alone: what they cover and nothing else of the host is forgotten, where the drive
/// has the command.
fn trim(device: &mut Device<Reference>, rng: &mut Rng) {
    let geometry = device.config().geometry;
    let each = u64::from(geometry.host_pages());
    let pages = geometry.logical_pages * each;
    let length = 1 + rng.below(8.min(pages));
    let first = rng.below(pages - length + 1);
    let mut kept = device.probe().map.clone();
    if device.config().interface.deallocate == DeallocateSupport::Works {
        let covered = first.div_ceil(each)..(first + length) / each;
        kept.retain(|&page, _| !covered.contains(&page) || device.keeps(page));
    }
    alone(device, &op(OpKind::Deallocate, first, length, 0));
    let of_host = ..geometry.logical_pages;
    let held = device.probe().map.range(of_host).map(|(page, _)| page);
    assert!(
        kept.range(of_host).map(|(page, _)| page).eq(held),
        "deallocating {length} pages from {first} forgot others"
    );
}

/// A test that the reference follows.
fn live(config: Config, rng: &mut Rng) -> Device<Reference> {
    let reference = Reference::new(config.clone());
    let mut device = Device::with_probe(config, reference);
    let mut trims = rng.clone();
    torture(&mut device, rng, |device| {
        trim(device, &mut trims);
        device.probe().compare(device);
    });
    device
}

#[test]
fn a_second_implementation_agrees_operation_by_operation() {
    let (mut drives, mut moved, mut erased) = (0, 0, 0);
    let mut chosen: BTreeMap<&str, u64> = BTreeMap::new();
    let cases = Cases::chosen();
    for seed in cases.seeds(SEEDS) {
        let mut rng = Rng::split(seed, "reference");
        let mut draft = Draft::random(&mut rng, &[]);
        // In turn, so that a tenth of the cases holds victims of all.
        let policy = POLICIES[(seed % POLICIES.len() as u64) as usize];
        draft.values.insert("gc.policy", policy.to_owned());
        let Some(config) = draft.resolve().ok().filter(is_small) else { continue };
        let config = Config { seed, ..sometimes_large(config, seed) };
        let device = alive("reference", seed, &draft, || live(config, &mut rng));
        drives += 1;
        *chosen.entry(policy).or_default() += device.probe().chosen;
        moved += device.telemetry().gc_moved_pages;
        erased += device.telemetry().erased_superblocks;
    }
    println!("{drives} drives, {moved} pages moved, {erased} superblocks erased: no difference");
    println!("victims by policy: {chosen:?}");
    if cases.is_repetition() {
        return;
    }
    let has_victims = |policy| chosen.get(policy).is_some_and(|&n| n > cases.least(1_000));
    assert!(POLICIES.into_iter().all(has_victims), "{chosen:?}");
    let tried =
        drives > cases.least(50) && moved > cases.least(100_000) && erased > cases.least(1_000);
    assert!(tried, "too tame to mean anything");
}
