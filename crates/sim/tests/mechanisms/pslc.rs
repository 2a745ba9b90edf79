//! Does the pSLC cache have the speed of its cells and its nominal size, and is it empty when it
//! should be? The small drive: 4 dies, units of 16 KiB, 560 superblocks of 32 rows, link 512 MB/s,
//! channel 10,000 ns per page, tPROG 600,000 ns; the cache programs in 200,000 ns.

use base::{Nanos, OpKind, Rng};
use sim::{Config, Device};

use crate::common::{CACHE, alone, built_in, closed_loop, fill, op, random_writes, small};

const UNIT_BYTES: f64 = 16_384.0;
const DIES: f64 = 4.0;
const TRANSFER_NS: f64 = 40_000.0;
const FAST_NS: f64 = 200_000.0;
const SLOW_NS: f64 = 600_000.0;
/// Two bits per cell: 16 of 32 rows of 64 KiB.
const CACHE_SUPERBLOCK_BYTES: u64 = 16 * 65_536;
/// Eight superblocks.
const CACHE_BYTES: u64 = 8 * CACHE_SUPERBLOCK_BYTES;
const IDLE_AFTER_NS: u64 = 100_000_000;

fn with_cache(changes: &[(&str, &str)]) -> Device {
    small(&[&CACHE[..], &[("nand.blocks_per_plane", "620")], changes].concat())
}

/// Writes in order from `page` on and returns the rate in bytes per second.
fn write(device: &mut Device, page: u64, bytes: u64) -> f64 {
    let start = device.now().0;
    let mut next = page;
    closed_loop(device, 32, bytes / 131_072, |tag| {
        next += 32;
        op(OpKind::Write, next - 32, 32, tag)
    });
    bytes as f64 * 1e9 / (device.now().0 - start) as f64
}

/// Programs of four dies per second.
fn rate(program_ns: f64) -> f64 {
    DIES * UNIT_BYTES * 1e9 / (TRANSFER_NS + program_ns)
}

/// An 840 EVO of 1/64 of its size, filled, the number of its pages, and the generator of the addresses.
fn full_evo() -> (Device, u64, Rng) {
    let mut device = built_in("samsung-840-evo-250gb", "1/64", &[]);
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, pages);
    (device, pages, Rng::new(1))
}

fn rest(device: &mut Device, rest_ns: u64) {
    device.run_until(Nanos(device.now().0 + rest_ns));
}

#[test]
fn writes_are_fast_until_the_cache_is_full_and_then_as_fast_as_the_native_cells() {
    // The write buffer is small, so that it cannot hide either rate.
    let mut device = with_cache(&[("buffer.write_bytes", "131072")]);
    let fast = write(&mut device, 0, CACHE_BYTES);
    assert_eq!(device.telemetry().host_pages * 4096, CACHE_BYTES);
    let slow = write(&mut device, CACHE_BYTES / 4096, 8 * CACHE_BYTES);
    let direct = write(&mut device, 9 * CACHE_BYTES / 4096, 8 * CACHE_BYTES);
    println!("MB/s: {:.1}, then {:.1}, then {:.1}", fast / 1e6, slow / 1e6, direct / 1e6);
    // The end of the fast stretch waits for nothing, its beginning for the first transfer.
    assert!((fast / rate(FAST_NS) - 1.0).abs() < 0.03, "{fast}, not {}", rate(FAST_NS));
    assert!((direct / rate(SLOW_NS) - 1.0).abs() < 0.01, "{direct}, not {}", rate(SLOW_NS));
    let totals = device.telemetry();
    assert_eq!((totals.folded_pages, totals.gc_moved_pages), (0, 0));
    assert_eq!(totals.pslc_pages * 4096, CACHE_BYTES, "the cache holds what came first");
    device.check().unwrap();
}

