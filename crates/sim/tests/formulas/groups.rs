//! Do superblocks over a part of the dies keep WAF, and do they set the evenness of a drive?

use base::Nanos;

use crate::common::{small, spread, steady_rows, writes_and_waf};

/// WAF, and variation of writes per tenth of a second, in steady state.
fn steady(pacing: &str, groups: &str) -> (f64, f64) {
    let mut device = small(&[
        ("nand.blocks_per_plane", "640"),
        ("nand.die_groups", groups),
        ("gc.pacing", pacing),
    ]);
    let rows = steady_rows(&mut device, Nanos(Nanos::SECOND.0 / 10));
    let (written, waf) = writes_and_waf(&rows);
    (waf, spread(&written))
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
