//! The cost of the map on NAND. Journal and checkpoints of the small drive (units of 4 pages,
//! superblocks of 128 units) compared with sums that a reader can follow.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use base::{OpKind, Ratio, Rng};
use sim::ftl::table::PageTable;
use sim::{Config, Device, Probe};

use crate::common::swarm::Watchdog;
use crate::common::{
    MAP_ROOM, MAPPED, alone, closed_loop, fill, op, random_writes, secs, small, small_config,
};

/// See `MAPPED`.
const UNIT_ENTRIES: u64 = 256;
const UNIT_PAGES: u64 = 4;

fn mapped(changes: &[(&str, &str)]) -> Device {
    small(&[&MAPPED[..], &MAP_ROOM, changes].concat())
}

#[test]
fn every_unit_of_entries_is_one_program() {
    let mut device = mapped(&[]);
    // Twenty units of entries and one page: the last unit of data is not full and not in NAND.
    fill(&mut device, 20 * UNIT_ENTRIES + 1);
    device.run_until(secs(100));
    assert_eq!(device.telemetry().metadata_pages, 20 * UNIT_PAGES);
    assert_eq!(device.telemetry().programmed_pages, 20 * (UNIT_ENTRIES + UNIT_PAGES));
    device.check().unwrap();
}

#[test]
fn a_drive_without_the_section_writes_no_map() {
    let mut device = small(&[]);
    fill(&mut device, 100_000);
    assert_eq!(device.telemetry().metadata_pages, 0);
}

#[test]
fn checkpoints_cost_a_map_for_every_half_journal() {
    // No garbage: the host writes every page once. A journal of 4 superblocks is checkpointed whenever two
    // are full, so every 2 x 128 journal units cost one checkpoint: its segments and its commit.
    let mut device = mapped(&[]);
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, pages);
    let segments = u64::from(device.config().options.mapping.unwrap().segments);
    assert_eq!(segments, pages.div_ceil(1024));
    let journal = pages / UNIT_ENTRIES;
    let checkpoints = journal / 256;
    let metadata = device.telemetry().metadata_pages / UNIT_PAGES;
    let least = journal + (checkpoints - 1) * (segments + 1);
    let most = journal + (checkpoints + 1) * (segments + 1);
    println!("{journal} journal units, {checkpoints} checkpoints of {segments}: {metadata} units");
    assert!(checkpoints >= 3 && (least..=most).contains(&metadata));
    device.check().unwrap();
}

/// Counts the programs of the map, and the erases.
#[derive(Default)]
struct Counts {
    journal: u64,
    segments: u64,
    commits: u64,
    programs: u64,
    /// Blocks on a die, by superblock.
    erases: BTreeMap<u32, u64>,
}

impl Probe for Counts {
    fn journal(&mut self, _: u32, _: u64) {
        self.journal += 1;
    }

    fn segment(&mut self, _: u32, _: Range<u64>, _: &PageTable) {
        self.segments += 1;
    }

    fn commit(&mut self, _: u32) {
        self.commits += 1;
    }

    fn map_programmed(&mut self, _: u32) {
        self.programs += 1;
    }

    fn die_erased(&mut self, superblock: u32, _: u32) {
        *self.erases.entry(superblock).or_default() += 1;
    }
}

/// Every unit of journal, segment of a checkpoint and commit is one program and counted once; every
/// block that gives its room back, of data or of the map, is one erase.
#[test]
fn the_books_of_the_map_agree_with_what_the_dies_have_done() {
    let config = mapped(&[]).config().clone();
    let mut device = Device::with_probe(config, Counts::default());
    let geometry = device.config().geometry;
    let pages = geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    closed_loop(&mut device, 32, 2 * pages, |tag| op(OpKind::Write, rng.below(pages), 1, tag));
    device.run_until(secs(device.now().0 / 1_000_000_000 + 100));
    let (totals, operations) = (device.telemetry(), device.operations());
    let Counts { journal, segments, commits, programs, erases } = device.probe();
    let shape = device.config().options.mapping.unwrap();
    println!("{journal} units of journal, {segments} segments, {commits} commits");
    assert_eq!(totals.metadata_pages, (journal + segments + commits) * UNIT_PAGES);
    assert_eq!(totals.metadata_pages, programs * UNIT_PAGES);
    assert_eq!(totals.programmed_pages, operations.programs * UNIT_PAGES);
    // One checkpoint may be under way.
    let begun = segments.div_ceil(u64::from(shape.segments));
    assert!(*commits >= 3 && (begun - 1..=begun).contains(commits), "{segments}, {commits}");
    let dies = u64::from(geometry.dies);
    let count = |superblocks: std::ops::Range<u32>| -> u64 {
        erases.range(superblocks).map(|(_, blocks)| blocks).sum()
    };
    let first = geometry.superblocks;
    let areas = first + shape.journal_superblocks;
    assert_eq!(count(0..first), totals.erased_superblocks * dies);
    assert_eq!(count(first..areas), commits * 2 * dies, "each frees half of the journal");
    assert_eq!(count(areas..u32::MAX), begun * u64::from(shape.area_superblocks) * dies);
    assert_eq!(operations.erases, count(0..u32::MAX));
    device.check().unwrap();
}