#[test]
fn a_limit_for_writes_past_the_cache_leaves_the_cache_fast() {
    let limit = 0.6 * rate(SLOW_NS);
    let value = (limit as u64).to_string();
    let mut device =
        with_cache(&[("buffer.write_bytes", "131072"), ("pslc.direct_bytes_per_s", &value)]);
    let fast = write(&mut device, 0, CACHE_BYTES);
    assert!((fast / rate(FAST_NS) - 1.0).abs() < 0.03, "{fast}, not {}", rate(FAST_NS));
    let direct = write(&mut device, CACHE_BYTES / 4096, 8 * CACHE_BYTES);
    assert!((direct / limit - 1.0).abs() < 0.01, "{direct}, not {limit}");
    let (start, mut next) = (device.now().0, 16 * CACHE_BYTES / 4096);
    closed_loop(&mut device, 1, 1_000, |tag| {
        next += 8;
        op(OpKind::Write, next - 8, 8, tag)
    });
    let alone = 1_000.0 * 32_768.0 * 1e9 / (device.now().0 - start) as f64;
    assert!((alone / limit - 1.0).abs() < 0.01, "one command at a time: {alone}, not {limit}");
    device.check().unwrap();
}

#[test]
fn an_idle_drive_folds_its_cache_in_the_time_that_its_cells_take() {
    let mut device = with_cache(&[]);
    write(&mut device, 0, CACHE_BYTES);
    rest(&mut device, IDLE_AFTER_NS);
    assert_eq!(device.telemetry().folded_pages, 0, "the host may come back");
    // Every unit is read (tR 20,000 ns and 40,000 ns over the channel), moved and programmed (40,000 ns
    // over the channel and 600,000 ns) by one of four dies; a transfer may wait for another.
    let die_ns = (CACHE_BYTES as f64 / UNIT_BYTES / DIES) * (60_000.0 + 640_000.0);
    let begin = device.now().0;
    while device.telemetry().pslc_pages > 0 {
        rest(&mut device, 1_000_000);
        assert!(device.now().0 < begin + 10_000_000_000, "the cache is never empty");
    }
    let took_ns = (device.now().0 - begin) as f64;
    println!("folded in {:.1} ms, dies alone {:.1} ms", took_ns / 1e6, die_ns / 1e6);
    assert!(took_ns > die_ns * 0.98 && took_ns < die_ns * 1.15, "{took_ns}, dies alone {die_ns}");
    rest(&mut device, 100_000_000);
    let totals = device.telemetry();
    assert_eq!(totals.folded_pages * 4096, CACHE_BYTES);
    assert_eq!(totals.erased_superblocks, 8);
    assert_eq!(
        totals.programmed_pages,
        totals.host_pages + totals.folded_pages + totals.padding_pages
    );
    device.check().unwrap();
    let again = write(&mut device, CACHE_BYTES / 4096, CACHE_BYTES);
    assert!((again / rate(FAST_NS) - 1.0).abs() < 0.3, "the cache is fast again: {again}");
    assert_eq!(device.telemetry().pslc_pages * 4096, CACHE_BYTES);
}

#[test]
fn the_cache_takes_new_writes_while_it_is_folded() {
    let mut device = with_cache(&[]);
    write(&mut device, 0, CACHE_BYTES);
    rest(&mut device, IDLE_AFTER_NS + 60_000_000);
    let before = device.telemetry();
    assert!(before.folded_pages > 0 && before.pslc_pages > 0, "folding is under way: {before:?}");
    write(&mut device, CACHE_BYTES / 4096, CACHE_BYTES / 8);
    let after = device.telemetry();
    assert!(
        after.pslc_pages > before.pslc_pages,
        "{} then {}",
        before.pslc_pages,
        after.pslc_pages
    );
    rest(&mut device, 10_000_000_000);
    assert_eq!(device.telemetry().pslc_pages, 0);
    device.check().unwrap();
}

#[test]
fn reads_find_data_in_the_cache_and_after_the_fold() {
    // Command 5,000 ns, tR 20,000 or 50,000, channel 10,000, link 8,000.
    let mut device = with_cache(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    rest(&mut device, 10_000_000);
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), 5_000 + 20_000 + 10_000 + 8_000);
    rest(&mut device, 10_000_000_000);
    assert_eq!(device.telemetry().folded_pages, 4);
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), 5_000 + 50_000 + 10_000 + 8_000);
    device.check().unwrap();
}

