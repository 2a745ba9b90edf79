//! Does the power test report the power of the drive, and does energy add up?

use std::path::Path;

use device::host::clock::MonotonicClock;
use device::meter::MeterSpec;
use io::engine::sim::SimTarget;
use result::rows::SecondRow;
use result::schema::RunStatus;
use result::store::RunDir;
use run::{Outcome, Request, RunError};
use target::Target;
use target::null::NullTarget;
use target::scripted::{Reply, ScriptedTarget};

use crate::common::{metric, request, run_quietly, simulated};

const SHORT: &str = "settle=2s rest=5s time=10s random_span=256MiB";

fn run_power<T: Target>(
    target: &mut T,
    library: &Path,
    settings: &str,
) -> Result<Outcome, RunError> {
    run_metered(target, library, settings, None)
}

fn run_metered<T: Target>(
    target: &mut T,
    library: &Path,
    settings: &str,
    meter: Option<MeterSpec>,
) -> Result<Outcome, RunError> {
    let request =
        request(library, crate::common::test("power"), &crate::common::settings(settings));
    run_quietly(target, &Request { meter, ..request })
}

fn drive(name: &str) -> SimTarget {
    simulated(name, &[("scale", "1/128")])
}

#[test]
fn the_states_of_a_simulated_drive_draw_what_its_model_says() {
    let library = tempfile::tempdir().expect("a directory");
    let mut drive = drive("samsung-840-pro-256gb");
    let outcome = run_power(&mut drive, library.path(), SHORT).expect("it runs");
    assert_eq!(outcome.run.status, RunStatus::Complete, "{:?}", outcome.run.warnings);
    assert_eq!(metric(&outcome, "power.slumber.power_w_mean"), 0.042);
    assert_eq!(metric(&outcome, "power.idle.power_w_mean"), 0.3);
    let sequential = metric(&outcome, "power.sequential_write.power_w_mean");
    let random = metric(&outcome, "power.random_write.power_w_mean");
    assert!(sequential > 1.0 && random > 1.0, "{sequential} W, {random} W");
    assert!(metric(&outcome, "power.random_write.power_w_max") >= random);
    let per_gb = metric(&outcome, "power.sequential_write.energy_j_per_gb");
    let rate = metric(&outcome, "power.sequential_write.mb_per_s");
    assert!((per_gb * rate / 1e3 - sequential).abs() < 1e-9 * sequential);
    let text: String = outcome.run.findings.iter().map(|f| f.text.clone() + "\n").collect();
    assert!(text.contains("draws 42 mW in slumber, below the 500 mW"), "{text}");
    assert!(text.contains("300 mW idle, kept awake.") && text.contains("J for each GB"), "{text}");
    let dir = RunDir::open(&outcome.dir).expect("a run");
    let report = result::report::build("report", &[dir]).expect("a page");
    let states: Vec<_> =
        report.runs[0].power.iter().map(|s| (s.phase.as_str(), s.power_w.len())).collect();
    let want = [("slumber", 5), ("idle", 5), ("sequential_write", 10), ("random_write", 10)];
    assert_eq!(states, want);
    assert!(report.runs[0].power[0].power_w.iter().all(|power_w| *power_w == Some(0.042)));
}

#[test]
fn the_series_adds_up_to_time_in_states_and_energy_of_operations() {
    let library = tempfile::tempdir().expect("a directory");
    let mut drive = drive("sandisk-extreme-ii-480gb");
    // The fill ends by itself, in the midst of a second.
    let outcome = run_power(&mut drive, library.path(), SHORT).expect("it runs");
    let dir = RunDir::open(&outcome.dir).expect("a run");
    let mut series_nj = 0;
    for phase in 0..outcome.run.phases.len() {
        let rows = dir.rows(phase).expect("rows");
        let energy_nj = |row: &SecondRow| row.telemetry.expect("it is told").energy_nj;
        series_nj += rows.seconds.iter().map(energy_nj).sum::<u64>();
    }
    let model = drive.config().options.power.expect("a drive with [power]");
    let times = drive.drive().power_times().expect("a drive with [power]");
    let operations = drive.drive().operations();
    let slumber_mw = model.slumber.expect("it has slumber").power_mw;
    let states_nj = (times.active_ns * model.active_mw
        + times.idle_ns * model.idle_mw
        + times.slumber_ns * slumber_mw)
        / 1_000;
    let operations_nj = operations.reads * model.read_nj
        + operations.programs * model.program_nj
        + operations.erases * model.erase_nj
        + operations.transfers * model.transfer_nj;
    let (series, sum) = (series_nj as f64, (states_nj + operations_nj) as f64);
    // Commands outstanding at the end of a timed phase end after it, in no row.
    assert!(
        (series / sum - 1.0).abs() < 1e-4,
        "series {series} nJ, states and operations {sum} nJ"
    );
    assert!(operations_nj > states_nj / 4 && times.slumber_ns > 5_000_000_000);
}

