//! Do superblocks over a part of the dies keep WAF, and do they set the evenness of a drive?

use base::{Nanos, Rng};

use crate::common::{fill, random_writes, small, spread};

/// WAF, and variation of writes per tenth of a second, in steady state.
fn steady(pacing: &str, groups: &str) -> (f64, f64) {
    let mut device = small(&[
        ("nand.blocks_per_plane", "640"),
        ("nand.die_groups", groups),
        ("gc.pacing", pacing),
    ]);
    let pages = u64::from(device.config().geometry.logical_pages);
    let mut rng = Rng::split(1, "addresses");
    fill(&mut device, pages);
    random_writes(&mut device, pages, 2 * pages, &mut rng);
    device.telemetry_start(Nanos(Nanos::SECOND.0 / 10));
    random_writes(&mut device, pages, 3 * pages, &mut rng);
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    device.check().unwrap();
    let written: Vec<f64> = rows.iter().map(|row| row.host_pages as f64).collect();
    let programmed: u64 = rows.iter().map(|row| row.programmed_pages).sum();
    (programmed as f64 / written.iter().sum::<f64>(), spread(&written))
}

#[test]
fn smaller_superblocks_keep_waf_and_change_evenness() {
    let of_groups = |pacing| ["1", "2", "4"].map(|groups| steady(pacing, groups));
    let even = of_groups("proportional");
    let uneven = of_groups("watermark");
    for (waf, cv) in even.iter().chain(&uneven) {
        println!("WAF {waf:.3}, cv {cv:.3}");
    }
    // Levels of erased superblocks hold fewer bytes, which gives data more room.
    for [whole, halves, quarters] in [even, uneven] {
        assert!(quarters.0 < halves.0 && halves.0 < whole.0 && quarters.0 > 0.95 * whole.0);
    }
    // One group at a time cleans, so that commands for its dies wait: a drive that cleans evenly becomes less even.
    assert!(even.windows(2).all(|pair| pair[1].1 > 1.5 * pair[0].1), "{even:?}");
    // A burst of cleaning is as long as the levels are apart, which are smaller superblocks.
    assert!(uneven.windows(2).all(|pair| pair[1].1 < 0.9 * pair[0].1), "{uneven:?}");
}
