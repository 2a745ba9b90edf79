//! Can any accepted drive model be broken, and does every refusal give the reason? Random models
//! over every key of the format, random commands; a failure names the seed, the model and the
//! command that repeats this one case.
#![allow(clippy::print_stdout, reason = "a test that shows its figures")]

mod common;

use std::collections::BTreeSet;

use base::Rng;
use sim::ftl::StreamId;
use sim::nand::aging::past::Past;
use sim::{Config, Device, Model, ModelError, Probe};

use common::cases::Cases;
use common::swarm::{Draft, Watchdog, alive, is_small, keys, torture};

/// Number of drawn models; each takes about a millisecond.
const SEEDS: u64 = 10_000;

/// Values that the scale changes before a rule checks them.
const SCALED: [&str; 3] =
    ["nand.blocks_per_plane", "nand.pages_per_block", "nand.reserved_superblocks"];

/// A model; one in three has values that hardly any drive can have.
fn draft(seed: u64) -> (Draft, Rng) {
    let mut rng = Rng::split(seed, "swarm");
    let mut draft = Draft::random(&mut rng, &[]);
    if rng.chance(1, 3) {
        draft.spoil(&mut rng);
    }
    (draft, rng)
}

/// Time without power, cycles and reads, each of them for one drive in two.
fn past(rng: &mut Rng) -> Past {
    let mut some = |most: u64| if rng.chance(1, 2) { rng.below(most) as u32 } else { 0 };
    Past { cycles: some(5_000), reads: some(100_000), ..Past::days(some(1_000)) }
}

/// A life with commands, pauses, secure erases and sudden pasts.
fn live(config: Config, rng: &mut Rng) -> Device<Watchdog> {
    let mut device = Device::with_probe(config, Watchdog::default());
    let mut purges = rng.clone();
    torture(&mut device, rng, |device| {
        device.check().unwrap_or_else(|broken| panic!("{broken}"));
        if purges.chance(1, 16) {
            device.reset();
        }
        if purges.chance(1, 16) {
            device.age(past(&mut purges));
        }
    });
    device
}

#[test]
fn no_accepted_model_stalls_panics_or_loses_count() {
    let (mut accepted, mut collected, mut folded, mut mapped) = (0, 0, 0, 0);
    let mut lived = BTreeSet::new();
    let cases = Cases::chosen();
    for seed in cases.seeds(SEEDS) {
        let (draft, mut rng) = draft(seed);
        let Some(config) = draft.resolve().ok().filter(is_small) else { continue };
        let device = alive("swarm", seed, &draft, || live(config, &mut rng));
        accepted += 1;
        lived.extend(draft.values.into_keys());
        folded += u64::from(device.telemetry().folded_pages > 0);
        collected += u64::from(device.telemetry().gc_moved_pages > 0);
        mapped += u64::from(device.telemetry().metadata_pages > 0);
    }
    println!("{accepted} models accepted, {cases:?} of {SEEDS}, {collected} collected garbage");
    println!("{folded} folded a cache, {mapped} wrote a journal");
    if cases.is_repetition() {
        return;
    }
    assert!(cases != Cases::All || lived == keys(), "some keys are hardly tried: {lived:?}");
    let tried = accepted > cases.least(1_500) && collected > cases.least(1_000);
    assert!(tried, "the swarm is too tame to mean anything");
    let seen = folded > cases.least(100) && mapped > cases.least(300);
    assert!(seen, "some phenomenon is hardly tried");
}

/// A drive that collects garbage for ever while its host waits.
fn hang(dog: &mut Watchdog) {
    loop {
        dog.victim(0);
        (0..64).for_each(|page| dog.placed(StreamId::Gc, page, page));
        dog.programmed(0);
        dog.die_erased(0, 0);
    }
}

#[test]
fn a_drive_that_hangs_is_stopped_and_told_with_its_seed_and_model() {
    let (draft, _) = draft(17);
    let hanging = || alive("swarm", 17, &draft, || hang(&mut Watchdog::default()));
    let cause = std::panic::catch_unwind(hanging).expect_err("it is stopped");
    let words = cause.downcast_ref::<String>().expect("it is told");
    for part in ["seed 17: the drive hangs", "SSDLAB_TEST_SEED=17 cargo test", &draft.text()] {
        assert!(words.contains(part), "{part} is missing in {words}");
    }
}

#[test]
fn a_busy_drive_that_serves_its_host_is_left_alone() {
    let mut dog = Watchdog::default();
    for _ in 0..10_000 {
        (0..10_000).for_each(|page| dog.placed(StreamId::Gc, page, page));
        dog.placed(StreamId::Host, 0, 0);
    }
}

#[test]
fn the_swarm_knows_every_key_of_the_format() {
    let known = Model::keys();
    assert_eq!(keys(), known.iter().map(|key| key.name.as_str()).collect());
}

/// The fault of a refusal: it must name a key, its value and a rule.
fn fault(draft: &Draft, refusal: &ModelError) -> Option<&'static str> {
    match refusal {
        ModelError::Value { key, value, rule, .. } => {
            let is_drawn =
                draft.values.get(key.as_str()).is_none_or(|v| v.replace('_', "") == *value);
            if !keys().contains(key.as_str()) {
                Some("it names no key of the format")
            } else if !is_drawn && !SCALED.contains(&key.as_str()) {
                Some("the value is another")
            } else {
                (rule.split(' ').count() < 3).then_some("it names no rule")
            }
        }
        // The reader shows the line, or the section and the key that it lacks.
        ModelError::Parse { message, .. } => {
            let names = |key: &&str| message.contains(key.rsplit('.').next().unwrap_or(key));
            let names_one = draft.spoiled.iter().any(names) || message.contains("missing field");
            (!names_one).then_some("it names no key that is wrong")
        }
        ModelError::UnknownKey { .. } => Some("all keys are known"),
        ModelError::Host { .. } => Some("the hosts are those that come with ssdlab"),
    }
}

#[test]
fn every_refusal_names_a_key_its_value_and_the_rule() {
    let mut refused = BTreeSet::new();
    for seed in 0..SEEDS / 2 {
        let (draft, _) = draft(seed);
        let Err(refusal) = draft.resolve() else { continue };
        if let Some(fault) = fault(&draft, &refusal) {
            panic!("seed {seed}: {fault}: {refusal}");
        }
        if let ModelError::Value { key, .. } = refusal {
            refused.insert(key);
        }
    }
    println!("{} keys refused by a rule", refused.len());
    assert!(refused.len() > 40);
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
