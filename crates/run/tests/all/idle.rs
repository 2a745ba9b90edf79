//! Idle time: the gain of a pause, and the time to wake up.

use std::path::Path;

use base::Nanos;
use io::engine::sim::SimTarget;
use run::Outcome;
use target::Target;

use crate::common::{metric, request, run_quietly, settings, simulated};

/// A drive of 2 GB at full size.
const DRIVE: [(&str, &str); 4] = [
    ("capacity_gb", "2"),
    ("nand.pages_per_block", "1"),
    ("nand.blocks_per_plane", "1092"),
    ("nand.erase_ns", "19531"),
];

fn drive(keys: &[(&str, &str)]) -> SimTarget {
    simulated("sandisk-extreme-ii-480gb", &[&DRIVE, keys].concat())
}

fn run(mut target: SimTarget) -> Outcome {
    let library = tempfile::tempdir().unwrap();
    let short = settings(
        "torture=20s again=5s pauses=5s,60s time=1s burst_bytes=64MiB wakes=30 rests=10ms,1s",
    );
    let request = request(library.path(), "idle".parse().unwrap(), &short);
    run_quietly(&mut target, &request).unwrap()
}

#[test]
fn a_pause_gives_back_what_the_drive_cleans_in_it() {
    let lazy = run(drive(&[]));
    let lazy_share = metric(&lazy, "idle.writes_60s.regained_share");
    assert!(lazy_share < 0.1, "{lazy_share}");
    let diligent = run(drive(&[
        ("idle_gc.after_ns", "100000000"),
        ("idle_gc.free_target", "100"),
        ("idle_gc.pages_per_s", "100000"),
        ("idle_gc.valid_percent_max", "95"),
    ]));
    let share = metric(&diligent, "idle.writes_60s.regained_share");
    assert!(share > 0.5, "{share}");
    let sentence = diligent.run.findings.iter().find(|it| it.text.contains("in a pause of 60s"));
    assert!(sentence.is_some(), "{:?}", diligent.run.findings);
}

#[test]
fn rests_that_outlast_a_step_are_refused_and_told_in_the_plan() {
    let target = drive(&[]);
    let plan = |words: &str| {
        let request = request(Path::new("library"), "idle".parse().unwrap(), &settings(words));
        run::session::plan(&request, &target.identity(), &target.limits())
    };
    let refused = plan("wakes=1000 rests=10ms,5d").unwrap_err().to_string();
    assert!(refused.contains("wakes=1000") && refused.contains("432000s"), "{refused}");
    let plan = plan("wakes=100 rests=15s").unwrap();
    let mut phases = plan.procedure.steps.iter().flat_map(run::suite::Step::phases);
    let wake = phases.find(|phase| phase.name == "wake_15s").unwrap();
    let run::suite::Action::Jobs(jobs) = &wake.action else { panic!("no jobs: {wake:?}") };
    let length = run::jobs::length(jobs);
    assert_eq!(length, run::event::Length::Time(Nanos(1_515 * Nanos::SECOND.0)));
}

#[test]
fn a_read_after_a_rest_takes_the_exit_of_the_state_that_the_drive_reached() {
    let outcome = run(drive(&[
        ("power.slumber.after_ns", "100000000"),
        ("power.slumber.entry_ns", "1000000"),
        ("power.slumber.exit_ns", "10000000"),
    ]));
    let short = metric(&outcome, "idle.wake_10ms.wake_ns");
    assert!(short < 1e5, "a rest too short for the state: {short}");
    let long = metric(&outcome, "idle.wake_1s.wake_ns");
    assert!((long - 10e6).abs() < 0.2e6, "{long}");
}

#[test]
fn a_pause_of_no_length_is_refused() {
    let library = tempfile::tempdir().unwrap();
    let own = settings("pauses=5s,0s");
    let request = request(library.path(), "idle".parse().unwrap(), &own);
    let error = run_quietly(&mut drive(&[]), &request).unwrap_err().to_string();
    assert!(error.contains("`--set pauses=5s,0s` has a pause of 0"), "{error}");
}
