//! Does the drive patrol at the asked rate, and does refresh move what is old and nothing else?

use base::{Nanos, OpKind, Rng};
use sim::Device;

use crate::common::{alone, closed_loop, fill, op, secs, small};

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
