//! Does a compressing drive stay slow after incompressible torture although all is deallocated, and only then?

use base::{Data, Nanos, Op, OpKind, Rng};
use sim::Device;

use crate::common::{closed_loop, op, small};

const RATE: u64 = 20_000_000;
/// A fill and a third.
const BURST_BYTES: u64 = 1_333_000_000;
const COMPRESSES: (&str, &str) = ("compression.granule_bytes", "512");
const BUDGET: [(&str, &str); 3] = [
    COMPRESSES,
    ("wear_budget.burst_bytes", "1_333_000_000"),
    ("wear_budget.bytes_per_s", "20_000_000"),
];
const UNIT_PAGES: u64 = 4;

fn pages(device: &Device) -> u64 {
    device.config().geometry.logical_pages
}

/// Writes the first pages in order, and returns the rate in bytes per second.
fn write(device: &mut Device, count: u64, data: Data) -> f64 {
    let (start, mut page) = (device.now().0, 0);
    closed_loop(device, 32, count / 32, |tag| {
        page += 32;
        Op { data, ..op(OpKind::Write, page - 32, 32, tag) }
    });
    (count / 32 * 131_072) as f64 * 1e9 / (device.now().0 - start) as f64
}

/// A fill, half as many random writes, a deallocation of all, and the rate of writes after that.
fn after_torture(device: &mut Device, torture: Data) -> f64 {
    let pages = pages(device);
    write(device, pages, torture);
    let mut rng = Rng::new(1);
    closed_loop(device, 32, pages / 2, |tag| Op {
        data: torture,
        ..op(OpKind::Write, rng.below(pages), 1, tag)
    });
    device.deallocate(0, pages);
    // Operations under way end, erases among them.
    write(device, 32_768, Data::Incompressible);
    write(device, 32_768, Data::Incompressible)
}

#[test]
fn speed_lost_to_incompressible_torture_does_not_come_back_with_trim() {
    let mut device = small(&BUDGET);
    let fresh = write(&mut device, 32_768, Data::Incompressible);
    let mut device = small(&BUDGET);
    let slow = after_torture(&mut device, Data::Incompressible);
    println!("{:.1} MB/s when fresh, {:.1} MB/s after torture and TRIM", fresh / 1e6, slow / 1e6);
    assert!((slow / RATE as f64 - 1.0).abs() < 0.01, "{slow}");
    assert!(fresh > 4.0 * slow);
    // Nothing but the budget keeps it slow: without one, the TRIM restores it.
    let restored = after_torture(&mut small(&[COMPRESSES]), Data::Incompressible);
    assert!(restored > 0.8 * fresh, "{restored}, fresh {fresh}");
    // Compressible data of the same volume leaves the budget alone.
    let compressible = after_torture(&mut small(&BUDGET), Data::Repeating);
    assert!(compressible > 0.8 * fresh, "{compressible}, fresh {fresh}");
}

#[test]
fn time_alone_gives_it_back() {
    let mut device = small(&BUDGET);
    after_torture(&mut device, Data::Incompressible);
    let back = 200_000_000;
    device.run_until(Nanos(device.now().0 + back * 1_000_000_000 / RATE));
    let fast = write(&mut device, back * 9 / 10 / 4096, Data::Incompressible);
    // The budget that came back meanwhile, and some more.
    write(&mut device, back / 2 / 4096, Data::Incompressible);
    let slow = write(&mut device, 32_768, Data::Incompressible);
    println!("{:.1} MB/s after the rest, then {:.1} MB/s", fast / 1e6, slow / 1e6);
    assert!(fast > 4.0 * RATE as f64 && (slow / RATE as f64 - 1.0).abs() < 0.01);
}

/// The host gets what cleaning leaves of the rate: R / WAF, and R / c of data compressed to the share c.
#[test]
fn the_host_pays_for_every_program() {
    for (percent, least, most) in [(100, 2.0, 20.0), (50, 0.49, 0.6)] {
        let mut device = small(&[BUDGET[0], ("wear_budget.burst_bytes", "1"), BUDGET[2]]);
        let pages = pages(&device);
        let data = Data::Compressible { physical_percent: percent };
        write(&mut device, pages, data);
        let mut rng = Rng::new(1);
        let mut writes = |device: &mut Device, count| {
            closed_loop(device, 32, count, |tag| Op {
                data,
                ..op(OpKind::Write, rng.below(pages), 1, tag)
            });
        };
        writes(&mut device, 2 * pages);
        let (start, before) = (device.now().0, device.telemetry());
        writes(&mut device, pages / 2);
        let (time_ns, after) = (device.now().0 - start, device.telemetry());
        let host = after.host_pages - before.host_pages;
        let programmed = after.programmed_pages - before.programmed_pages;
        let waf = programmed as f64 / host as f64;
        let rate = host as f64 * 4096e9 / time_ns as f64;
        println!("{percent}%: {rate:.0} B/s at WAF {waf:.2}");
        assert!((rate * waf / RATE as f64 - 1.0).abs() < 0.01 && waf > least && waf < most);
        device.check().unwrap();
    }
}

/// Up to the last byte of its burst, the drive is as fast as one without a budget.
#[test]
fn nothing_is_felt_before_the_budget_is_used_up() {
    let life = |changes: &[(&str, &str)]| {
        let mut device = small(changes);
        let pages = pages(&device);
        write(&mut device, pages, Data::Incompressible);
        let mut rng = Rng::new(1);
        while device.telemetry().programmed_pages + 256 * UNIT_PAGES < BURST_BYTES / 4096 {
            closed_loop(&mut device, 32, 32, |tag| op(OpKind::Write, rng.below(pages), 1, tag));
        }
        device.now()
    };
    assert_eq!(life(&BUDGET), life(&[COMPRESSES]));
}
