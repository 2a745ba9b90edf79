//! Is a drive with a "performance mode" fast until half of it is full, slow while it reorganises, and then
//! fast again? Rates by formula: D dies of P pages a unit, t a page on the channel:
//! D P 4096 / (P t + tPROG).

use base::{Nanos, OpKind};
use sim::{Device, PAGE_BYTES};

use crate::common::{CACHE, closed_loop, op, secs, small};

const FAST_NS: u64 = 200_000;
const REORGANISED_PER_S: u64 = 5_000;
const MODE: [(&str, &str); 3] = [
    ("performance_mode.program_ns", "200_000"),
    ("performance_mode.fill_percent", "50"),
    ("performance_mode.reorganise_pages_per_s", "5_000"),
];

fn pages(device: &Device) -> u64 {
    device.config().geometry.logical_pages
}

/// Writes LBAs in order from `page` to before `end`; bytes per second.
fn write(device: &mut Device, page: u64, end: u64) -> f64 {
    let (start, mut next) = (device.now().0, page);
    closed_loop(device, 32, (end - page) / 32, |tag| {
        next += 32;
        op(OpKind::Write, next - 32, 32, tag)
    });
    ((end - page) / 32 * 32 * PAGE_BYTES) as f64 * 1e9 / (device.now().0 - start) as f64
}

/// Rate of the dies with this tPROG.
fn rate(device: &Device, program_ns: u64) -> f64 {
    let geometry = device.config().geometry;
    let unit_ns = u64::from(geometry.unit_pages) * device.config().nand.page_transfer_ns;
    let bytes = u64::from(geometry.dies * geometry.unit_pages) * PAGE_BYTES;
    bytes as f64 * 1e9 / (unit_ns + program_ns) as f64
}

fn moved(device: &Device) -> u64 {
    device.telemetry().gc_moved_pages
}

#[test]
fn fast_until_half_full_then_slow_then_fast_again() {
    let mut device = small(&MODE);
    let (fast, normal) = (rate(&device, FAST_NS), rate(&device, 600_000));
    let zone = pages(&device) / 32;
    let rates: Vec<f64> =
        (0..32).map(|index| write(&mut device, index * zone, (index + 1) * zone)).collect();
    for (index, rate) in rates.iter().enumerate() {
        println!("zone {index}: {:.1} MB/s", rate / 1e6);
    }
    println!("formula: fast {:.1} MB/s, normal {:.1} MB/s", fast / 1e6, normal / 1e6);
    // The first zone is partly in the buffer.
    for rate in &rates[1..15] {
        assert!((rate / fast - 1.0).abs() < 0.02, "{rate} of {fast}");
    }
    // The dies program what the host writes and what is reorganised, and read the latter.
    assert!(rates[17] < 0.9 * normal && rates[17] > 0.3 * normal, "{} of {normal}", rates[17]);
    // The host is gone until all is in order; a quarter more fits.
    device.run_until(Nanos(device.now().0 + secs(600).0));
    device.deallocate(20 * zone, pages(&device));
    let again = write(&mut device, 20 * zone, 22 * zone);
    println!("after the reorganisation: {:.1} MB/s", again / 1e6);
    assert!((again / fast - 1.0).abs() < 0.02, "{again} of {fast}");
    device.check().unwrap();
}

/// A cache of eight superblocks with half of their rows: 8 MB, a small part of the drive.
#[test]
fn a_pslc_cache_goes_before_the_mode_and_is_folded_beside_the_reorganisation() {
    // With a small write buffer, so that it cannot hide a rate.
    let more = [("nand.blocks_per_plane", "640"), ("buffer.write_bytes", "131072")];
    let cache = CACHE.iter().map(|&(key, value)| match key {
        "pslc.program_ns" => (key, "100_000"),
        _ => (key, value),
    });
    let changes: Vec<_> = cache.chain(MODE).chain(more).collect();
    let mut device = small(&changes);
    let (cache_pages, end) = (8 * 256, pages(&device) / 32 * 32);
    let rates = [
        (write(&mut device, 0, cache_pages), rate(&device, 100_000), 0.05),
        (write(&mut device, cache_pages, end / 4), rate(&device, FAST_NS), 0.02),
        (write(&mut device, end / 4, end * 15 / 32), rate(&device, FAST_NS), 0.02),
    ];
    for (measured, expected, most) in rates {
        println!("{:.1} MB/s, formula {:.1}", measured / 1e6, expected / 1e6);
        assert!((measured / expected - 1.0).abs() < most, "{measured} of {expected}");
    }
    assert_eq!(device.telemetry().pslc_pages, cache_pages, "the cache holds what came first");
    write(&mut device, end * 15 / 32, end * 18 / 32);
    let slow = write(&mut device, end * 18 / 32, end * 19 / 32);
    assert!(slow < 0.9 * rate(&device, 600_000), "{slow}: it reorganises");
    device.check().unwrap();
    device.run_until(Nanos(device.now().0 + secs(600).0));
    let totals = device.telemetry();
    assert_eq!((totals.pslc_pages, totals.folded_pages), (0, cache_pages), "it is folded");
    // Half of what the cache left of the LBAs was written fast, and has moved once.
    let fast_pages = (end - cache_pages) / 2;
    let superblock = u64::from(device.config().geometry.superblock_pages());
    let put_in_order = totals.gc_moved_pages;
    println!("{put_in_order} pages put in order of {fast_pages}");
    assert!(put_in_order.abs_diff(fast_pages) <= 2 * superblock);
    let again = write(&mut device, 0, cache_pages);
    assert!((again / rate(&device, 100_000) - 1.0).abs() < 0.05, "{again}: the cache is back");
    device.check().unwrap();
}