#[test]
fn in_the_long_run_the_map_costs_its_share_of_every_change() {
    // Every change is an entry of 1 / 256 unit, and every 256 units of journal bring a checkpoint: of all
    // map changes by host and collection, (1 + (segments + 1) / 256) / 256 units go to the map. Beside that
    // every victim asks for the journal's unit of the moment (half a unit more on average).
    let mut device = mapped(&[]);
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages, &mut rng);
    let before = device.telemetry();
    random_writes(&mut device, pages, 2 * pages, &mut rng);
    let after = device.telemetry();
    let data = |row: base::TelemetryRow| row.programmed_pages - row.metadata_pages;
    let changes = (data(after) - data(before)) as f64;
    let victims = (after.erased_superblocks - before.erased_superblocks) as f64;
    let segments = f64::from(device.config().options.mapping.unwrap().segments);
    let journal = changes / UNIT_ENTRIES as f64 + victims / 2.0;
    let expected = journal * (1.0 + (segments + 1.0) / 256.0) * UNIT_PAGES as f64;
    let measured = (after.metadata_pages - before.metadata_pages) as f64;
    println!("{measured} pages of map, {expected:.0} expected, for {changes} of data");
    assert!((measured / expected - 1.0).abs() < 0.05, "{measured} against {expected}");
    device.check().unwrap();
}

#[test]
fn a_flush_after_a_deallocation_waits_for_the_journal() {
    const FLUSH: u64 = 6_000;
    const UNIT: u64 = 4 * 10_000 + 600_000;
    let mut device = mapped(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 8, 0));
    device.run_until(secs(1));
    assert_eq!(alone(&mut device, &op(OpKind::Flush, 0, 0, 0)), FLUSH, "data needs no journal");
    alone(&mut device, &op(OpKind::Deallocate, 0, 4, 0));
    assert_eq!(alone(&mut device, &op(OpKind::Flush, 0, 0, 0)), FLUSH + UNIT);
    assert_eq!(alone(&mut device, &op(OpKind::Flush, 0, 0, 0)), FLUSH, "it is there");
    alone(&mut device, &op(OpKind::Deallocate, 4, 4, 0));
    assert_eq!(
        alone(&mut device, &op(OpKind::Flush, 0, 0, 0)),
        FLUSH + UNIT,
        "the next one is not"
    );
    let mut safe = mapped(&[("buffer.power_loss_protected", "true")]);
    alone(&mut safe, &op(OpKind::Write, 0, 8, 0));
    alone(&mut safe, &op(OpKind::Deallocate, 0, 4, 0));
    assert_eq!(alone(&mut safe, &op(OpKind::Flush, 0, 0, 0)), FLUSH);
}

#[test]
fn deallocations_wait_for_a_full_journal_and_none_is_lost() {
    // An entry fills a quarter of a unit: 1,000,000 deallocations pass through a journal of a few superblocks.
    let changes = [
        ("mapping.entry_bytes", "1024"),
        ("nand.program_ns", "5000000"),
        ("controller.write_command_ns", "0"),
    ];
    let mut device = mapped(&changes);
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::new(3);
    closed_loop(&mut device, 32, 50_000, |tag| op(OpKind::Deallocate, rng.below(pages), 1, tag));
    // Each unit of 16 entries is a program of 5.04 ms on one of four dies.
    let least_ns = 50_000 / 16 / 4 * 5_000_000;
    assert!(device.now().0 > least_ns, "the journal held nobody up: {} ns", device.now().0);
    assert!(device.telemetry().metadata_pages >= 50_000 / 16 * UNIT_PAGES);
    device.check().unwrap();
}

/// Progress of a checkpoint beside the journal.
#[derive(Default)]
struct Pace {
    /// Units of journal since the begin of the checkpoint, and the most of all checkpoints.
    journal: u64,
    journal_max: u64,
    /// Segments in program, and the most at one time.
    under_way: BTreeSet<u32>,
    under_way_max: usize,
    commits: u64,
}

impl Probe for Pace {
    fn journal(&mut self, _: u32, _: u64) {
        self.journal += 1;
    }

    fn segment(&mut self, unit: u32, pages: Range<u64>, _: &PageTable) {
        if pages.start == 0 {
            self.journal = 0;
        }
        self.under_way.insert(unit);
        self.under_way_max = self.under_way_max.max(self.under_way.len());
    }

    fn map_programmed(&mut self, unit: u32) {
        self.under_way.remove(&unit);
    }

    fn commit(&mut self, _: u32) {
        self.journal_max = self.journal_max.max(self.journal);
        self.commits += 1;
    }
}