#[test]
fn a_drive_that_cannot_be_switched_has_no_slumber_and_says_so() {
    let library = tempfile::tempdir().expect("a directory");
    let mut drive = drive("ocz-vertex-3-240gb");
    let outcome = run_power(&mut drive, library.path(), SHORT).expect("it runs");
    assert_eq!(outcome.run.metrics["power.slumber.power_w_mean"], None);
    assert_eq!(metric(&outcome, "power.idle.power_w_mean"), 0.5);
    let notes = outcome.run.warnings.join("\n");
    assert!(notes.contains("slumber is not measured"), "{notes}");
    let text: String = outcome.run.findings.iter().map(|f| f.text.clone() + "\n").collect();
    assert!(text.contains("draws 500 mW idle, as the drive was found.\n"), "{text}");
    assert!(!text.contains("awake"), "{text}");
    let table = &outcome.run.tables[0];
    assert_eq!(table.rows[1].label, "idle, as the drive was found");
    for label in ["QD", "span", "data", "idle time", "purge", "write cache", "simulated", "meter"] {
        assert!(
            table.conditions.contains_key(label),
            "{label} is not told: {:?}",
            table.conditions
        );
    }
}

#[test]
fn where_nobody_tells_the_power_the_test_is_refused_before_anything_is_touched() {
    let library = tempfile::tempdir().expect("a directory");
    let mut target = ScriptedTarget::new(64 << 20, Reply::after_ns(1_000_000));
    let error = run_power(&mut target, library.path(), "").expect_err("nothing to read");
    assert!(matches!(error, RunError::Target(target::TargetError::Unsupported(_))), "{error}");
    assert_eq!(target.events().len(), 0);
}

/// Lines of two minutes: 3 W for 33 of every 100 ms, 1 W for the rest, every millisecond, with `between` after
/// the heading.
fn wave(between: &str) -> String {
    let lines = (0..120_000).map(|ms| format!("{ms},{}\n", if ms % 100 < 33 { 3 } else { 1 }));
    format!("time_ms,power_w\n{between}") + &lines.collect::<String>()
}

fn stream(path: &Path) -> MeterSpec {
    format!("stream:{}", path.display()).parse().expect("a meter")
}

#[test]
fn a_meter_of_known_waveform_gives_its_mean_and_its_peak() {
    let library = tempfile::tempdir().expect("a directory");
    let lines = library.path().join("watts.csv");
    std::fs::write(&lines, wave("5,what?\n")).expect("a file");
    let mut target = NullTarget::new(1 << 30, MonotonicClock::start());
    let (runs, settings) =
        (library.path().join("runs"), "settle=1s rest=2s time=1s random_span=1MiB");
    let outcome = run_metered(&mut target, &runs, settings, Some(stream(&lines))).expect("it runs");
    for state in ["idle", "sequential_write", "random_write"] {
        let mean = metric(&outcome, &format!("power.{state}.power_w_mean"));
        assert!((mean / 1.66 - 1.0).abs() < 0.005, "{state}: {mean} W");
        assert_eq!(metric(&outcome, &format!("power.{state}.power_w_max")), 3.0, "{state}");
    }
    let rows = RunDir::open(&outcome.dir).expect("a run").phase_rows("idle").expect("rows");
    assert!(rows.seconds.iter().all(|row| row.power_uw_mean.is_some()), "{:?}", rows.seconds);
    let warnings = outcome.run.warnings.join("\n");
    assert!(warnings.contains("no reading 1 times; the first: line 2 (`5,what?`)"), "{warnings}");
    assert_eq!(outcome.run.environment["meter"], "stream, times by: meter");
}

#[test]
fn a_meter_that_cannot_be_used_stops_the_run_before_it_begins() {
    let library = tempfile::tempdir().expect("a directory");
    let (runs, lines) = (library.path().join("runs"), library.path().join("watts"));
    let meter = Some(stream(&lines));
    let error = run_metered(
        &mut NullTarget::new(1 << 30, MonotonicClock::start()),
        &runs,
        "",
        meter.clone(),
    );
    assert!(error.expect_err("no such file").to_string().contains("cannot open"));
    let error = run_metered(&mut drive("samsung-840-pro-256gb"), &runs, "", meter);
    assert!(error.expect_err("virtual time").to_string().contains("leave --meter away"));
    assert!(!runs.exists() || std::fs::read_dir(&runs).expect("a directory").count() == 0);
}