#[test]
fn reorganisation_moves_all_fast_data_once_at_its_rate_and_ends() {
    let mut device = small(&MODE);
    let half = pages(&device) / 2;
    let superblock = u64::from(device.config().geometry.superblock_pages());
    write(&mut device, 0, half - superblock);
    device.run_until(Nanos(device.now().0 + secs(60).0));
    assert_eq!(moved(&device), 0, "half is not reached");
    write(&mut device, half - superblock, half + 2 * superblock);
    let begun = device.now().0;
    let in_s = |device: &mut Device, s: u64| {
        device.run_until(Nanos(begun + secs(s).0));
        moved(device)
    };
    let after_10_s = in_s(&mut device, 10);
    println!("{after_10_s} pages moved in 10 s");
    assert!((after_10_s as f64 / (10.0 * REORGANISED_PER_S as f64) - 1.0).abs() < 0.02);
    let all = in_s(&mut device, 3_600);
    println!("{all} pages moved in all, half of the drive is {half}");
    assert!(all.abs_diff(half) <= 2 * superblock);
    // A year of rest costs nothing: the clock stands still.
    device.run_until(Nanos(device.now().0 + secs(365 * 86_400).0));
    assert_eq!(moved(&device), all);
    device.check().unwrap();
}

/// The small drive with half of its LBAs written fast, at the begin of its reorganisation.
fn full_of_fast_data(pages_per_s: u64, priority_percent: u32) -> (Device, u64) {
    let (rate, priority) = (pages_per_s.to_string(), priority_percent.to_string());
    let mut device = small(&[
        MODE[0],
        MODE[1],
        ("performance_mode.reorganise_pages_per_s", &rate),
        ("performance_mode.reorganise_priority_percent", &priority),
    ]);
    let end = pages(&device) * 17 / 32;
    write(&mut device, 0, end);
    (device, end)
}

/// Writes a thirty-second part of the drive; pages per second that the host wrote and that were put in order.
fn both_rates(device: &mut Device, page: u64) -> (f64, f64) {
    let (start, before) = (device.now().0, moved(device));
    let bytes_per_s = write(device, page, page + pages(device) / 32);
    let seconds = (device.now().0 - start) as f64 / 1e9;
    (bytes_per_s / PAGE_BYTES as f64, (moved(device) - before) as f64 / seconds)
}

/// A unit of 4 pages put in order takes its die 50,000 ns to sense, 40,000 and 40,000 ns of transfers and 600,000 ns to
/// program, one of the host 640,000 ns; the host has what is left of four dies.
#[test]
fn reorganisation_keeps_its_rate_beside_a_busy_host_who_has_what_is_left() {
    for asked in [500, 2_000, 5_000, 10_000, 15_000] {
        let (mut device, end) = full_of_fast_data(asked, 100);
        let (host, put_in_order) = both_rates(&mut device, end);
        let left = 25_000.0 - asked as f64 * 730.0 / 640.0;
        println!("{asked}: {put_in_order:.0} pages/s put in order, host {host:.0} of {left:.0}");
        assert!((put_in_order / asked as f64 - 1.0).abs() < 0.02, "{put_in_order} of {asked}");
        // Dies wait for each other where the host has little.
        let least = if asked > 10_000 { 0.6 } else { 0.85 };
        assert!(host < 1.02 * left && host > least * left, "{host} of {left}");
        device.check().unwrap();
    }
}

