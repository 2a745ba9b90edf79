//! Does the past of a drive show as its model says? Senses and times of the small drive against the formulas.

use base::{Nanos, OpKind};
use sim::Device;
use sim::nand::aging::past::Past;

use crate::common::{alone, fill, op, secs, small};

const READ: u64 = 50_000;
/// Command, one page over the channel and the link.
const READ_REST: u64 = 5_000 + 10_000 + 8_000;
const ERASE: u64 = 3_000_000;

/// Rate after d days and c reads at K thousand cycles: 1,000 + 500 K + (10 + 30 K) d; 2,000 a sense.
const RETRY: [(&str, &str); 7] = [
    ("nand.retry.initial_cycles", "0"),
    ("nand.retry.fresh_ppb", "1_000"),
    ("nand.retry.per_kilocycle_ppb", "500"),
    ("nand.retry.per_day_ppb", "10"),
    ("nand.retry.per_day_per_kilocycle_ppb", "30"),
    ("nand.retry.corrected_ppb", "2_000"),
    ("nand.retry.retries_max", "9"),
];

/// No errors but those of reads.
const FRESH: [(&str, &str); 7] = [
    ("nand.retry.initial_cycles", "0"),
    ("nand.retry.fresh_ppb", "0"),
    ("nand.retry.per_kilocycle_ppb", "0"),
    ("nand.retry.per_day_ppb", "0"),
    ("nand.retry.per_day_per_kilocycle_ppb", "0"),
    ("nand.retry.corrected_ppb", "10_000"),
    ("nand.retry.retries_max", "9"),
];

fn write_safely(device: &mut Device, page: u64, pages: u64) {
    alone(device, &op(OpKind::Write, page, pages, 0));
    alone(device, &op(OpKind::Flush, 0, 0, 0));
}

/// Number of senses of a page for one read.
fn senses(device: &mut Device, page: u64) -> u64 {
    let latency = alone(device, &op(OpKind::Read, page, 1, 0));
    assert_eq!((latency - READ_REST) % READ, 0);
    (latency - READ_REST) / READ
}

#[test]
fn a_drive_begins_with_cycles_and_with_data_from_the_shelf() {
    let first_reads = |cycles, days| {
        let age = [("age.cycles", cycles), ("age.retention_days", days)];
        let mut device = small(&[RETRY.as_slice(), &age].concat());
        write_safely(&mut device, 0, 4);
        let old = senses(&mut device, 0);
        write_safely(&mut device, 0, 4);
        (old, senses(&mut device, 0))
    };
    assert_eq!(first_reads("0", "90"), (1, 1), "1,900");
    assert_eq!(first_reads("0", "120"), (2, 1), "2,200; new data is new");
    assert_eq!(first_reads("3000", "30"), (3, 2), "2,500 + 3,000; 2,500");
    assert_eq!(first_reads("3000", "90"), (6, 2), "2,500 + 9,000");
}

#[test]
fn what_is_in_the_buffer_at_power_off_ages_too() {
    let mut device = small(&RETRY);
    alone(&mut device, &op(OpKind::Write, 0, 1, 0));
    device.age(Past::days(120));
    assert!(device.now() < secs(1), "its clock does not count days without power");
    assert_eq!(device.telemetry().buffer_pages, 0);
    assert_eq!(senses(&mut device, 0), 2, "2,200");
    // The superblock is as old as the latest program into it.
    write_safely(&mut device, 4, 4);
    assert_eq!(senses(&mut device, 0), 1, "1,000");
    device.age(Past::days(60));
    assert_eq!(senses(&mut device, 0), 1, "1,600");
    device.age(Past::days(60));
    assert_eq!(senses(&mut device, 0), 2, "2,200");
    device.check().unwrap();
}

/// As `age.cycles` and `age.read_count` do at the beginning, between two reads of the same page.
#[test]
fn a_drive_gets_cycles_and_reads_in_the_middle_of_its_life() {
    let disturb = [("nand.retry.per_kiloread_ppb", "1_000_000")];
    let mut device = small(&[RETRY.as_slice(), &disturb].concat());
    write_safely(&mut device, 0, 4);
    assert_eq!(senses(&mut device, 0), 1, "1,000");
    device.age(Past { cycles: 3_000, ..Past::default() });
    assert_eq!(senses(&mut device, 0), 2, "2,500 and a read, 1,000");
    device.age(Past { reads: 3, ..Past::default() });
    assert_eq!(senses(&mut device, 0), 5, "2,500 and six reads, 6,000");
    write_safely(&mut device, 4, 4);
    assert_eq!(senses(&mut device, 4), 2, "the wear stays, and the reads are those of the block");
    device.check().unwrap();
}

/// Senses of reads of these pages, a pause after each, and then of the last page after a day without power.
fn senses_around_power_off(changes: &[(&str, &str)], pages: &[u64]) -> (Vec<u64>, u64) {
    let mut device = small(changes);
    write_safely(&mut device, 0, 64);
    let read = |device: &mut Device, page| {
        device.run_until(Nanos(device.now().0 + secs(1).0));
        alone(device, &op(OpKind::Read, page, 1, 0)).saturating_sub(5_000 + 8_000) / READ
    };
    let before = pages.iter().map(|&page| read(&mut device, page)).collect();
    device.age(Past::days(1));
    device.check().unwrap();
    (before, read(&mut device, pages[pages.len() - 1]))
}

