//! Does data that grows old become slow to read as its model says, and is a target without a past refused?

use device::host::clock::MonotonicClock;
use io::engine::sim::SimTarget;
use result::schema::RunStatus;
use run::{Outcome, RunError};
use target::null::NullTarget;
use target::{Target, TargetError};
use tempfile::TempDir;

use crate::common::{metric, request, run_quietly, settings, simulated, test};

/// A simulated drive of 1/128 of the size that does not read ahead, with more keys.
fn small_drive(keys: &[(&str, &str)]) -> SimTarget {
    simulated("intel-ssd-730-480gb", &[&[("scale", "1/128")], keys].concat())
}

/// Runs the test; settings are `key=value` with spaces between.
fn retention<T: Target>(
    target: &mut T,
    library: &TempDir,
    text: &str,
) -> Result<Outcome, RunError> {
    run_quietly(target, &request(library.path(), test("retention"), &settings(text)))
}

/// Errors of new and of old data: a sense more for every ten days, nine at most.
const OLD_DATA_IS_SLOW: [(&str, &str); 7] = [
    ("nand.retry.initial_cycles", "0"),
    ("nand.retry.fresh_ppb", "1"),
    ("nand.retry.per_kilocycle_ppb", "500"),
    ("nand.retry.per_day_ppb", "100"),
    ("nand.retry.per_day_per_kilocycle_ppb", "0"),
    ("nand.retry.corrected_ppb", "1000"),
    ("nand.retry.retries_max", "8"),
];

#[test]
fn old_data_is_read_with_a_sense_more_for_every_step_of_its_age() {
    let library = tempfile::tempdir().unwrap();
    let settings = "days=5,15,400 span=16MiB time=1s";
    let mut target = small_drive(&OLD_DATA_IS_SLOW);
    let read_ns = target.config().nand.read_ns as f64;
    let outcome = retention(&mut target, &library, settings).unwrap();
    assert_eq!(outcome.run.status, RunStatus::Complete, "{:?}", outcome.run.warnings);
    let latency =
        |days: u32| metric(&outcome, &format!("retention.random_read_{days}d.latency_ns_mean"));
    let more_senses = |days| (latency(days) - latency(0)) / read_ns;
    for (days, want) in [(5, 0.0), (15, 1.0), (400, 8.0)] {
        let measured = more_senses(days);
        assert!((measured - want).abs() < 0.05, "{days} days: {measured} senses more");
    }
    let rate = |days: u32| metric(&outcome, &format!("retention.sequential_read_{days}d.mb_per_s"));
    assert!(rate(400) < 0.5 * rate(0), "{} of {}", rate(400), rate(0));
    let labels: Vec<_> = outcome.run.tables[0].rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["new", "5 days", "15 days", "400 days"]);
    let names: Vec<_> = outcome.run.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert!(names.contains(&"age_400d") && !names.contains(&"wear"), "{names:?}");
    assert!(outcome.run.findings[0].text.contains("reads data of 400 days sequentially at"));
}

#[test]
fn a_worn_drive_reads_all_data_with_its_errors() {
    let library = tempfile::tempdir().unwrap();
    let settings = "days=5 cycles=4000 span=16MiB time=1s";
    let mut target = small_drive(&OLD_DATA_IS_SLOW);
    let read_ns = target.config().nand.read_ns as f64;
    let worn = retention(&mut target, &library, settings).unwrap();
    let mut target = small_drive(&OLD_DATA_IS_SLOW);
    let new = retention(&mut target, &library, "days=5 span=16MiB time=1s");
    let of = |outcome: &Outcome| metric(outcome, "retention.random_read_0d.latency_ns_mean");
    let more_senses = (of(&worn) - of(&new.unwrap())) / read_ns;
    assert!((more_senses - 2.0).abs() < 0.02, "2,001 errors: {more_senses} senses more");
}

#[test]
fn a_target_without_a_past_is_refused_before_it_is_touched() {
    let library = tempfile::tempdir().unwrap();
    let refusal = |result: Result<Outcome, RunError>| match result {
        Err(RunError::Target(TargetError::Unsupported(words))) => words,
        other => panic!("{other:?}"),
    };
    let mut real = NullTarget::new(64 << 20, MonotonicClock::start());
    let words = refusal(retention(&mut real, &library, ""));
    assert!(words.contains("lives in real time") && words.contains("30 days"), "{words}");
    let words = refusal(retention(&mut small_drive(&[]), &library, ""));
    assert!(words.contains("its model lacks [nand.retry]"), "{words}");
    let mut aging = small_drive(&OLD_DATA_IS_SLOW);
    let words = refusal(retention(&mut aging, &library, "reads=5"));
    assert!(words.contains("reads would have no effect"), "{words}");
    for days in ["0", "30,30", "30,20", "36501", "x"] {
        let settings = format!("days={days}");
        let slip = retention(&mut aging, &library, &settings).unwrap_err();
        assert!(matches!(&slip, RunError::Usage(words) if words.contains("days=")), "{slip}");
    }
}