#[test]
fn large_writes_go_past_a_cache_for_small_ones() {
    let mut device = with_cache(&[("pslc.only_below_bytes", "65_536")]);
    write(&mut device, 0, CACHE_BYTES);
    assert_eq!(device.telemetry().pslc_pages, 0);
    random_writes(&mut device, 1_000, 500, &mut Rng::new(1));
    let cached = device.telemetry().pslc_pages;
    assert!((300..=500).contains(&cached), "{cached} of 500 small writes are cached");
    device.check().unwrap();
}

#[test]
fn a_cache_that_must_fold_first_makes_the_host_wait_for_it() {
    // Each page is programmed twice: fast, and slowly after a read.
    let mut device = with_cache(&[("pslc.when_full", "fold")]);
    write(&mut device, 0, CACHE_BYTES);
    let measured = write(&mut device, CACHE_BYTES / 4096, 16 * CACHE_BYTES);
    let unit_ns = TRANSFER_NS + FAST_NS + 60_000.0 + TRANSFER_NS + SLOW_NS;
    let at_most = DIES * UNIT_BYTES * 1e9 / unit_ns;
    println!("MB/s: {:.1} of {:.1}", measured / 1e6, at_most / 1e6);
    assert!(measured < at_most * 1.01, "{measured} of {at_most}");
    assert!(measured > at_most * 0.6, "{measured} of {at_most}");
    let totals = device.telemetry();
    assert!(totals.folded_pages * 4096 > 15 * CACHE_BYTES, "all went through the cache");
    device.check().unwrap();
}

/// Host writes and folds of a load without a pause, in pages, once the cache has been full.
fn under_load(device: &mut Device, load: impl FnOnce(&mut Device)) -> (f64, f64) {
    let before = device.telemetry();
    load(device);
    let after = device.telemetry();
    let written = (after.host_pages - before.host_pages) as f64;
    (written, (after.folded_pages - before.folded_pages) as f64)
}

/// A superblock of the cache is folded as a whole.
fn assert_in_proportion(written: f64, folded: f64, share: f64) {
    let superblock_pages = (CACHE_SUPERBLOCK_BYTES / 4096) as f64;
    let difference = (folded - share * written).abs();
    assert!(difference < superblock_pages + 0.01 * folded, "{folded} of {written}, not {share}");
}

/// Each page folded makes room for one in the cache, which takes its die T + F there, T + S native, R to be read; the
/// host's share of that is what is left.
#[test]
fn a_busy_host_gets_its_cache_back_in_proportion_to_what_it_writes() {
    for percent in [2, 10, 25, 50, 100] {
        let share = percent.to_string();
        let mut device = with_cache(&[("pslc.busy_fold_percent", &share)]);
        write(&mut device, 0, 2 * CACHE_BYTES);
        let mut rate = 0.0;
        let (written, folded) = under_load(&mut device, |device| {
            rate = write(device, 2 * CACHE_BYTES / 4096, 24 * CACHE_BYTES);
        });
        let share = f64::from(percent) / 100.0;
        let (cached_ns, native_ns) = (TRANSFER_NS + FAST_NS, TRANSFER_NS + SLOW_NS);
        let unit_ns = share * (cached_ns + 60_000.0) + native_ns;
        let at_most = DIES * UNIT_BYTES * 1e9 / unit_ns;
        println!(
            "{percent}%: {:.1}% folded, {:.1} of {:.1} MB/s",
            100.0 * folded / written,
            rate / 1e6,
            at_most / 1e6
        );
        assert_in_proportion(written, folded, share);
        assert!(rate < 1.02 * at_most && rate > 0.8 * at_most, "{rate} of {at_most}");
        device.check().unwrap();
    }
}

/// Collection at work beside it does not change the share, and folding does not end with the first cacheful.
#[test]
fn folding_goes_on_under_random_writes_without_a_pause() {
    let mut device = with_cache(&[("pslc.busy_fold_percent", "5")]);
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::new(1);
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages, &mut rng);
    for _ in 0..4 {
        let load = |device: &mut Device| random_writes(device, pages, pages, &mut rng);
        let (written, folded) = under_load(&mut device, load);
        println!("{:.2}% folded", 100.0 * folded / written);
        assert_in_proportion(written, folded, 0.05);
    }
    device.check().unwrap();
}

