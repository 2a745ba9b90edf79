//! Can any accepted drive model be broken? Random models, random commands; the seed is in the message.
#![allow(missing_docs, reason = "a test")]

mod common;

use base::Rng;
use common::swarm::{random_config, torture};
use sim::Device;

/// Drives tried; each takes about a millisecond.
const SEEDS: u64 = 400;

#[test]
fn no_accepted_model_stalls_panics_or_loses_count() {
    let (mut accepted, mut collected, mut striped, mut compressed) = (0, 0, 0, 0);
    let mut folded = 0;
    for seed in 0..SEEDS {
        let mut rng = Rng::split(seed, "swarm");
        let Ok(config) = random_config(&mut rng) else { continue };
        striped += u32::from(config.geometry.stripe_units > 0);
        compressed += u32::from(config.geometry.page_granules > 1);
        let mut device = Device::new(config);
        accepted += 1;
        torture(&mut device, &mut rng, |_| ());
        if let Err(broken) = device.check() {
            panic!("seed {seed}: {broken}");
        }
        folded += u32::from(device.telemetry().folded_pages > 0);
        collected += u32::from(device.telemetry().gc_moved_pages > 0);
    }
    println!("{accepted} of {SEEDS} models accepted, {collected} collected garbage");
    println!("{striped} with parity, {compressed} with compression, {folded} folded a cache");
    assert!(striped > 5 && compressed > 5 && folded > 5, "some phenomenon is hardly tried");
    assert!(accepted > 40 && collected > 20, "the swarm is too tame to mean anything");
}

#[test]
fn the_same_commands_give_the_same_life() {
    let life = |seed| {
        let mut device = common::small(&[]);
        let mut rng = Rng::new(seed);
        torture(&mut device, &mut rng, |_| ());
        (device.now(), device.telemetry())
    };
    assert_eq!(life(1), life(1));
    assert_ne!(life(1), life(2));
}
