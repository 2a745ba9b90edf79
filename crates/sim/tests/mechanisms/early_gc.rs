//! Does collection that begins early move what the host was about to overwrite?

use base::{OpKind, Ratio};
use sim::Device;

use crate::common::three_streams::{DRIVE, Overwrites, ThreeStreams};
use crate::common::{closed_loop, fill, op, small_config, waf_of_moves};

/// A drive that has four fifths of its superblocks in use when it is full.
const SPARE: (&str, &str) = ("nand.blocks_per_plane", "148");
const USED: (&str, &str) = ("gc.early_used_percent", "80");

/// Write amplification of a host that writes all pages in order again and again.
fn sequential(changes: &[(&str, &str)]) -> f64 {
    let changes = [&DRIVE[..], &[SPARE], changes].concat();
    let mut device = Device::new(small_config(Ratio::ONE, &changes));
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, pages);
    let mut page = 0;
    let mut lap = |device: &mut Device| {
        closed_loop(device, 1, pages.div_ceil(32), |tag| {
            let (first, length) = (page, 32.min(pages - page));
            page = (page + length) % pages;
            op(OpKind::Write, first, length, tag)
        });
    };
    lap(&mut device);
    let before = device.telemetry();
    (0..3).for_each(|_| lap(&mut device));
    let after = device.telemetry();
    device.check().unwrap();
    waf_of_moves(&before, &after)
}

/// Each superblock moves with the share x of its pages that the limit permits, and what has moved lies in superblocks
/// that come to the limit in turn: at most 1 + x + x^2 + ...
#[test]
fn a_sequential_stream_alone_pays_for_the_limit_of_early_collection() {
    let waiting = sequential(&[]);
    assert!(waiting < 1.001, "{waiting}");
    for percent in [5, 20, 40] {
        let text = percent.to_string();
        let waf = sequential(&[USED, ("gc.early_valid_percent", &text)]);
        let share = f64::from(percent) / 100.0;
        println!("up to {percent}% of valid pages: {waf:.3}");
        let bounds = 1.0 + share / 2.0..1.0 / (1.0 - share);
        assert!(bounds.contains(&waf), "{percent}%: {waf} is not in {bounds:?}");
    }
}

/// A drive with room below the share of superblocks in use waits as one without the mechanism.
#[test]
fn a_drive_with_much_spare_waits_for_the_end_of_a_superblock() {
    let room = [("gc.early_used_percent", "99"), ("gc.early_valid_percent", "40")];
    let waf = sequential(&room);
    assert!(waf < 1.001, "{waf}");
}

#[test]
fn the_largest_of_three_streams_is_the_one_that_moves() {
    let moved = |changes: &[(&str, &str)]| {
        let config = small_config(Ratio::ONE, &[&DRIVE[..], &[SPARE], changes].concat());
        let mut drive = ThreeStreams::new(config, Overwrites::EightyTwenty, 2);
        drive.write(2);
        (drive.write(3), drive.device.probe().moved_pages)
    };
    let (waiting, _) = moved(&[]);
    let (early, by_handle) = moved(&[USED, ("gc.early_valid_percent", "40")]);
    println!("{waiting:.3}, early {early:.3}, moved by handle {by_handle:?}");
    assert!(waiting < 1.06 && early > 1.4, "{waiting} and {early}");
    assert!(by_handle[0] > 2 * (by_handle[1] + by_handle[2]), "{by_handle:?}");
}