#[test]
fn an_empty_drive_lends_its_space_to_the_cache_and_takes_it_back() {
    let mut device = with_cache(&[("pslc.borrows", "true"), ("pslc.bytes", "0")]);
    let capacity = device.config().capacity_bytes();
    // With two bits per cell about half of the drive fits before the erased superblocks run short.
    let fast = write(&mut device, 0, capacity / 8 * 3 / 131_072 * 131_072);
    let totals = device.telemetry();
    assert_eq!((totals.folded_pages, totals.pslc_pages), (0, totals.host_pages));
    assert!((fast / rate(FAST_NS) - 1.0).abs() < 0.05, "{fast}");
    let pages = capacity / 4096;
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages, &mut Rng::new(1));
    device.check().unwrap();
    rest(&mut device, 100_000_000_000);
    assert_eq!(device.telemetry().pslc_pages, 0, "all is folded");
    device.check().unwrap();
}

/// Five pages are a unit and a page: their superblock does not wait until later folds fill the unit
/// of the fifth page.
#[test]
fn a_fold_completes_its_last_unit_so_that_the_cache_can_be_erased() {
    let mut device = with_cache(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 5, 0));
    rest(&mut device, 10_000_000_000);
    let totals = device.telemetry();
    assert_eq!((totals.folded_pages, totals.erased_superblocks, totals.pslc_pages), (5, 1, 0));
    assert_eq!(totals.padding_pages, 3 + 3, "in the cache and in native cells");
}

/// The superblock that has waited longest is folded first.
#[test]
fn the_cache_is_folded_in_the_order_in_which_it_was_written() {
    let mut device = with_cache(&[]);
    write(&mut device, 0, CACHE_BYTES);
    let pages = CACHE_BYTES / 4096;
    let mut left = pages;
    while left > 0 {
        rest(&mut device, 1_000_000);
        let ftl = device.ftl();
        let is_cached = |page: u64| ftl.is_cache(ftl.superblock_of(ftl.l2p.get(page)));
        // Of each superblock of 256 pages some are on their way.
        let first = (0..pages).position(is_cached).map_or(pages, |page| page as u64);
        let folded = (first..pages).filter(|&page| !is_cached(page)).count() as u64;
        assert!(folded <= 256, "{folded} pages behind page {first} are folded already");
        left = device.telemetry().pslc_pages;
    }
}

/// The cache borrows superblocks while more are erased than the target of collection
/// (`gc.free_high` = 12): the next page goes to native cells.
#[test]
fn the_cache_leaves_collection_what_it_works_towards() {
    let mut device = with_cache(&[("pslc.borrows", "true"), ("pslc.bytes", "0")]);
    let lent = u64::from(device.config().geometry.superblocks) - 13;
    write(&mut device, 0, lent * CACHE_SUPERBLOCK_BYTES);
    assert_eq!(
        (device.telemetry().free_superblocks, device.telemetry().pslc_pages),
        (13, lent * 256)
    );
    write(&mut device, lent * 256, CACHE_SUPERBLOCK_BYTES);
    assert_eq!(
        (device.telemetry().free_superblocks, device.telemetry().pslc_pages),
        (12, lent * 256)
    );
}

/// The drive is empty, and could lend half of itself.
#[test]
fn the_cache_borrows_no_more_than_its_limit_and_again_when_that_is_folded() {
    let lent = 24 * CACHE_SUPERBLOCK_BYTES;
    let limit = lent.to_string();
    let mut device = with_cache(&[("pslc.borrows", "true"), ("pslc.borrowed_bytes_max", &limit)]);
    for _ in 0..2 {
        write(&mut device, 0, 3 * (CACHE_BYTES + lent));
        assert_eq!(device.telemetry().pslc_pages * 4096, CACHE_BYTES + lent);
        device.check().unwrap();
        rest(&mut device, 10_000_000_000);
        assert_eq!(device.telemetry().pslc_pages, 0);
    }
    // Collection beside it takes what is borrowed first, and gives it back.
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::new(1);
    for _ in 0..40 {
        random_writes(&mut device, pages, pages / 10, &mut rng);
        assert!(device.ftl().borrowed_superblocks <= 24);
        device.check().unwrap();
    }
}

