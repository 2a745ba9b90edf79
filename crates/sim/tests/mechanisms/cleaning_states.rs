//! Does a drive whose reserve lies in its pSLC cache begin slowly, rise, fall when the reserve is used up, and settle at
//! its first rate? The small drive: 4 dies, units of 4 pages, superblocks of 512 pages; the cache borrows.

use base::{Nanos, OpKind, Rng, TelemetryRow};
use sim::Device;

use crate::common::{CACHE, fill, op, small, watched_loop};

const SUPERBLOCK_PAGES: u64 = 512;
const STATES: [(&str, &str); 5] = [
    ("cleaning_states.starved_free", "14"),
    ("cleaning_states.balance_free", "20"),
    ("cleaning_states.reserve_free", "80"),
    ("cleaning_states.starved_random_iops", "2_500"),
    ("cleaning_states.balance_random_iops", "8_000"),
];
const STARVED_NS: u64 = 400_000;
const BALANCE_NS: u64 = 125_000;
const BORROWS: [(&str, &str); 3] =
    [("pslc.borrows", "true"), ("pslc.bytes", "0"), ("nand.blocks_per_plane", "620")];

/// The time from the end of each random page write to the next, and the erased superblocks at the end.
struct Life {
    steps: Vec<(u64, u64)>,
    after_fill: TelemetryRow,
    device: Device,
}

fn live(changes: &[(&str, &str)]) -> Life {
    let mut device = small(changes);
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, pages);
    let after_fill = device.telemetry();
    let mut rng = Rng::new(1);
    let (mut last_ns, mut steps) = (device.now().0, Vec::new());
    let next = |tag| op(OpKind::Write, rng.below(pages), 1, tag);
    watched_loop(&mut device, 32, pages, next, |device, end| {
        steps.push((end.done.0 - last_ns, u64::from(device.ftl().free.len() as u32)));
        last_ns = end.done.0;
    });
    device.check().unwrap();
    Life { steps, after_fill, device }
}

/// Random page writes per second over a part of a life.
fn rate(steps: &[(u64, u64)]) -> f64 {
    steps.len() as f64 * 1e9 / steps.iter().map(|(step_ns, _)| step_ns).sum::<u64>() as f64
}

#[test]
fn a_drive_that_begins_starved_rises_falls_and_settles() {
    let Life { steps, after_fill, device } = live(&[&CACHE[..], &BORROWS, &STATES].concat());
    println!("{} pages in the cache, {after_fill:?}", after_fill.pslc_pages);
    assert!(after_fill.free_superblocks <= 14, "the fill has left the drive starved");
    let first = |from: usize, is_wanted: fn(u64) -> bool| {
        from + steps[from..]
            .iter()
            .position(|&(_, free)| is_wanted(free))
            .expect("it comes to that")
    };
    let balance = first(0, |free| free >= 20);
    let reserve = first(balance, |free| free >= 80);
    let short = first(reserve, |free| free <= 20);
    let starved = first(short, |free| free <= 14);
    // Writes outstanding at the border of two states still have the time of the state before.
    for (begin, end, step_ns) in [
        (33, balance, STARVED_NS),
        (balance + 33, reserve, BALANCE_NS),
        (short + 33, starved, BALANCE_NS),
    ] {
        let odd = steps[begin..end].iter().find(|(step, _)| *step != step_ns);
        assert_eq!(odd, None, "between writes {begin} and {end}");
    }
    let fast = rate(&steps[reserve + 32..short]);
    let settled = rate(&steps[starved + 32..]);
    println!(
        "{balance} starved, {reserve} in balance, {fast:.0} IOPS until {short}, then {settled:.0}"
    );
    assert!((settled / 2_500.0 - 1.0).abs() < 0.001, "{settled}");
    // Four dies program a unit of four pages in 640,000 ns.
    assert!((fast / (4.0 * 4.0 / 640e-6) - 1.0).abs() < 0.02, "{fast}");
    // Data of the cache is either folded or overwritten there, and all of it has given its room.
    let folded = device.telemetry().folded_pages - after_fill.folded_pages;
    assert!(folded < after_fill.pslc_pages && device.telemetry().pslc_pages == 0);
    assert!(folded > after_fill.pslc_pages * 9 / 10, "{folded} of {}", after_fill.pslc_pages);
}

/// Written into native cells without collection, the reserve lasts for as many pages as it has.
#[test]
fn the_reserve_lasts_as_long_as_its_pages() {
    let Life { steps, .. } = live(&[&CACHE[..], &BORROWS, &STATES].concat());
    let most = steps.iter().map(|&(_, free)| free).max().unwrap();
    let top = steps.iter().rposition(|&(_, free)| free == most).unwrap();
    let short = top + steps[top..].iter().position(|&(_, free)| free <= 20).unwrap();
    let pages = (short - top) as u64;
    println!("{pages} pages from {most} erased superblocks to 20");
    assert!(most >= 80 && pages.abs_diff((most - 20) * SUPERBLOCK_PAGES) <= SUPERBLOCK_PAGES);
}

/// A drive whose fill has left the reserve alone is fast at once.
#[test]
fn without_data_in_the_cache_the_reserve_is_there_from_the_begin() {
    let Life { steps, after_fill, .. } = live(&[&BORROWS[2..], &STATES].concat());
    assert!(after_fill.free_superblocks > 80);
    let begin = rate(&steps[..10_000]);
    assert!((begin / 25_000.0 - 1.0).abs() < 0.02, "{begin}");
}

/// Only random writes have the rates of the states.
#[test]
fn a_starved_drive_takes_sequential_writes_as_fast_as_it_can() {
    let mut device = small(&[&CACHE[..], &BORROWS, &STATES].concat());
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, pages);
    let begin = device.now();
    fill(&mut device, 8_192);
    let pages_per_s = 8_192e9 / (device.now().0 - begin.0) as f64;
    println!("{pages_per_s:.0} pages/s");
    assert!(pages_per_s > 2.0 * 2_500.0, "{pages_per_s}");
    device.run_until(Nanos(device.now().0 + Nanos::SECOND.0));
    device.check().unwrap();
}
