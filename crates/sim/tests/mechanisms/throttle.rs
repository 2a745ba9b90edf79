//! Does a capped drive accept its volume at full speed, then the capped rate, and regain the volume
//! at rest?

use base::{Nanos, OpKind};
use sim::{Device, PAGE_BYTES};

use crate::common::{closed_loop, op, small};

const BURST_BYTES: u64 = 400 << 20;
const RATE: u64 = 10_000_000;
const CAP: [(&str, &str); 2] =
    [("throttle.burst_bytes", "419430400"), ("throttle.bytes_per_s", "10_000_000")];

/// Writes `bytes` in order, from the end of the last call; returns the rate in bytes per second.
fn write(device: &mut Device, page: &mut u64, bytes: u64) -> f64 {
    let (start, before) = (device.now().0, device.telemetry().host_pages);
    let pages = device.config().geometry.logical_pages / 32 * 32;
    closed_loop(device, 32, bytes / (32 * PAGE_BYTES), |tag| {
        let at = *page % pages;
        *page += 32;
        op(OpKind::Write, at, 32, tag)
    });
    let written = (device.telemetry().host_pages - before) * PAGE_BYTES;
    written as f64 * 1e9 / (device.now().0 - start) as f64
}

#[test]
fn full_speed_for_the_burst_then_the_cap_then_the_burst_again_after_rest() {
    let mut free = small(&[]);
    let full_speed = write(&mut free, &mut 0, BURST_BYTES);
    let mut device = small(&CAP);
    let mut page = 0;
    let burst = write(&mut device, &mut page, BURST_BYTES);
    println!("full speed {full_speed:.0} B/s, burst {burst:.0} B/s");
    assert_eq!(burst, full_speed, "the cap is not felt");
    // The bucket gained time x rate during the burst, again while that was written, and so on.
    let gained = (device.now().0 as f64 / 1e9 * RATE as f64) as u64;
    write(&mut device, &mut page, 2 * gained);
    let capped = write(&mut device, &mut page, 20 << 20);
    println!("then {capped:.0} B/s of {RATE}");
    assert!((capped / RATE as f64 - 1.0).abs() < 0.01, "{capped}");
    // Half the time of the whole burst gives half of it back.
    let half_ns = BURST_BYTES / 2 * 1_000_000_000 / RATE;
    device.run_until(Nanos(device.now().0 + half_ns));
    let again = write(&mut device, &mut page, BURST_BYTES / 2);
    assert!(again > 0.95 * full_speed, "{again} B/s after rest");
    write(&mut device, &mut page, gained);
    let capped = write(&mut device, &mut page, 20 << 20);
    assert!((capped / RATE as f64 - 1.0).abs() < 0.01, "{capped}");
    device.check().unwrap();
}

#[test]
fn reads_are_not_capped() {
    let mut device = small(&CAP);
    let mut page = 0;
    write(&mut device, &mut page, BURST_BYTES + (20 << 20));
    let start = device.now().0;
    closed_loop(&mut device, 32, 3_200, |tag| op(OpKind::Read, 32 * u64::from(tag), 32, tag));
    let rate = 3_200.0 * 131_072.0 * 1e9 / (device.now().0 - start) as f64;
    assert!(rate > 10.0 * RATE as f64, "{rate} B/s");
}

/// The bucket holds a burst and no more: a longer rest gives nothing further.
#[test]
fn a_long_rest_gives_one_burst() {
    let mut device = small(&CAP);
    let mut page = 0;
    write(&mut device, &mut page, BURST_BYTES);
    let full_ns = BURST_BYTES * 1_000_000_000 / RATE;
    device.run_until(Nanos(device.now().0 + 10 * full_ns));
    let start = device.now().0;
    write(&mut device, &mut page, BURST_BYTES);
    // The bucket gained during the burst, again while that was written, and so on.
    let gained = ((device.now().0 - start) as f64 / 1e9 * RATE as f64) as u64;
    write(&mut device, &mut page, 2 * gained);
    let capped = write(&mut device, &mut page, 20 << 20);
    println!("after a burst and a rest ten times as long as it is worth: {capped:.0} B/s");
    assert!((capped / RATE as f64 - 1.0).abs() < 0.01, "{capped}");
}