/// The limit is a share of the drive, whose blocks become shorter.
#[test]
fn the_limit_of_borrowing_scales() {
    let borrowed = |scale: &str| {
        let changes = [
            ("pslc.borrows", "true"),
            ("pslc.bytes", "0"),
            ("pslc.borrowed_bytes_max", "20_000_000_000"),
        ];
        let mut device = built_in("samsung-840-evo-250gb", scale, &changes);
        let capacity = device.config().capacity_bytes();
        write(&mut device, 0, capacity / 4 / 131_072 * 131_072);
        device.telemetry().pslc_pages as f64 * 4096.0 / capacity as f64
    };
    for scale in ["1/16", "1/64", "1/256"] {
        let (share, want) = (borrowed(scale), 20e9 / 250.059e9);
        println!("{scale}: {share:.4} of the drive is lent, {want:.4} asked");
        assert!((share / want - 1.0).abs() < 0.02, "{scale}: {share}, not {want}");
    }
}

/// Folded pages take native space like the host's, so they pay for its collection as evenly: the
/// drive never reaches the level at which everything waits.
#[test]
fn folds_pay_for_the_space_that_they_take() {
    let mut device = with_cache(&[("pslc.when_full", "fold")]);
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::new(1);
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages, &mut rng);
    device.telemetry_start(Nanos(10_000_000));
    random_writes(&mut device, pages, pages / 2, &mut rng);
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    let least = rows.iter().map(|row| row.free_superblocks).min().expect("it took a while");
    println!("at least {least} superblocks erased");
    assert!(least > 3, "{least} superblocks erased, `gc.free_low` is 3");
}

/// A fold at rest waits until collection has given back the space of the last one, so that the host that comes back in
/// the middle of it waits for little.
#[test]
fn a_full_drive_folds_at_rest_no_faster_than_it_collects() {
    let (mut device, pages, mut rng) = full_evo();
    random_writes(&mut device, pages, pages / 2, &mut rng);
    let (start, writes) = (device.now().0, 4_000);
    random_writes(&mut device, pages, writes, &mut rng);
    let write_ns = (device.now().0 - start) / writes;
    let geometry = &device.config().geometry;
    let superblock_pages = u64::from(geometry.cache_units * geometry.unit_pages);
    for round in 1..10 {
        rest(&mut device, 5_000_000_000 + round * 50_000_000);
        let waited = alone(&mut device, &op(OpKind::Write, rng.below(pages), 1, 0));
        println!("waited {:.1} ms, {write_ns} ns a write", waited as f64 / 1e6);
        // A page of the cache takes the space of a page of the host.
        assert!(waited < 4 * superblock_pages * write_ns, "{waited} ns");
        random_writes(&mut device, pages, writes, &mut rng);
    }
    device.check().unwrap();
}

/// A superblock of the cache returns with its erase: the next data in it fills native cells and is
/// read as such.
#[test]
fn a_borrowed_superblock_is_native_again_after_its_erase() {
    let borrows =
        [("pslc.borrows", "true"), ("pslc.bytes", "0"), ("pslc.only_below_bytes", "65_536")];
    let mut device = with_cache(&borrows);
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    let borrowed = device.ftl().superblock_of(device.ftl().l2p.get(0));
    rest(&mut device, 10_000_000_000);
    assert_eq!(device.telemetry().folded_pages, 4);
    assert_eq!(device.ftl().erase_counts[borrowed as usize], 1, "it was folded and given back");
    // Large writes go past the cache, until each erased superblock has had its turn.
    let pages = device.config().geometry.logical_pages;
    for _ in 0..2 {
        fill(&mut device, pages / 32 * 32);
    }
    rest(&mut device, 10_000_000_000);
    let there = |&physical: &u64| device.ftl().superblock_of(physical) == borrowed;
    let page = device.ftl().l2p.iter().take(pages as usize / 32 * 32).position(|p| there(&p));
    let page = page.expect("the superblock is in use again") as u64;
    let native = 5_000 + 50_000 + 10_000 + 8_000;
    assert_eq!(alone(&mut device, &op(OpKind::Read, page, 1, 0)), native);
}

