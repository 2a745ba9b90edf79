//! Do meters of the kernel and of a pipe work, and does the link of a SATA drive return to its old
//! setting?

use serde_json::Value;

use crate::machine::Record;

const FOUND: &str = "medium_power";
const RESTING: &str = "med_power_with_dipm";

fn policy(after: &str) -> &'static str {
    Record::of(&format!("{after}.policy")).stdout.trim()
}

fn run(name: &str) -> Value {
    Record::of(name).must_exit_with(0);
    Record::of(&format!("{name}.json")).document()
}

/// Fails unless every measured state has this mean and this peak.
fn must_draw(run: &Value, states: &[&str], power_w: f64) {
    for state in states {
        for end in ["power_w_mean", "power_w_max"] {
            let found = run["metrics"][format!("power.{state}.{end}")].as_f64();
            assert_eq!(found, Some(power_w), "{state} {end}: {run:#}");
        }
    }
}

/// The work of the phase of this name.
fn what<'a>(run: &'a Value, name: &str) -> &'a str {
    let phases = run["phases"].as_array().expect("phases");
    let phase = phases.iter().find(|phase| phase["name"] == name);
    phase.and_then(|phase| phase["what"].as_str()).unwrap_or_else(|| panic!("no {name}: {run:#}"))
}

const STATES: [&str; 4] = ["slumber", "idle", "sequential_write", "random_write"];

#[test]
fn a_sensor_of_the_kernel_says_what_a_sata_drive_draws_in_every_state() {
    let run = run("power-sata");
    must_draw(&run, &STATES, 2.0);
    assert!(run["environment"]["meter"].to_string().contains("voltage times current"));
    assert!(what(&run, "allow_rest").ends_with(&format!("is {RESTING} (found: {FOUND})")));
    assert!(what(&run, "keep_awake").contains("is max_performance"));
    assert_eq!(policy("power-sata"), FOUND);
}

#[test]
fn a_killed_run_leaves_the_link_switched_and_restore_puts_it_back() {
    Record::of("power-killed").must_exit_with(128 + 9);
    assert_eq!(policy("power-killed"), RESTING, "nobody was left to put it back");
    let restored = Record::of("power-restored");
    restored.must_exit_with(0);
    let words = restored.document()["restored"].to_string();
    assert!(words.contains(&format!("is {FOUND}")), "{words}");
    assert_eq!(policy("power-restored"), FOUND);
}

#[test]
fn the_next_run_puts_it_back_before_it_looks() {
    assert_eq!(policy("power-killed-again"), RESTING);
    let next = run("power-next");
    assert!(Record::of("power-next").stderr.contains("restored: "));
    assert!(what(&next, "allow_rest").contains(&format!("(found: {FOUND})")), "{next:#}");
    must_draw(&next, &STATES, 0.5);
    assert_eq!(policy("power-next"), FOUND);
}

#[test]
fn an_interrupted_run_puts_it_back_itself() {
    Record::of("power-interrupted").must_exit_with(130);
    assert_eq!(policy("power-interrupted"), FOUND);
}

#[test]
fn an_nvme_drive_without_a_state_of_rest_is_measured_without_slumber() {
    let run = run("power-nvme");
    assert_eq!(run["metrics"]["power.slumber.power_w_mean"], Value::Null);
    must_draw(&run, &STATES[1..], 0.5);
    assert!(run["warnings"].to_string().contains("slumber is not measured"), "{run:#}");
}
