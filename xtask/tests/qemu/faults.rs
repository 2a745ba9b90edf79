//! Is the result readable if the drive fails or disappears, or the program is killed?

use serde_json::Value;

use crate::machine::Record;

/// Fails unless the run ended with exit code 4 and a message, and `ssdlab show` reads its data.
fn must_have_failed_and_kept(name: &str) -> Value {
    Record::of(name).must_exit_with(4);
    let run = Record::of(&format!("{name}.json")).document();
    assert_eq!(run["status"], "failed", "{run:#}");
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("ended early"), "{warnings}");
    Record::of(&format!("{name}.show")).must_exit_with(0);
    run
}

fn measured_ios(run: &Value) -> u64 {
    let phases = run["phases"].as_array().expect("phases");
    phases.iter().filter_map(|phase| phase["ios"].as_u64()).sum()
}

#[test]
fn a_drive_that_begins_to_fail_ends_the_run_with_what_it_measured() {
    let run = must_have_failed_and_kept("flaky");
    assert!(measured_ios(&run) > 100, "{run:#}");
}

#[test]
fn a_drive_that_is_unplugged_ends_the_run_with_what_it_measured() {
    let run = must_have_failed_and_kept("gone");
    assert!(measured_ios(&run) > 100, "{run:#}");
}

#[test]
fn a_killed_program_leaves_a_readable_run() {
    Record::of("killed").must_exit_with(128 + 9);
    let run = Record::of("killed.json").document();
    assert_eq!(run["status"], "running", "the process died before it could say otherwise");
    assert_eq!(run["phases"].as_array().map(Vec::len), Some(1), "the purge was over: {run:#}");
    Record::of("killed.show").must_exit_with(0);
}