/// A checkpoint is spread over the growth of the journal, so that no burst of it delays the host,
/// and ends within one superblock of the journal; when that is full, at most one segment per die is
/// in progress.
#[test]
fn a_checkpoint_keeps_pace_with_the_journal() {
    let mut device = Device::with_probe(mapped(&[]).config().clone(), Pace::default());
    let geometry = device.config().geometry;
    let (units, dies) = (u64::from(geometry.superblock_units), geometry.dies as usize);
    let pages = geometry.logical_pages;
    let mut rng = Rng::new(3);
    let mut write = |tag| op(OpKind::Write, rng.below(pages), 1, tag);
    closed_loop(&mut device, 32, pages, &mut write);
    let Pace { journal_max, under_way_max, commits, .. } = device.probe();
    println!("{commits} checkpoints, {journal_max} journal units, {under_way_max} at once");
    assert!(
        *commits > 2 && *journal_max <= units + 8,
        "{journal_max} units, {units} in a superblock"
    );
    let changes = [("mapping.entry_bytes", "1024"), ("controller.write_command_ns", "0")];
    let mut device = Device::with_probe(mapped(&changes).config().clone(), Pace::default());
    let mut deallocate = |tag| op(OpKind::Deallocate, rng.below(pages), 1, tag);
    closed_loop(&mut device, 32, 50_000, &mut deallocate);
    let Pace { under_way_max, commits, .. } = device.probe();
    println!("full journal: {commits} checkpoints, {under_way_max} segments at once");
    assert!(*commits > 2 && *under_way_max == dies, "{under_way_max} segments at once");
}

/// A drive of one die whose journal is slower than collection: a granule of data has an entry of twice its size,
/// and every eighth unit of the journal brings a checkpoint.
const SLOW_JOURNAL: [(&str, &str); 17] = [
    ("buffer.write_bytes", "65_536"),
    ("compression.granule_bytes", "512"),
    ("gc.free_high", "6"),
    ("interface.queue_depth", "1"),
    ("mapping.entry_bytes", "1024"),
    ("mapping.journal_superblocks", "3"),
    ("mapping.map_entry_bytes", "1024"),
    ("nand.blocks_per_plane", "176"),
    ("nand.channels", "1"),
    ("nand.dies_per_channel", "1"),
    ("nand.erase_ns", "1"),
    ("nand.page_bytes", "16_384"),
    ("nand.pages_per_block", "8192"),
    ("nand.planes", "1"),
    ("nand.reserved_superblocks", "150"),
    ("streams.cold", "survivor"),
    ("controller.relocate_ns", "0"),
];

fn slow_journal(scale: u64, changes: &[(&str, &str)]) -> Config {
    let scale = Ratio::new(1, scale).unwrap();
    small_config(scale, &[&SLOW_JOURNAL, changes].concat())
}

/// Fills a drive and writes all of it anew three times, page by page.
fn overwrite(device: &mut Device<Watchdog>) {
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::new(5);
    let mut page = 0;
    closed_loop(device, 1, 4 * pages, |tag| {
        page += 1;
        let random = rng.below(pages);
        op(OpKind::Write, if page <= pages { page - 1 } else { random }, 1, tag)
    });
    device.check().unwrap();
}

/// While victims wait for the journal, collection moved all other data in turn: it filled what each erase gave, and
/// the host got nothing.
#[test]
fn the_host_gets_the_room_of_victims_that_wait_for_a_slow_journal() {
    for policy in ["greedy", "fifo", "d-choices", "windowed-greedy", "cost-benefit"] {
        let config = slow_journal(1024, &[("gc.policy", policy)]);
        let mut device = Device::with_probe(config, Watchdog::default());
        overwrite(&mut device);
        let totals = device.telemetry();
        let programmed = totals.programmed_pages - totals.metadata_pages;
        println!("{policy}: {programmed} pages for {} of the host", totals.host_pages);
        assert!(totals.gc_moved_pages > 0 && programmed < 8 * totals.host_pages);
    }
}

/// A program takes an hour, and the reorganisation may move a page each nanosecond: the drive must not look at the
/// clock each time while it waits.
#[test]
fn a_fast_reorganisation_waits_for_a_slow_journal_without_a_look_each_nanosecond() {
    let config = slow_journal(
        512,
        &[
            ("gc.pacing", "token"),
            ("gc.policy", "fifo"),
            ("gc.free_high", "5"),
            ("nand.dies_per_channel", "2"),
            ("nand.page_bytes", "8192"),
            ("nand.pages_per_block", "4096"),
            ("nand.blocks_per_plane", "178"),
            ("wear_leveling.allocation", "oldest-first"),
            ("wear_leveling.spread_max", "8"),
            ("nand.program_ns", "3_600_000_000_000"),
            ("performance_mode.program_ns", "1"),
            ("performance_mode.fill_percent", "50"),
            ("performance_mode.reorganise_pages_per_s", "1_000_000_000"),
            ("performance_mode.reorganise_priority_percent", "1"),
        ],
    );
    let mut device = Device::with_probe(config, Watchdog::default());
    overwrite(&mut device);
    assert!(device.telemetry().gc_moved_pages > 0);
}