/// Moves without priority wait behind the programs of a full write buffer: here some 2,600 pages/s remain.
#[test]
fn only_its_share_goes_before_the_host() {
    let put_in_order = |asked, priority_percent| {
        let (mut device, end) = full_of_fast_data(asked, priority_percent);
        both_rates(&mut device, end).1
    };
    let left_by_the_host = put_in_order(10_000, 0);
    println!("{left_by_the_host:.0} pages/s without priority");
    assert!(left_by_the_host < 3_000.0 && left_by_the_host > 2_000.0, "{left_by_the_host}");
    for (asked, priority_percent) in [(10_000, 50), (8_000, 75)] {
        let first = (asked * u64::from(priority_percent) / 100) as f64;
        let measured = put_in_order(asked, priority_percent);
        println!("{measured:.0} pages/s of {asked} with a priority of {priority_percent}%");
        assert!((measured / first - 1.0).abs() < 0.05, "{measured} of {first}");
    }
    let slow = put_in_order(500, 0);
    assert!((slow / 500.0 - 1.0).abs() < 0.02, "{slow}");
}

/// Published: fast to half of the LBAs, slow for minutes, then nearly as fast as before, in one fill without a pause.
#[test]
fn a_fill_without_a_pause_slows_down_and_recovers() {
    let mut device =
        small(&[MODE[0], MODE[1], ("performance_mode.reorganise_pages_per_s", "15_000")]);
    let (fast, normal) = (rate(&device, FAST_NS), rate(&device, 600_000));
    let zone = pages(&device) / 32;
    let rates: Vec<f64> =
        (0..32).map(|index| write(&mut device, index * zone, (index + 1) * zone)).collect();
    println!("MB/s: {:.0?}", rates.iter().map(|rate| rate / 1e6).collect::<Vec<_>>());
    let (before, after) = rates.split_at(16);
    assert!(before[1..].iter().all(|rate| (rate / fast - 1.0).abs() < 0.02));
    let slow = after.iter().take_while(|&&rate| rate < 0.5 * normal).count();
    assert!((5..=7).contains(&slow), "{slow} zones are slow");
    let recovered = &after[slow..slow + 4];
    assert!(recovered.iter().all(|rate| (rate / fast - 1.0).abs() < 0.02), "{recovered:.0?}");
    device.check().unwrap();
}

/// More than the NAND can do: the host waits for all of it, and for no longer.
#[test]
fn a_host_behind_an_impossible_rate_waits_until_all_is_in_order() {
    let (mut device, end) = full_of_fast_data(1_000_000_000, 100);
    let half = pages(&device) / 2;
    let after = moved(&device);
    assert!(after.abs_diff(half) < pages(&device) / 64, "{after} of {half} pages have moved");
    let (host, _) = both_rates(&mut device, end);
    assert!(host > 25_000.0, "the drive is fast again: {host} pages/s");
    device.run_until(Nanos(device.now().0 + secs(3_600).0));
    device.check().unwrap();
}

#[test]
fn an_emptied_drive_is_fast_again() {
    let mut device = small(&MODE);
    let all = pages(&device) / 32 * 32;
    write(&mut device, 0, all);
    device.deallocate(0, all);
    device.run_until(Nanos(device.now().0 + secs(60).0));
    write(&mut device, 0, all / 8);
    let rate_again = write(&mut device, all / 8, all / 4);
    let fast = rate(&device, FAST_NS);
    println!("after deallocation of everything: {rate_again:.0} of {fast:.0} B/s");
    assert!((rate_again / fast - 1.0).abs() < 0.02);
}

/// Fast data may take half of the space without normal data: half of the drive first, then a
/// quarter, and nothing if less than a sixteenth is left.
#[test]
fn what_has_been_put_in_order_leaves_half_as_much_for_the_next_time() {
    let mut device = small(&MODE);
    let (fast, normal) = (rate(&device, FAST_NS), rate(&device, 600_000));
    let zone = pages(&device) / 32;
    write(&mut device, 0, 17 * zone);
    device.run_until(Nanos(device.now().0 + secs(600).0));
    // 17 zones are in order, 15 are left: half of that is fast.
    let rates: Vec<f64> =
        (17..30).map(|index| write(&mut device, index * zone, (index + 1) * zone)).collect();
    println!(
        "second time: {:.1?} of {:.1}",
        rates.iter().map(|r| r / 1e6).collect::<Vec<_>>(),
        fast / 1e6
    );
    assert!(rates[1..7].iter().all(|rate| (rate / fast - 1.0).abs() < 0.05), "{rates:?}");
    assert!(rates[9] < 0.9 * normal, "{rates:?}, {normal}");
    let all = pages(&device);
    write(&mut device, 30 * zone, all);
    device.run_until(Nanos(device.now().0 + secs(3_600).0));
    let before = moved(&device);
    let overwrite = write(&mut device, 0, 3 * zone);
    assert!(overwrite < 1.05 * normal, "{overwrite}");
    device.run_until(Nanos(device.now().0 + secs(3_600).0));
    assert_eq!(moved(&device), before, "nothing is fast, nothing is put in order");
    device.check().unwrap();
}