#[test]
fn the_840_evo_writes_as_rated_into_its_cache_and_as_measured_beside_it_and_drains_as_published() {
    let scale = 64;
    let mut device = built_in("samsung-840-evo-250gb", "1/64", &[]);
    let cache = 3_000_000_000 / scale / 131_072 * 131_072;
    let fast = write(&mut device, 0, cache);
    // Past the cache and the buffer of 16 MiB.
    let at = cache / 4096;
    write(&mut device, at, 33_554_432);
    let direct = write(&mut device, at + 8_192, 16 * cache);
    println!("840 EVO: {:.0} MB/s, then {:.0} MB/s", fast / 1e6, direct / 1e6);
    assert!(fast > 520e6, "rated 520 MB/s: {fast}");
    assert!((direct / 260e6 - 1.0).abs() < 0.02, "260 MB/s outside TurboWrite: {direct}");
    rest(&mut device, 5_000_000_000);
    assert!(device.telemetry().pslc_pages > 0);
    // The drive is 1/64 of its size: the time of the fold is too.
    let begin = device.now().0;
    while device.telemetry().pslc_pages > 0 {
        rest(&mut device, 1_000_000);
        assert!(device.now().0 < begin + 10_000_000_000, "the cache is never empty");
    }
    let seconds = 5.0 + (device.now().0 - begin) as f64 * scale as f64 / 1e9;
    println!("840 EVO: empty after {seconds:.1} s");
    assert!((15.0..30.0).contains(&seconds), "published: 15 to 30 s, here {seconds}");
}

/// A page folded for a hundred that the host writes, however long it has written at random.
#[test]
fn the_840_evo_folds_as_long_as_it_is_loaded() {
    let (mut device, pages, mut rng) = full_evo();
    for _ in 0..8 {
        let load = |device: &mut Device| random_writes(device, pages, pages / 8, &mut rng);
        let (written, folded) = under_load(&mut device, load);
        println!("{folded} pages folded of {written} written");
        assert!((folded / written / 0.01 - 1.0).abs() < 0.15, "{folded} of {written}");
    }
    device.check().unwrap();
}

/// The share of the cache and of the spare area decide how much a pass of random writes amplifies.
#[test]
fn the_840_evo_amplifies_as_much_at_every_scale() {
    let one_pass = |scale| {
        let mut device = built_in("samsung-840-evo-250gb", scale, &[]);
        let pages = device.config().geometry.logical_pages;
        fill(&mut device, pages);
        let before = device.telemetry();
        random_writes(&mut device, pages, pages, &mut Rng::new(1));
        let after = device.telemetry();
        (after.programmed_pages - before.programmed_pages) as f64 / pages as f64
    };
    let waf = one_pass("1/16");
    for scale in ["1/32", "1/64"] {
        let scaled = one_pass(scale);
        println!("WAF {scaled:.2} at {scale}, {waf:.2} at 1/16");
        assert!((scaled / waf - 1.0).abs() < 0.02, "{scaled} at {scale}, not {waf}");
    }
}

/// Blocks of a scaled drive may be too short to divide by the bits of a cell: its cache must not take spare space for
/// that, or give it any.
#[test]
fn cache_and_spare_keep_their_shares_at_every_scale() {
    let config = |scale| built_in("samsung-840-evo-250gb", scale, &[]).config().clone();
    let shares = |scale| {
        let Config { geometry, .. } = config(scale);
        let logical = geometry.logical_pages as f64;
        let native = f64::from(geometry.superblocks - geometry.cache_superblocks);
        let cache_pages = f64::from(geometry.cache_units * geometry.unit_pages);
        let cache = f64::from(geometry.cache_superblocks) * cache_pages;
        (native * f64::from(geometry.superblock_pages()) / logical, cache / logical)
    };
    let (alpha, cache) = shares("1");
    for scale in ["1/2", "1/16", "1/24", "1/32", "1/64", "1/100", "1/128", "1/256", "1/512"] {
        let (scaled_alpha, scaled_cache) = shares(scale);
        assert!((scaled_alpha / alpha - 1.0).abs() < 0.001, "{scale}: {scaled_alpha}, not {alpha}");
        // A part of a superblock is a whole one.
        assert!((scaled_cache / cache - 1.0).abs() < 0.1, "{scale}: {scaled_cache}, not {cache}");
    }
}
