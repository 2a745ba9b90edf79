//! Does a compressing drive write and wait as little as its data permits?

use base::{Data, Nanos, Op, OpKind, Rng};
use sim::Device;

use crate::common::{alone, built_in, closed_loop, op, secs, small, waf_greedy};

const GRANULES: &str = "512";

fn compressible(percent: u8) -> Data {
    Data::Compressible { physical_percent: percent }
}

fn write(data: Data, page: u64, pages: u64, tag: u32) -> Op {
    Op { data, ..op(OpKind::Write, page, pages, tag) }
}

fn fill(device: &mut Device, mut data: impl FnMut() -> Data) {
    let pages = device.config().geometry.logical_pages;
    let mut page = 0;
    closed_loop(device, 32, pages.div_ceil(32), |tag| {
        let length = 32.min(pages - page);
        page += length;
        write(data(), page - length, length, tag)
    });
}

fn random_writes(device: &mut Device, count: u64, rng: &mut Rng, mut data: impl FnMut() -> Data) {
    let pages = device.config().geometry.logical_pages;
    closed_loop(device, 32, count, |tag| write(data(), rng.below(pages), 1, tag));
}

/// NAND writes over host writes in steady state, and the alpha of the drive: physical over logical
/// bytes without erased superblocks, and without half of each of the two open superblocks and of
/// the current victim.
fn waf(changes: &[(&str, &str)], mut data: impl FnMut() -> Data) -> (f64, f64) {
    let mut device = small(changes);
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    fill(&mut device, &mut data);
    random_writes(&mut device, 4 * pages, &mut rng, &mut data);
    let before = device.telemetry();
    device.telemetry_start(Nanos(Nanos::SECOND.0 / 10));
    random_writes(&mut device, 2 * pages, &mut rng, &mut data);
    let after = device.telemetry();
    device.check().unwrap();
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    let free = rows.iter().map(|row| row.free_superblocks as f64).sum::<f64>() / rows.len() as f64;
    let geometry = &device.config().geometry;
    let superblocks = f64::from(geometry.superblocks) - free - 1.5;
    let physical = superblocks * geometry.superblock_bytes() as f64;
    let alpha = physical / (geometry.logical_pages as f64 * 4096.0);
    let programmed = after.programmed_pages - before.programmed_pages;
    (programmed as f64 / (after.host_pages - before.host_pages) as f64, alpha)
}

/// Compressed to a share c, data needs alpha / c times its own space: NAND / host = c A(alpha / c), where a
/// superblock holds 1 / c times as many pages.
fn theory(alpha: f64, c: f64, superblock_pages: f64) -> f64 {
    c * waf_greedy(alpha / c, (superblock_pages / c) as u32)
}

#[test]
fn the_formula_gives_the_values_of_the_reference_table() {
    // Greedy with 256 pages a block, as it writes them: A(alpha / c) and c A.
    for (alpha, c, waf) in [
        (1.07, 0.9, 2.966),
        (1.07, 0.75, 1.403),
        (1.07, 0.5, 0.600),
        (1.28, 0.9, 1.694),
        (1.28, 0.75, 1.076),
        (1.28, 0.5, 0.554),
    ] {
        let got = theory(alpha, c, 256.0 * c);
        assert!((got / waf - 1.0).abs() < 1e-3, "alpha {alpha} c {c}: {got}, not {waf}");
    }
}

#[test]
fn nand_writes_are_those_of_theory_for_compressed_data() {
    for (percent, granules) in [(100, "512"), (90, "512"), (90, "2048"), (75, "1024"), (50, "512")]
    {
        let changes = [("compression.granule_bytes", granules), ("gc.free_high", "5")];
        let (measured, alpha) = waf(&changes, || compressible(percent));
        let theory = theory(alpha, f64::from(percent) / 100.0, 512.0);
        println!("{percent}% in {granules}: alpha {alpha:.4}: {measured:.4}, theory {theory:.4}");
        assert!((measured / theory - 1.0).abs() < 0.01, "{percent}%: {measured}, theory {theory}");
    }
}

