//! Is a drive with a "performance mode" fast until half of it is full, slow while it reorganises, and then
//! fast again? Rates by formula: D dies of P pages a unit, t a page on the channel:
//! D P 4096 / (P t + tPROG).

use base::{Nanos, OpKind};
use sim::{Device, PAGE_BYTES};

use crate::common::{closed_loop, op, secs, small};

const FAST_NS: u64 = 200_000;
const REORGANISED_PER_S: u64 = 5_000;
const MODE: [(&str, &str); 3] = [
    ("performance_mode.program_ns", "200_000"),
    ("performance_mode.fill_percent", "50"),
    ("performance_mode.reorganise_pages_per_s", "5_000"),
];

fn pages(device: &Device) -> u64 {
    u64::from(device.config().geometry.logical_pages)
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
