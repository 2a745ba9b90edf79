//! Does a drive whose map has entries for more than 4 KiB write, read and forget as its unit demands?

use base::{OpKind, Rng};
use sim::ftl::NO_PAGE;
use sim::{Device, PAGE_BYTES};

use crate::common::{alone, closed_loop, fill, op, random_writes, secs, small, waf_greedy};

const READ_COMMAND: u64 = 5_000;
const WRITE_COMMAND: u64 = 6_000;
const LINK_PAGE: u64 = 8_000;
const CHANNEL_PAGE: u64 = 10_000;
const READ: u64 = 50_000;

/// Entries for 16 KiB, two of them in a program unit of 32 KiB.
const COARSE: [(&str, &str); 3] =
    [("map.unit_bytes", "16_384"), ("nand.planes", "4"), ("nand.blocks_per_plane", "290")];
/// Pages of 4 KiB in such a unit.
const PARTS: u64 = 4;

/// The small drive with entries for 16 KiB, and other changes.
fn coarse(changes: &[(&str, &str)]) -> Device {
    small(&[&COARSE, changes].concat())
}

/// Pages of 4 KiB that the host can write.
fn host_pages(device: &Device) -> u64 {
    device.config().capacity_bytes() / PAGE_BYTES
}

/// NAND pages for each page of the host since an earlier moment.
fn waf_since(device: &Device, before: (u64, u64)) -> f64 {
    let (programmed, host) = programmed_and_host(device);
    (programmed - before.0) as f64 / (host - before.1) as f64
}

fn programmed_and_host(device: &Device) -> (u64, u64) {
    let totals = device.telemetry();
    (totals.programmed_pages, totals.host_pages)
}

#[test]
fn a_part_of_a_unit_is_written_after_the_rest_is_read() {
    let mut device = coarse(&[]);
    let part = op(OpKind::Write, 1, 1, 0);
    let in_dram = WRITE_COMMAND + LINK_PAGE;
    assert_eq!(alone(&mut device, &part), in_dram, "the unit held nothing");
    assert_eq!(alone(&mut device, &part), in_dram, "the unit is in the buffer");
    assert_eq!(alone(&mut device, &op(OpKind::Write, 8, 8, 0)), WRITE_COMMAND + 8 * LINK_PAGE);
    device.run_until(secs(1));
    assert_eq!(device.telemetry().buffer_pages, 0);
    let read_first = in_dram + READ + PARTS * CHANNEL_PAGE;
    assert_eq!(alone(&mut device, &part), read_first, "the unit is in NAND");
    // From the middle of one unit to the middle of the next, both in one program unit: two reads on one die.
    let two_edges = WRITE_COMMAND + 4 * LINK_PAGE + 2 * (READ + PARTS * CHANNEL_PAGE);
    assert_eq!(alone(&mut device, &op(OpKind::Write, 10, 4, 0)), two_edges);
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    let totals = device.telemetry();
    assert_eq!(totals.host_pages, 1 + 1 + 8 + 1 + 4, "what the host wrote");
    // Seven units, and one of padding.
    let units = 1 + 1 + 2 + 1 + 2;
    assert_eq!((totals.programmed_pages, totals.padding_pages), ((units + 1) * PARTS, PARTS));
    device.check().unwrap();
}

#[test]
fn a_read_moves_the_part_that_it_wants() {
    let mut device = coarse(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 16, 0));
    device.run_until(secs(1));
    let mut read = |page, pages| alone(&mut device, &op(OpKind::Read, page, pages, 0));
    let time = |pages| READ_COMMAND + READ + pages * (CHANNEL_PAGE + LINK_PAGE);
    assert_eq!([read(0, 1), read(3, 1), read(4, 4)], [time(1), time(1), time(4)]);
    assert_eq!(read(2, 4), time(4), "two units of one program unit are read together");
}

#[test]
fn deallocation_spares_units_that_it_covers_in_part() {
    let mut device = coarse(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 16, 0));
    alone(&mut device, &op(OpKind::Deallocate, 3, 9, 0));
    let unmapped = |unit: u64| device.ftl().l2p.get(unit) == NO_PAGE;
    assert_eq!([0, 1, 2, 3].map(unmapped), [false, true, true, false]);
    device.check().unwrap();
}

#[test]
fn whole_units_in_order_are_written_once() {
    let mut device = coarse(&[]);
    let pages = host_pages(&device) / 32 * 32;
    fill(&mut device, pages);
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    assert_eq!(programmed_and_host(&device), (pages, pages));
}

/// Writes of n pages of 4 KiB at random places touch (n + u - 1) / u units of u pages on average.
#[test]
fn before_cleaning_waf_is_that_of_the_units_touched() {
    for (unit_bytes, parts) in [("4096", 1), ("8192", 2), ("16_384", 4), ("32_768", 8)] {
        for length in [1, 3, 8] {
            let mut device = coarse(&[("map.unit_bytes", unit_bytes)]);
            let pages = host_pages(&device);
            let mut rng = Rng::new(length);
            closed_loop(&mut device, 32, 8_000, |tag| {
                op(OpKind::Write, rng.below(pages - length), length, tag)
            });
            alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
            assert_eq!(device.telemetry().gc_moved_pages, 0);
            let formula = (length + parts - 1) as f64 / length as f64;
            let waf = waf_since(&device, (0, 0));
            println!(
                "{length} pages on units of {unit_bytes} bytes: {waf:.4}, formula {formula:.4}"
            );
            assert!((waf / formula - 1.0).abs() < 0.01, "{waf} against {formula}");
        }
    }
}

/// Cleaning sees units, so its part of WAF is that of greedy cleaning of units; each costs the host a part only.
#[test]
fn with_cleaning_waf_is_the_unit_times_that_of_theory() {
    let mut device = coarse(&[]);
    let pages = host_pages(&device);
    let mut rng = Rng::split(1, "addresses");
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages, &mut rng);
    let before = programmed_and_host(&device);
    let mut free = 0;
    for _ in 0..100 {
        random_writes(&mut device, pages, pages / 100, &mut rng);
        free += device.telemetry().free_superblocks;
    }
    let geometry = device.config().geometry;
    let superblocks = f64::from(geometry.superblocks) - free as f64 / 100.0 - 1.0;
    let superblock_pages = geometry.superblock_pages();
    let alpha = superblocks * f64::from(superblock_pages) / geometry.logical_pages as f64;
    let theory = PARTS as f64 * waf_greedy(alpha, superblock_pages);
    let waf = waf_since(&device, before);
    println!("alpha {alpha:.4}: measured {waf:.3}, theory {theory:.3}");
    assert!((waf / theory - 1.0).abs() < 0.02, "{waf} against {theory}");
    device.check().unwrap();
}

#[test]
fn a_cap_counts_what_the_host_writes() {
    const RATE: f64 = 4_096_000.0;
    let cap = [("throttle.burst_bytes", "4096"), ("throttle.bytes_per_s", "4_096_000")];
    let mut device = coarse(&cap);
    let pages = host_pages(&device);
    let mut rng = Rng::new(1);
    random_writes(&mut device, pages, 2_000, &mut rng);
    let rate = 2_000.0 * PAGE_BYTES as f64 * 1e9 / device.now().0 as f64;
    assert!((rate / RATE - 1.0).abs() < 0.01, "{rate} of {RATE}");
}
