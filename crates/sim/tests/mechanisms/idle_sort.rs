//! Does a rest restore the sequential reads of a drive that was written at random, at which price, and does the host
//! notice?

use base::{Nanos, OpKind, Rng};
use sim::Device;

use crate::common::{alone, closed_loop, fill, in_order, op, random_writes, secs, small};

const AFTER_S: u64 = 2;
const PAGES_PER_S: u64 = 2_000;
/// Stretches of 64 pages, 16 units.
const SORT: [(&str, &str); 3] = [
    ("idle_sort.after_ns", "2_000_000_000"),
    ("idle_sort.pages_per_s", "2_000"),
    ("idle_sort.stretch_bytes", "262_144"),
];
const STRETCH_PAGES: u64 = 64;
/// A part of the drive that leaves room for a second copy.
const SPAN_PAGES: u64 = 40_000;

/// A drive with a span that was written in order and then at random, at rest for a second.
fn scattered(changes: &[(&str, &str)], pages: u64) -> Device {
    let mut device = small(changes);
    fill(&mut device, pages);
    random_writes(&mut device, pages, 4 * pages, &mut Rng::split(1, "addresses"));
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    rest(&mut device, 1);
    device
}

fn rest(device: &mut Device, seconds: u64) {
    device.run_until(Nanos(device.now().0 + secs(seconds).0));
}

/// Pages per second of reads of 32 pages in order.
fn sequential_reads(device: &mut Device, pages: u64) -> f64 {
    let begin_ns = device.now().0;
    let mut writes = in_order(pages);
    closed_loop(device, 8, pages / 32, |tag| base::Op { kind: OpKind::Read, ..writes(tag) });
    pages as f64 * 1e9 / (device.now().0 - begin_ns) as f64
}

#[test]
fn sequential_reads_recover_at_rest_and_the_totals_count_each_move() {
    let rates = [&[][..], &SORT].map(|changes| {
        let mut device = scattered(changes, SPAN_PAGES);
        let before = device.telemetry();
        let tired = sequential_reads(&mut device, SPAN_PAGES);
        rest(&mut device, 60);
        let rested = sequential_reads(&mut device, SPAN_PAGES);
        device.check().expect("sound");
        let after = device.telemetry();
        let moved = after.gc_moved_pages - before.gc_moved_pages;
        let padded = after.padding_pages - before.padding_pages;
        assert_eq!(after.programmed_pages - before.programmed_pages, moved + padded);
        assert_eq!(moved, if changes.is_empty() { 0 } else { SPAN_PAGES });
        assert_eq!(padded, 0, "stretches are whole units");
        (tired, rested)
    });
    println!("pages a second before and after the rest, without and with re-sorting: {rates:?}");
    let [(tired, same), (also_tired, rested)] = rates;
    assert!((same / tired - 1.0).abs() < 0.01 && (also_tired / tired - 1.0).abs() < 0.01);
    assert!(rested > 1.5 * tired);
    // Units in order, 4 pages each: four dies sense and transfer faster than the link.
    assert!(rested > 0.95 * 512e6 / 4096.0, "{rested} pages a second");
}

#[test]
fn it_keeps_to_its_rate_and_a_round_for_each_absence() {
    let mut device = scattered(&SORT, SPAN_PAGES);
    let before = device.telemetry().gc_moved_pages;
    let moved = |device: &Device| device.telemetry().gc_moved_pages - before;
    rest(&mut device, AFTER_S - 1 + 10);
    let in_ten_s = moved(&device);
    assert!(in_ten_s.abs_diff(10 * PAGES_PER_S) <= 6 * STRETCH_PAGES, "{in_ten_s} pages in 10 s");
    rest(&mut device, 3_600);
    assert_eq!(moved(&device), SPAN_PAGES);
    alone(&mut device, &op(OpKind::Read, 0, 1, 0));
    rest(&mut device, 3_600);
    assert_eq!(moved(&device), SPAN_PAGES, "all is in order");
    // A stretch with a few pages elsewhere is in order; one with half of them is not.
    for page in (0..8).chain((STRETCH_PAGES..2 * STRETCH_PAGES).step_by(2)) {
        alone(&mut device, &op(OpKind::Write, page, 1, 0));
    }
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    rest(&mut device, 3_600);
    assert_eq!(moved(&device), SPAN_PAGES + STRETCH_PAGES);
}

#[test]
fn the_host_gets_its_drive_back_at_once() {
    let mut device = scattered(&SORT, SPAN_PAGES);
    let mut longest_ns = 0;
    for _ in 0..200 {
        rest(&mut device, AFTER_S);
        device.run_until(Nanos(device.now().0 + 33_333_333));
        longest_ns = longest_ns.max(alone(&mut device, &op(OpKind::Read, 7, 1, 0)));
    }
    assert!(device.telemetry().gc_moved_pages > 5_000, "it has worked in between");
    // A program in progress, its own sense and transfer; the rest of a stretch does not go first.
    assert!(longest_ns < 1_000_000, "{longest_ns} ns");
}

/// A full drive collects garbage for the room that re-sorting takes, and is in order in the end.
#[test]
fn a_full_drive_pays_for_its_order() {
    for pacing in ["proportional", "token", "watermark"] {
        let changes =
            [&SORT[..], &[("gc.pacing", pacing), ("nand.blocks_per_plane", "620")]].concat();
        let mut device = small(&changes);
        let pages = device.config().geometry.logical_pages;
        fill(&mut device, pages);
        random_writes(&mut device, pages, pages, &mut Rng::split(1, "addresses"));
        rest(&mut device, 1);
        let before = device.telemetry();
        let tired = sequential_reads(&mut device, pages);
        rest(&mut device, 1_000);
        let rested = sequential_reads(&mut device, pages);
        device.check().expect("sound");
        let after = device.telemetry();
        let moved = (after.gc_moved_pages - before.gc_moved_pages) as f64 / pages as f64;
        println!(
            "{pacing}: {tired:.0} -> {rested:.0} pages a second for {moved:.2} moves of each page"
        );
        assert!(rested > 1.4 * tired, "{pacing}");
        assert!(moved > 1.0 && moved < 3.0, "{pacing}");
        assert!(
            after.host_pages == before.host_pages
                && after.erased_superblocks > before.erased_superblocks
        );
    }
}
