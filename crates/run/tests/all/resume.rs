//! Does a continued run end like an uninterrupted one, and does it continue only where it can?

use std::path::Path;
use std::sync::atomic::Ordering;

use io::engine::sim::SimTarget;
use result::schema::RunStatus;
use result::store::{RunDir, RunWriter};
use run::{Event, Outcome, Request, RunError, Test};
use target::{Target, TargetError};

use crate::common::run_with;

const DRIVE: &str = "sandisk-extreme-ii-480gb";
const CORNERS: &[(&str, &str)] =
    &[("time", "1s"), ("sequential_time", "2s"), ("random_span", "64MiB")];
const CONSISTENCY: &[(&str, &str)] = &[("duration", "4s"), ("steady_from", "2s")];

fn drive(scale: &str) -> SimTarget {
    let keys = [("scale".to_owned(), scale.to_owned())];
    SimTarget::open(&format!("sim:{DRIVE}?scale={scale}"), DRIVE, &keys).unwrap()
}

fn request(library: &Path, test: Test, settings: &[(&str, &str)]) -> Request {
    Request {
        seed: 7,
        command: "ssdlab run".to_owned(),
        ..crate::common::request(library, test, settings)
    }
}

/// Runs until the first second of the phase `until` has passed, or to the end.
fn run_until<T: Target>(
    target: &mut T,
    request: &Request,
    until: &str,
) -> Result<Outcome, RunError> {
    let mut phase = String::new();
    run_with(target, request, |event, stop| match event {
        Event::PhaseStarted { name, .. } => name.clone_into(&mut phase),
        Event::Second { .. } if phase == until => stop.store(true, Ordering::Relaxed),
        _ => (),
    })
}

fn run<T: Target>(target: &mut T, request: &Request) -> Result<Outcome, RunError> {
    run_until(target, request, "")
}

/// Interrupts a run in a phase; returns the rest of it, and the request that continues it.
fn interrupted(library: &Path, test: Test, settings: &[(&str, &str)], until: &str) -> Request {
    let first = request(library, test, settings);
    let cut = run_until(&mut drive("1/256"), &first, until).unwrap();
    assert_eq!(cut.run.status, RunStatus::Interrupted);
    assert_eq!(cut.run.phases.last().unwrap().name, until);
    Request { resume: Some(RunDir::open(&cut.dir).unwrap()), ..first }
}

fn must_equal(continued: &Outcome, whole: &Outcome) {
    assert_eq!(continued.run.status, RunStatus::Complete);
    assert_eq!(continued.run.metrics, whole.run.metrics);
    let names = |outcome: &Outcome| -> Vec<String> {
        outcome.run.phases.iter().map(|phase| phase.name.clone()).collect()
    };
    assert_eq!(names(continued), names(whole));
    let (dir, other) = (RunDir::open(&continued.dir).unwrap(), RunDir::open(&whole.dir).unwrap());
    assert_eq!(dir.contradictions().unwrap(), [] as [String; 0]);
    for index in 0..whole.run.phases.len() {
        let (rows, others) = (dir.rows(index).unwrap(), other.rows(index).unwrap());
        assert!(rows.seconds == others.seconds, "phase {index}");
        assert!(rows.latencies == others.latencies, "phase {index}");
    }
}

#[test]
fn a_run_cut_after_its_second_purge_keeps_the_first_half_and_ends_with_the_same_figures() {
    let library = tempfile::tempdir().unwrap();
    let whole =
        run(&mut drive("1/256"), &request(library.path(), crate::common::test("corners"), CORNERS))
            .unwrap();
    let request =
        interrupted(library.path(), crate::common::test("corners"), CORNERS, "sequential_write");
    let continued = run(&mut drive("1/256"), &request).unwrap();
    must_equal(&continued, &whole);
    let resumed = continued.run.resumed.as_ref().unwrap();
    assert_eq!(resumed.run_id, request.resume.as_ref().unwrap().run().run_id);
    // Each of the steps that write begins with a purge and a fill of its own.
    assert_eq!(resumed.phases_kept, 22);
    assert!(continued.run.warnings.iter().any(|warning| warning.contains(&resumed.run_id)));
    let starts: Vec<u64> = continued.run.phases.iter().map(|phase| phase.start_ns).collect();
    assert!(starts.is_sorted(), "one clock for all phases: {starts:?}");
}

#[test]
fn a_measurement_that_was_cut_in_the_middle_is_done_again_from_the_purge() {
    let library = tempfile::tempdir().unwrap();
    let first = request(library.path(), Test::CONSISTENCY, CONSISTENCY);
    let whole = run(&mut drive("1/256"), &first).unwrap();
    let request = interrupted(library.path(), Test::CONSISTENCY, CONSISTENCY, "load");
    let continued = run(&mut drive("1/256"), &request).unwrap();
    must_equal(&continued, &whole);
    assert_eq!(continued.run.resumed.map(|resumed| resumed.phases_kept), Some(0));
    let earlier = RunDir::open(request.resume.unwrap().path()).unwrap();
    assert_eq!(earlier.run().phases.len(), 3, "what the earlier run measured stays where it is");
}

#[test]
fn a_run_is_continued_only_as_it_began() {
    let library = tempfile::tempdir().unwrap();
    let request = interrupted(library.path(), Test::CONSISTENCY, CONSISTENCY, "load");
    let refused = |scale: &str, request: &Request| {
        let runs = std::fs::read_dir(library.path()).unwrap().count();
        let error = run(&mut drive(scale), request).unwrap_err();
        assert_eq!(std::fs::read_dir(library.path()).unwrap().count(), runs, "nothing was made");
        (matches!(&error, RunError::Target(TargetError::Refused { .. })), error.to_string())
    };
    let (unsafe_, message) = refused("1/128", &request);
    assert!(unsafe_ && message.contains("size in bytes was"), "{message}");
    let longer = Request { settings: vec![("duration".into(), "5s".into())], ..request.clone() };
    let (unsafe_, message) = refused("1/256", &longer);
    assert!(!unsafe_ && message.contains("configuration was"), "{message}");
    let (_, message) = refused("1/256", &Request { seed: 8, ..request });
    assert!(message.contains("seed was 7 and now is 8"), "{message}");
}

#[test]
fn a_run_of_another_version_or_one_that_still_goes_is_not_continued() {
    let library = tempfile::tempdir().unwrap();
    let request = interrupted(library.path(), Test::CONSISTENCY, CONSISTENCY, "load");
    let mut old = request.resume.as_ref().unwrap().run().clone();
    (old.run_id, old.tool_version) = ("old".to_owned(), "ssdlab 0.0.1".to_owned());
    let writer = RunWriter::create(library.path(), &old).unwrap();
    let of_old =
        |dir: &Path| Request { resume: Some(RunDir::open(dir).unwrap()), ..request.clone() };
    let message = run(&mut drive("1/256"), &of_old(writer.path())).unwrap_err().to_string();
    assert!(message.contains("version was ssdlab 0.0.1"), "{message}");
    (old.run_id, old.status) = ("going".to_owned(), RunStatus::Running);
    let writer = RunWriter::create(library.path(), &old).unwrap();
    let message = run(&mut drive("1/256"), &of_old(writer.path())).unwrap_err().to_string();
    assert!(message.contains("still being written"), "{message}");
}
