//! Does the drive patrol at the asked rate, does refresh move what is old and nothing else, and does a flush write what
//! has changed of the map?

use base::{Nanos, OpKind, Ratio, Rng};
use sim::Device;

use crate::common::{
    MAP_ROOM, MAPPED, alone, closed_loop, fill, op, random_writes, secs, small, small_config,
    watched_loop,
};

/// A hundred units a second.
const PATROL: [(&str, &str); 1] = [("housekeeping.patrol_interval_ns", "10_000_000")];
const AFTER_S: u64 = 100;
const REFRESH: [(&str, &str); 2] = [
    ("housekeeping.refresh_after_ns", "100_000_000_000"),
    ("housekeeping.refresh_pages_per_s", "10_000"),
];
const SUPERBLOCK_PAGES: u64 = 512;
/// tR and four pages over the channel.
const PATROL_NS: u64 = 50_000 + 4 * 10_000;

fn rest(device: &mut Device, time: Nanos) {
    device.run_until(Nanos(device.now().0 + time.0));
}

fn moved(device: &Device) -> u64 {
    device.telemetry().gc_moved_pages
}

#[test]
fn dies_are_busy_with_patrol_at_the_asked_rate() {
    let mut device = small(&PATROL);
    rest(&mut device, secs(1));
    assert_eq!(device.operations().reads, 0, "there is nothing to read yet");
    fill(&mut device, 10 * SUPERBLOCK_PAGES);
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    rest(&mut device, Nanos(1_000_000));
    let (busy_ns, reads) = (device.telemetry().die_busy_ns, device.operations().reads);
    rest(&mut device, secs(50));
    assert_eq!(device.operations().reads - reads, 5_000);
    assert_eq!(device.telemetry().die_busy_ns - busy_ns, 5_000 * PATROL_NS);
}

#[test]
fn a_busy_drive_is_patrolled_as_often() {
    let mut device = small(&PATROL);
    fill(&mut device, 100 * SUPERBLOCK_PAGES);
    let (begin, reads) = (device.now().0, device.operations().reads);
    let mut rng = Rng::new(5);
    let pages = 40 * SUPERBLOCK_PAGES;
    closed_loop(&mut device, 32, pages, |tag| op(OpKind::Write, rng.below(pages), 1, tag));
    assert_eq!(moved(&device), 0, "the only reads are those of the patrol");
    let seconds = (device.now().0 - begin) as f64 / 1e9;
    let per_s = (device.operations().reads - reads) as f64 / seconds;
    assert!((95.0..102.0).contains(&per_s), "{per_s} units a second");
}

#[test]
fn refresh_moves_the_valid_pages_of_old_superblocks_once() {
    let mut device = small(&REFRESH);
    // The last of ten superblocks stays open.
    fill(&mut device, 10 * SUPERBLOCK_PAGES - 4);
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    // In each of the first four a quarter of the pages is written again.
    for page in (0..4 * SUPERBLOCK_PAGES).step_by(4) {
        alone(&mut device, &op(OpKind::Write, page, 1, 0));
    }
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    let written_ns = device.now().0;
    assert!(written_ns < Nanos::SECOND.0);
    device.run_until(secs(AFTER_S - 1));
    assert_eq!(moved(&device), 0, "nothing is old yet");
    device.run_until(secs(AFTER_S + 10));
    device.check().expect("sound");
    // The first page that was written again closed the tenth; the others stand in one that is still open.
    assert_eq!(moved(&device), 10 * SUPERBLOCK_PAGES - 4 * SUPERBLOCK_PAGES / 4);
    let once = moved(&device);
    device.run_until(secs(2 * AFTER_S - 1));
    assert_eq!(moved(&device), once, "what has moved is young again");
}

#[test]
fn refresh_keeps_to_its_rate_beside_a_busy_host() {
    let mut device = small(&REFRESH);
    fill(&mut device, 200 * SUPERBLOCK_PAGES);
    device.run_until(secs(AFTER_S));
    let (begin, before) = (device.now().0, moved(&device));
    let mut rng = Rng::new(5);
    let pages = 200 * SUPERBLOCK_PAGES;
    closed_loop(&mut device, 4, 20_000, |tag| op(OpKind::Read, rng.below(pages), 1, tag));
    let seconds = (device.now().0 - begin) as f64 / 1e9;
    let per_s = (moved(&device) - before) as f64 / seconds;
    assert!((9_000.0..10_100.0).contains(&per_s), "{per_s} pages a second");
}

/// All of the map in DRAM, and written every second. An entry of 64 bytes: 64 pages in a segment.
const FLUSH: [(&str, &str); 4] = [
    ("map_cache.bytes", "1_000_000_000"),
    ("map_cache.entry_bytes", "64"),
    ("nand.blocks_per_plane", "600"),
    ("housekeeping.map_flush_period_ns", "1_000_000_000"),
];
const SEGMENT_PAGES: u64 = 64;

fn metadata(device: &Device) -> u64 {
    device.telemetry().metadata_pages
}