#[test]
fn pages_of_mixed_sizes_cost_as_much_as_pages_of_their_mean() {
    let mut rng = Rng::new(3);
    let mixed = || if rng.chance(1, 2) { compressible(50) } else { Data::Incompressible };
    let changes = [("compression.granule_bytes", GRANULES), ("gc.free_high", "5")];
    let (measured, alpha) = waf(&changes, mixed);
    let theory = theory(alpha, 0.75, 512.0);
    println!("mixed: alpha {alpha:.4}: {measured:.4}, theory {theory:.4}");
    assert!((measured / theory - 1.0).abs() < 0.02, "{measured}, theory {theory}");
}

#[test]
fn a_drive_without_compression_does_not_care_about_data() {
    let life = |data| {
        let mut device = small(&[]);
        fill(&mut device, || data);
        (device.now(), device.telemetry())
    };
    assert_eq!(life(Data::Repeating), life(Data::Incompressible));
    assert_eq!(life(Data::Incompressible).1.saved_pages, 0);
}

#[test]
fn every_page_is_programmed_or_saved() {
    for data in [Data::Repeating, compressible(37), Data::Incompressible] {
        let mut device = small(&[("compression.granule_bytes", GRANULES)]);
        fill(&mut device, || data);
        alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
        let totals = device.telemetry();
        let written = totals.host_pages + totals.gc_moved_pages + totals.padding_pages;
        // Each of the figures is rounded down to pages.
        let programmed = totals.programmed_pages + totals.saved_pages;
        assert!(programmed.abs_diff(written) <= 3, "{totals:?}");
        let share = totals.saved_pages as f64 / totals.host_pages as f64;
        let want = match data {
            Data::Repeating => 7.0 / 8.0,
            Data::Incompressible => 0.0,
            Data::Compressible { .. } => 1.0 - 1515.0 / 4096.0,
        };
        assert!((share - want).abs() < 1e-5, "{data:?}: {share} saved, not {want}");
    }
}

#[test]
fn a_compressed_page_crosses_the_channel_in_its_own_size() {
    // Command 5,000 ns, tR 50,000, channel 10,000 a page, link 8,000 a page; a quarter of a page.
    let mut device = small(&[("compression.granule_bytes", GRANULES)]);
    alone(&mut device, &write(compressible(25), 0, 16, 0));
    device.run_until(secs(1));
    assert_eq!(device.telemetry().programmed_pages, 4, "sixteen pages make one unit of four");
    let one = alone(&mut device, &op(OpKind::Read, 0, 1, 0));
    assert_eq!(one, 5_000 + 50_000 + 10_000 / 4 + 8_000);
    let all = alone(&mut device, &op(OpKind::Read, 0, 16, 0));
    assert_eq!(all, 5_000 + 50_000 + 4 * 10_000 + 16 * 8_000);
}

#[test]
fn a_page_that_reaches_over_two_units_is_read_from_both() {
    // 5 of 8 granules a page, 32 granules a unit: the seventh page begins in the first unit.
    let mut device = small(&[("compression.granule_bytes", GRANULES)]);
    for page in 0..13 {
        // 63% is 2,580 bytes: 5 granules, and 20 bytes that add up to a sixth only after 25 pages.
        alone(&mut device, &write(compressible(63), page, 1, 0));
    }
    device.run_until(secs(1));
    assert_eq!(device.telemetry().programmed_pages, 8);
    // Two dies on two channels at once: 2 granules from the first, 3 from the second.
    let straddling = alone(&mut device, &op(OpKind::Read, 6, 1, 0));
    assert_eq!(straddling, 5_000 + 50_000 + 3 * 1_250 + 8_000);
    device.check().unwrap();
}

