//! Does wear leveling keep erase counts together when part of the data never changes, and at what
//! cost?

use base::{OpKind, Ratio, Rng};
use sim::Device;

use crate::common::{CACHE, alone, closed_loop, fill, op, random_writes, small, small_config};

const SPREAD_MAX: u32 = 10;
const STATIC: [(&str, &str); 2] =
    [("wear_leveling.allocation", "least-worn"), ("wear_leveling.spread_max", "10")];
const DYNAMIC: [(&str, &str); 2] =
    [("wear_leveling.allocation", "least-worn"), ("wear_leveling.spread_max", "0")];

/// Erases of the most and of the least worn superblock.
fn erases(device: &Device) -> (u32, u32) {
    let counts = &device.ftl().erase_counts;
    (counts.iter().copied().max().unwrap_or(0), counts.iter().copied().min().unwrap_or(0))
}

/// A filled drive of which only a quarter is ever written again, at random, `turns` times over: the
/// spread of erase counts after each turn, and the WAF over all.
fn live(changes: &[(&str, &str)], turns: usize) -> (Vec<u32>, f64) {
    let scale = Ratio::new(1, 8).expect("a ratio");
    let mut device = Device::new(small_config(scale, changes));
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, pages);
    let mut rng = Rng::split(1, "addresses");
    let before = device.telemetry();
    let mut spreads = Vec::new();
    for _ in 0..turns {
        closed_loop(&mut device, 32, pages, |tag| op(OpKind::Write, rng.below(pages / 4), 1, tag));
        let (most, least) = erases(&device);
        spreads.push(most - least);
    }
    device.check().unwrap();
    let after = device.telemetry();
    let programmed = after.programmed_pages - before.programmed_pages;
    (spreads, programmed as f64 / (after.host_pages - before.host_pages) as f64)
}

#[test]
fn the_spread_stays_bounded_with_static_wear_leveling_and_grows_without() {
    let (without, waf) = live(&[], 24);
    let (dynamic, dynamic_waf) = live(&DYNAMIC, 24);
    let (bounded, bounded_waf) = live(&STATIC, 24);
    println!("spread after each turn of the drive, without: {without:?}");
    println!("dynamic: {dynamic:?}");
    println!("static:  {bounded:?}");
    println!("WAF without {waf:.3}, dynamic {dynamic_waf:.3}, static {bounded_waf:.3}");
    // Nobody writes to three quarters of the drive: its superblocks stay at no erase.
    for spreads in [&without, &dynamic] {
        assert!(spreads[23] > 3 * SPREAD_MAX && spreads[23] > spreads[11] * 19 / 10, "{spreads:?}");
    }
    // All cold superblocks come due at once; one victim in five works them off. Fifteen seeds had up to 23 then and
    // up to 20 after that.
    assert!(bounded.iter().all(|&spread| spread <= 5 * SPREAD_MAX / 2), "{bounded:?}");
    assert!(bounded[12..].iter().all(|&spread| spread <= 2 * SPREAD_MAX), "{bounded:?}");
    // While all cold superblocks are due, four victims of five make room as before and the fifth costs its whole size:
    // WAF x 5 / 4. After that only what stays too young is moved, and it stays where it goes.
    let limit = waf * 5.0 / 4.0;
    println!("limit of the WAF: {limit:.3}");
    assert!(bounded_waf > waf && bounded_waf < limit, "{bounded_waf}");
}

#[test]
fn uniform_wear_costs_nothing() {
    let run = |changes: &[(&str, &str)]| {
        let scale = Ratio::new(1, 8).expect("a ratio");
        let mut device = Device::new(small_config(scale, changes));
        let pages = device.config().geometry.logical_pages;
        fill(&mut device, pages);
        let mut rng = Rng::split(1, "addresses");
        random_writes(&mut device, pages, 8 * pages, &mut rng);
        device.telemetry().programmed_pages as f64 / device.telemetry().host_pages as f64
    };
    let (plain, leveled) = (run(&[]), run(&STATIC));
    println!("uniform writes: WAF {plain:.3}, with wear leveling {leveled:.3}");
    assert!((leveled / plain - 1.0).abs() < 0.02);
}

/// A cache wears faster than the rest because it is programmed for all data that the others hold
/// for long: that is no reason to move data that no host writes.
#[test]
fn a_worn_cache_makes_nobody_move_cold_data() {
    let small_cache = [("pslc.bytes", "2097152"), ("pslc.only_below_bytes", "65_536")];
    let mut device = small(&[&STATIC[..], &CACHE, &small_cache].concat());
    let geometry = device.config().geometry;
    fill(&mut device, geometry.logical_pages);
    // A few pages pass through the cache in every pause.
    for _ in 0..100 {
        alone(&mut device, &op(OpKind::Write, 0, 8, 0));
        device.run_until(base::Nanos(device.now().0 + 200_000_000));
    }
    let native = geometry.superblocks - geometry.cache_superblocks;
    let (native, cache) = device.ftl().erase_counts.split_at(native as usize);
    assert!(cache.iter().all(|&erases| erases > 2 * SPREAD_MAX), "{cache:?}");
    assert!(native.iter().all(|&erases| erases <= SPREAD_MAX));
    assert_eq!(device.telemetry().gc_moved_pages, 0, "folds are not counted there");
    device.check().unwrap();
}