#[test]
fn without_power_caches_and_registers_lose_their_content() {
    let cache = [("read_cache.bytes", "32768")];
    assert_eq!(senses_around_power_off(&cache, &[0, 0]), (vec![1, 0], 1));
    let register = [("nand.page_register", "true")];
    assert_eq!(senses_around_power_off(&register, &[0, 1]), (vec![1, 0], 1));
    let ahead = [
        ("read_ahead.streams", "4"),
        ("read_ahead.window_bytes", "262144"),
        ("read_ahead.buffer_bytes", "1048576"),
    ];
    assert_eq!(senses_around_power_off(&ahead, &[0, 1, 2]), (vec![1, 1, 0], 1));
}

/// Every sense adds 1,000; 10,000 a sense, and ten senses are all. Other dies have blocks of their own.
#[test]
fn reads_of_a_block_add_errors_until_it_is_written_anew() {
    let disturb = [("nand.retry.per_kiloread_ppb", "1_000_000")];
    let mut device = small(&[FRESH.as_slice(), &disturb].concat());
    write_safely(&mut device, 0, 8);
    let mut reads = 0_u64;
    for _ in 0..40 {
        let want = reads.div_ceil(10).clamp(1, 10);
        assert_eq!(senses(&mut device, 0), want, "after {reads} reads");
        reads += want;
    }
    assert!(reads > 80, "{reads} senses");
    assert_eq!(senses(&mut device, 4), 1, "the block of another die");
    let past = [("nand.retry.per_kiloread_ppb", "1_000_000"), ("age.read_count", "45")];
    let mut device = small(&[FRESH.as_slice(), &past].concat());
    write_safely(&mut device, 0, 4);
    assert_eq!(senses(&mut device, 0), 5, "45 reads before");
    let pages = u64::from(device.config().geometry.superblock_pages());
    write_safely(&mut device, 4, pages);
    assert_eq!(senses(&mut device, pages), 1, "a block that held nothing then");
}

/// A full drive after the read that makes its first superblock due.
fn read_until_due(changes: &[(&str, &str)]) -> Device {
    let reclaim = [("nand.retry.reclaim_reads", "1000")];
    let mut device = small(&[FRESH.as_slice(), &reclaim, changes].concat());
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, pages);
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    for _ in 0..999 {
        assert_eq!(senses(&mut device, 0), 1);
    }
    assert_eq!(device.telemetry().gc_moved_pages, 0);
    senses(&mut device, 0);
    device
}

#[test]
fn a_block_that_is_read_too_often_is_moved_in_good_time() {
    let mut device = read_until_due(&[]);
    let superblock_pages = u64::from(device.config().geometry.superblock_pages());
    let place = |device: &Device| device.ftl().l2p.get(0) / superblock_pages;
    for times in 1..4 {
        let before = place(&device);
        device.run_until(Nanos(device.now().0 + secs(1).0));
        let totals = device.telemetry();
        assert_eq!(totals.gc_moved_pages, times * superblock_pages, "all of it, and nothing else");
        assert_eq!(totals.erased_superblocks, times);
        if times > 1 {
            assert_ne!(place(&device), before);
        }
        (0..999).for_each(|_| _ = senses(&mut device, 0));
        assert_eq!(device.telemetry().gc_moved_pages, times * superblock_pages);
        senses(&mut device, 0);
    }
    device.check().unwrap();
}

#[test]
fn reads_of_the_patrol_reclaim_nothing() {
    let changes =
        [("nand.retry.reclaim_reads", "1"), ("housekeeping.patrol_interval_ns", "1_000_000")];
    let mut device = small(&[FRESH.as_slice(), &changes].concat());
    write_safely(&mut device, 0, 4_096);
    device.run_until(secs(2));
    assert!(device.operations().reads > 1_000, "{} reads", device.operations().reads);
    assert_eq!(device.telemetry().gc_moved_pages, 0);
}

#[test]
fn programs_of_worn_blocks_are_faster_and_erases_slower() {
    let wear = |less, more| {
        [
            ("age.cycles", "2_000"),
            ("nand.wear.program_less_per_kilocycle_permille", less),
            ("nand.wear.erase_more_per_kilocycle_permille", more),
        ]
    };
    let mut device = small(&wear("100", "0"));
    alone(&mut device, &op(OpKind::Write, 0, 1, 0));
    let flush = alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    assert_eq!(flush, 6_000 + 4 * 10_000 + 480_000, "a fifth less than 600,000");
    // One superblock is moved and erased on four dies while nothing else goes on.
    let busy_ns = |more| {
        let mut device = read_until_due(&wear("0", more));
        device.run_until(Nanos(device.now().0 + secs(1).0));
        assert_eq!(device.telemetry().erased_superblocks, 1);
        device.telemetry().die_busy_ns
    };
    assert_eq!(busy_ns("300") - busy_ns("0"), 4 * ERASE * 6 / 10);
}