#[test]
fn compressible_data_is_written_at_the_rate_of_the_link_and_random_data_at_that_of_the_dies() {
    let rate = |data| {
        let mut device = small(&[("compression.granule_bytes", GRANULES)]);
        let mut page = 0;
        let mut write = |device: &mut Device, count| {
            closed_loop(device, 32, count, |tag| {
                page += 32;
                write(data, page - 32, 32, tag)
            });
        };
        write(&mut device, 500);
        let start = device.now().0;
        write(&mut device, 4_000);
        4_000.0 * 131_072.0 / (device.now().0 - start) as f64 * 1e9
    };
    // Four dies program 16 KiB in 640,000 ns with the transfer.
    let dies = 4.0 * 16_384.0 / 640_000e-9;
    let (random, repeating, half) =
        (rate(Data::Incompressible), rate(Data::Repeating), rate(compressible(50)));
    println!("MB/s: {:.1} {:.1} {:.1}", random / 1e6, half / 1e6, repeating / 1e6);
    assert!((random / dies - 1.0).abs() < 0.01);
    assert!((half / dies / 2.0 - 1.0).abs() < 0.01);
    assert!((repeating / 512e6 - 1.0).abs() < 0.01);
}

#[test]
fn the_vertex_3_writes_random_data_at_what_was_measured_and_repeating_data_at_the_link() {
    let rate = |data| {
        let mut device = built_in("ocz-vertex-3-240gb", "1/64", &[]);
        fill(&mut device, || data);
        let seconds = device.now().as_secs_f64();
        device.config().capacity_bytes() as f64 / seconds / 1e6
    };
    let (random, repeating) = (rate(Data::Incompressible), rate(Data::Repeating));
    println!("Vertex 3: {random:.0} MB/s random, {repeating:.0} MB/s repeating data");
    assert!((random / 300.0 - 1.0).abs() < 0.02, "{random} MB/s");
    assert!((repeating / 530.0 - 1.0).abs() < 0.02, "{repeating} MB/s");
}

/// A fill, as many random writes and perhaps a deallocation of all; then the programs of a linear pass over the pages
/// that each page of the host takes.
fn linear_waf_after(torture: Data, kept_percent: &str, is_deallocated: bool) -> f64 {
    let changes =
        [("compression.granule_bytes", GRANULES), ("compression.kept_percent", kept_percent)];
    let mut device = small(&changes);
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, || torture);
    random_writes(&mut device, pages, &mut Rng::new(1), || torture);
    if is_deallocated {
        device.deallocate(0, pages);
    }
    let before = device.telemetry();
    fill(&mut device, || Data::Incompressible);
    let after = device.telemetry();
    device.check().unwrap();
    (after.programmed_pages - before.programmed_pages) as f64
        / (after.host_pages - before.host_pages) as f64
}

#[test]
fn what_incompressible_torture_takes_stays_after_deallocation_in_proportion_to_what_the_map_keeps()
{
    let fresh = linear_waf_after(Data::Incompressible, "0", true);
    let tortured = linear_waf_after(Data::Incompressible, "0", false);
    let kept = ["40", "80", "100"].map(|share| linear_waf_after(Data::Incompressible, share, true));
    println!("programs a page: {fresh:.3} fresh, {tortured:.3} tortured, kept {kept:.3?}");
    assert!(fresh < 1.01 && tortured > 1.3, "{fresh}, {tortured}");
    assert!(fresh < kept[0] && kept[0] < kept[1] && kept[1] < kept[2], "{kept:?}");
    // All kept is as if nothing had been deallocated.
    assert_eq!(kept[2], tortured);
    // Pages that shrink are forgotten.
    let repeating = linear_waf_after(Data::Repeating, "100", true);
    assert_eq!(repeating, linear_waf_after(Data::Repeating, "0", true));
}

#[test]
fn a_kept_page_is_read_from_nand_until_it_is_written_again() {
    let changes = [("compression.granule_bytes", GRANULES), ("compression.kept_percent", "100")];
    let mut device = small(&changes);
    alone(&mut device, &write(Data::Incompressible, 0, 4, 0));
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    let held = alone(&mut device, &op(OpKind::Read, 0, 1, 0));
    alone(&mut device, &op(OpKind::Deallocate, 0, 4, 0));
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), held);
    alone(&mut device, &write(Data::Repeating, 0, 4, 0));
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    alone(&mut device, &op(OpKind::Deallocate, 0, 4, 0));
    assert!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)) < held);
}
