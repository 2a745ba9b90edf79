//! Do superblocks over a part of the dies keep WAF, and do they set the evenness of a drive?

use base::{Nanos, OpKind, Rng};
use sim::Device;

use crate::common::{
    built_in, fill, op, random_writes, small, spread, watched_loop, writes_and_waf,
};

/// Steady state of random writes.
#[derive(Debug)]
struct Steady {
    waf: f64,
    /// Of writes per tenth of a second.
    cv: f64,
    iops: f64,
    p99_ms: f64,
}

fn steady(changes: &[(&str, &str)]) -> Steady {
    let changes = [&[("nand.blocks_per_plane", "640")], changes].concat();
    steady_state(&mut small(&changes))
}

fn steady_state(device: &mut Device) -> Steady {
    let pages = device.config().capacity_bytes() / 4096;
    let mut rng = Rng::split(1, "addresses");
    fill(device, pages);
    random_writes(device, pages, 2 * pages, &mut rng);
    device.telemetry_start(Nanos(Nanos::SECOND.0 / 10));
    let (mut latencies, begin) = (Vec::new(), device.now().0);
    let next = |tag| op(OpKind::Write, rng.below(pages), 1, tag);
    watched_loop(device, 32, 3 * pages, next, |_, end| latencies.push(end.latency().0));
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    device.check().unwrap();
    let (written, waf) = writes_and_waf(&rows);
    latencies.sort_unstable();
    Steady {
        waf,
        cv: spread(&written),
        iops: latencies.len() as f64 * 1e9 / (device.now().0 - begin) as f64,
        p99_ms: latencies[latencies.len() * 99 / 100] as f64 / 1e6,
    }
}

#[test]
fn smaller_superblocks_keep_waf_and_change_evenness() {
    let of_groups = |pacing| {
        ["1", "2", "4"].map(|groups| steady(&[("nand.die_groups", groups), ("gc.pacing", pacing)]))
    };
    let even = of_groups("proportional");
    let uneven = of_groups("watermark");
    for Steady { waf, cv, .. } in even.iter().chain(&uneven) {
        println!("WAF {waf:.3}, cv {cv:.3}");
    }
    // Levels of erased superblocks hold fewer bytes, which gives data more room.
    for [whole, halves, quarters] in [&even, &uneven] {
        assert!(quarters.waf < halves.waf && halves.waf < whole.waf);
        assert!(quarters.waf > 0.95 * whole.waf);
    }
    // One group at a time cleans, so that commands for its dies wait: a drive that cleans evenly becomes less even.
    assert!(even.windows(2).all(|pair| pair[1].cv > 1.5 * pair[0].cv), "{even:?}");
    // A burst of cleaning is as long as the levels are apart, which are smaller superblocks.
    assert!(uneven.windows(2).all(|pair| pair[1].cv < 0.9 * pair[0].cv), "{uneven:?}");
}

/// The groups need each other's dies no longer, so the drive is as fast as one with whole superblocks.
#[test]
fn groups_that_clean_for_themselves_are_as_fast_as_whole_superblocks() {
    for (pacing, variation) in [("token", 0.1), ("watermark", 0.6)] {
        let groups = [("nand.die_groups", "4"), ("gc.pacing", pacing)];
        let whole = steady(&groups[1..]);
        let one = steady(&groups);
        let own = steady(&[&groups[..], &[("gc.victims", "per-group")]].concat());
        println!("{pacing}\nwhole superblocks {whole:?}\none victim {one:?}\nown victims {own:?}");
        assert!((own.waf / whole.waf - 1.0).abs() < 0.02, "{pacing}: WAF {}", own.waf);
        assert!((own.iops / whole.iops - 1.0).abs() < 0.02, "{pacing}: {} IOPS", own.iops);
        assert!(one.iops < 0.8 * own.iops, "{pacing}: {} IOPS with one victim", one.iops);
        assert!(own.p99_ms < 0.25 * one.p99_ms, "{pacing}: p99 {} ms", own.p99_ms);
        assert!(own.cv < variation * one.cv, "{pacing}: variation {}", own.cv);
    }
}

#[test]
fn a_shipped_drive_may_have_groups_that_clean_for_themselves() {
    let groups = [("nand.die_groups", "3"), ("gc.victims", "per-group")];
    let [whole, one, own] = [0, 1, 2]
        .map(|keys| steady_state(&mut built_in("intel-ssd-750-400gb", "1/1024", &groups[..keys])));
    println!("whole superblocks {whole:?}\none victim {one:?}\nown victims {own:?}");
    assert!((own.waf / whole.waf - 1.0).abs() < 0.05 && own.iops > one.iops);
}