#[test]
fn a_flush_writes_each_changed_segment_once_and_then_rests() {
    let mut device = small(&FLUSH);
    // Twice a page in each of ten segments, and twice a page in one of them.
    for page in (0..10).chain([3]).map(|segment| segment * SEGMENT_PAGES) {
        alone(&mut device, &op(OpKind::Write, page, 1, 0));
        alone(&mut device, &op(OpKind::Write, page + 1, 1, 0));
    }
    device.run_until(Nanos(999_000_000));
    assert_eq!(metadata(&device), 0, "the period is not over");
    device.run_until(secs(3_600));
    assert_eq!(metadata(&device), 10);
    // Two units of the host and two and a half of the map: the rest waits for its unit.
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    let totals = device.telemetry();
    let written = totals.host_pages + totals.metadata_pages + totals.padding_pages;
    assert_eq!((totals.programmed_pages, totals.host_pages), (written, 22));
    device.check().expect("sound");
}

#[test]
fn a_flush_of_a_limited_size_takes_as_many_periods_as_it_needs() {
    let mut device =
        small(&[&FLUSH[..], &[("housekeeping.map_flush_bytes_max", "16_384")]].concat());
    for segment in 0..10 {
        alone(&mut device, &op(OpKind::Write, segment * SEGMENT_PAGES, 1, 0));
    }
    let written = [1, 2, 3, 4].map(|second| {
        device.run_until(Nanos(secs(second).0 + 500_000_000));
        metadata(&device)
    });
    assert_eq!(written, [4, 8, 10, 10]);
}

/// In a period with w random writes, S segments have S (1 - (1 - 1 / S)^w) changed ones.
#[test]
fn a_flush_adds_as_much_to_the_waf_as_segments_have_changed() {
    for (period, scale) in [("100_000_000", 1), ("1_000_000_000", 1), ("1_000_000_000", 4)] {
        let changes = [&FLUSH[..3], &[("housekeeping.map_flush_period_ns", period)]].concat();
        let scale = Ratio::new(1, scale).expect("a ratio");
        let mut device: Device = Device::new(small_config(scale, &changes));
        let geometry = device.config().geometry;
        let (pages, segments) = (geometry.logical_pages, f64::from(geometry.map_pages));
        let period_ns = device.config().options.housekeeping;
        let period_ns = period_ns.and_then(|plan| plan.map_flush).expect("it flushes").period_ns;
        let mut rng = Rng::new(7);
        fill(&mut device, pages);
        random_writes(&mut device, pages, pages, &mut rng);
        let (before, begin_ns) = (device.telemetry(), device.now().0);
        random_writes(&mut device, pages, 2 * pages, &mut rng);
        let totals = device.telemetry();
        let written = (totals.host_pages - before.host_pages) as f64;
        let periods = (device.now().0 - begin_ns) as f64 / period_ns as f64;
        let changed = segments * (1.0 - (1.0 - 1.0 / segments).powf(written / periods));
        let share = (totals.metadata_pages - before.metadata_pages) as f64 / written;
        let expected = changed * periods / written;
        println!(
            "{period} ns at {scale}: {share:.4} map pages a page, by the formula {expected:.4}"
        );
        assert!((share / expected - 1.0).abs() < 0.02);
        device.check().expect("sound");
    }
}

/// The longest of many random writes in ms.
fn longest_ms(changes: &[(&str, &str)]) -> f64 {
    let mut device = small(&[&FLUSH[..3], changes].concat());
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::new(7);
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages / 2, &mut rng);
    let mut longest_ns = 0;
    let next = |tag| op(OpKind::Write, rng.below(pages), 1, tag);
    watched_loop(&mut device, 32, pages, next, |_, end| {
        longest_ns = longest_ns.max(end.latency().0);
    });
    longest_ns as f64 / 1e6
}

#[test]
fn the_host_waits_for_a_flush_as_long_as_that_is_large() {
    let period = ("housekeeping.map_flush_period_ns", "1_000_000_000");
    let small = ("housekeeping.map_flush_bytes_max", "400_000");
    let longest = [longest_ms(&[]), longest_ms(&[period, small]), longest_ms(&[period])];
    println!("longest writes {longest:?} ms");
    assert!(longest[1] < 4.0 * longest[0] && longest[2] > 5.0 * longest[1]);
}

#[test]
fn a_flush_writes_the_open_unit_of_the_journal() {
    let flush = ("housekeeping.map_flush_period_ns", "1_000_000_000");
    let mut device = small(&[&MAP_ROOM[..], &MAPPED, &[flush]].concat());
    // A unit of data has four entries, and a unit of the journal 256.
    fill(&mut device, 8);
    let unit_pages = u64::from(device.config().geometry.unit_pages);
    device.run_until(Nanos(990_000_000));
    assert_eq!(metadata(&device), 0);
    device.run_until(secs(100));
    assert_eq!(metadata(&device), unit_pages, "one flush");
    fill(&mut device, 8);
    device.run_until(secs(200));
    assert_eq!(metadata(&device), 2 * unit_pages, "and another one");
}
