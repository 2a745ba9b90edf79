//! Does parity have its cost? Space and programs of striped drives compared with theory.

use base::{Nanos, OpKind, Rng};

use crate::common::{alone, fill, op, random_writes, small, waf_greedy};

/// Physical over logical pages that data can use, without the mean of erased superblocks, and
/// without half of each of the two open superblocks and of the current victim; parity is no spare.
fn alpha(device: &sim::Device, free: f64) -> f64 {
    let geometry = &device.config().geometry;
    let superblocks = f64::from(geometry.superblocks) - free - 1.5;
    superblocks * f64::from(geometry.superblock_data_pages()) / geometry.logical_pages as f64
}

#[test]
fn nand_writes_are_those_of_theory_on_less_spare_times_the_share_of_parity() {
    // Programs per host write = A(alpha without parity) x n / (n - 1) for stripes of n units.
    for (stripe_units, blocks) in [(2, "1150"), (4, "760")] {
        let stripe = stripe_units.to_string();
        let changes = [
            ("parity.stripe_units", stripe.as_str()),
            ("nand.blocks_per_plane", blocks),
            ("gc.free_high", "5"),
        ];
        let mut device = small(&changes);
        let pages = device.config().geometry.logical_pages;
        let mut rng = Rng::split(1, "addresses");
        fill(&mut device, pages);
        random_writes(&mut device, pages, 3 * pages, &mut rng);
        let before = device.telemetry();
        device.telemetry_start(Nanos::SECOND);
        random_writes(&mut device, pages, 2 * pages, &mut rng);
        let after = device.telemetry();
        let mut rows = Vec::new();
        device.telemetry_take(&mut rows);
        let free =
            rows.iter().map(|row| row.free_superblocks as f64).sum::<f64>() / rows.len() as f64;
        let alpha = alpha(&device, free);
        let data_pages = device.config().geometry.superblock_data_pages();
        let share = f64::from(stripe_units) / f64::from(stripe_units - 1);
        let theory = waf_greedy(alpha, data_pages) * share;
        let host = after.host_pages - before.host_pages;
        let measured = (after.programmed_pages - before.programmed_pages) as f64 / host as f64;
        println!("stripe {stripe_units} alpha {alpha:.4}: {measured:.3}, theory {theory:.3}");
        assert!((measured / theory - 1.0).abs() < 0.01, "{measured} against {theory}");
        device.check().unwrap();
    }
}

#[test]
fn a_full_stripe_has_one_unit_of_parity_and_an_open_one_none() {
    // Four dies, one stripe over all of them: three units of four pages, then parity.
    let mut device = small(&[("parity.stripe_units", "4"), ("nand.blocks_per_plane", "760")]);
    alone(&mut device, &op(OpKind::Write, 0, 8, 0));
    device.run_until(Nanos::SECOND);
    assert_eq!((device.telemetry().programmed_pages, device.telemetry().parity_pages), (8, 0));
    alone(&mut device, &op(OpKind::Write, 8, 4, 0));
    device.run_until(Nanos(2 * Nanos::SECOND.0));
    assert_eq!((device.telemetry().programmed_pages, device.telemetry().parity_pages), (16, 4));
    device.check().unwrap();
}

#[test]
fn parity_takes_its_time_on_a_die_and_its_channel() {
    // Write 5 superblocks of 4 dies with and without parity: the time of a data page grows by 4/3.
    let time_ns = |changes: &[(&str, &str)]| {
        let mut device = small(changes);
        fill(&mut device, 6_000);
        let start = device.now().0;
        fill(&mut device, 60_000);
        (device.now().0 - start) as f64
    };
    let ratio = time_ns(&[("parity.stripe_units", "4"), ("nand.blocks_per_plane", "900")])
        / time_ns(&[("nand.blocks_per_plane", "900")]);
    println!("time with parity {ratio:.4}");
    assert!((ratio * 3.0 / 4.0 - 1.0).abs() < 0.01, "{ratio}");
}

/// Parity holds no data, so collection does not gain its room: otherwise pacing would let the host
/// run into the level at which it has to wait.
#[test]
fn parity_does_not_disturb_the_pacing() {
    let mut device = small(&[("parity.stripe_units", "4"), ("nand.blocks_per_plane", "760")]);
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages, &mut rng);
    device.telemetry_start(Nanos(10_000_000));
    random_writes(&mut device, pages, pages, &mut rng);
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    let least = rows.iter().map(|row| row.free_superblocks).min().expect("it took a while");
    println!("at least {least} superblocks erased");
    assert!(least > 3, "{least} superblocks erased, `gc.free_low` is 3");
}
