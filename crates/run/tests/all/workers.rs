//! Do several threads together equal one, and is their record consistent?

use std::sync::atomic::{AtomicBool, Ordering};

use base::{Nanos, OpKind};
use device::host::affinity;
use device::host::clock::MonotonicClock;
use io::engine::sim::SimTarget;
use io::{OpenOptions, open_file};
use load::{Generator, Order, Pacing, Workload};
use run::drive::End;
use run::recorder::Recorder;
use run::workers::drive_workers;
use run::{Event, Placement, Request, Test, Workers};
use target::null::NullTarget;
use target::scripted::{Reply, ScriptedTarget};
use target::{Target, TargetError};

use crate::common::{request, run_with};

const SIZE_BYTES: u64 = 4 << 20;

fn workload(queue_depth: u32) -> Workload {
    Workload::new(OpKind::Write, Order::Uniform, 4096, queue_depth, SIZE_BYTES)
}

/// Drives `target` with `workers` threads and checks all sums that do not depend on their number.
fn run(
    target: &mut impl Target,
    workload: &Workload,
    workers: u32,
    length: Option<Nanos>,
) -> Recorder {
    let generators = Generator::shares(workload, 1, workers);
    assert_eq!(generators.len(), workers as usize);
    let mut recorder = Recorder::new(target.now(), length);
    let (never, mut told) = (AtomicBool::new(false), Vec::new());
    let end = drive_workers(target, generators, true, &mut recorder, &never, |(row, bytes)| {
        told.push((row.clone(), *bytes));
    });
    assert_eq!(end.unwrap(), End::Complete);
    let copy = recorder.clone();
    let (rows, _) = recorder.finish(target.now());
    let by_second = |second| rows.histogram(OpKind::Write, second..second + 1).count();
    for row in &rows.seconds {
        let is_last = row.second as usize + 1 == rows.seconds.len();
        let late = if is_last { copy.ios_after_end } else { 0 };
        assert_eq!(row.ios[OpKind::Write.index()] + late, by_second(row.second), "{row:?}");
        assert_eq!(row.bytes[OpKind::Write.index()], row.ios[OpKind::Write.index()] * 4096);
    }
    assert_eq!(rows.seconds.iter().map(|row| row.ios.iter().sum::<u64>()).sum::<u64>(), copy.ios);
    assert!(rows.seconds.iter().zip(0..).all(|(row, second)| row.second == second));
    for ((told, _), row) in told.iter().zip(&rows.seconds) {
        assert_eq!((told.second, told.ios), (row.second, row.ios), "what was told while it ran");
    }
    copy
}

#[test]
fn the_seconds_of_all_threads_add_up_to_the_histogram() {
    for workers in [1, 2, 3] {
        let mut target = NullTarget::new(SIZE_BYTES, MonotonicClock::start());
        let recorder = run(&mut target, &workload(7), workers, Some(Nanos(2 * Nanos::SECOND.0)));
        assert!(recorder.ios > 0);
    }
}

#[test]
fn a_limit_is_reached_exactly_by_all_threads_together() {
    let limited = Workload { limit_bytes: Some(1_001 * 4096), ..workload(8) };
    let recorder =
        run(&mut NullTarget::new(SIZE_BYTES, MonotonicClock::start()), &limited, 4, None);
    assert_eq!((recorder.ios, recorder.bytes), (1_001, 1_001 * 4096));
}

#[test]
fn threads_share_a_rate() {
    let paced = Workload { pacing: Pacing::Fixed { rate_iops: 1_001 }, ..workload(8) };
    let recorder = run(
        &mut NullTarget::new(SIZE_BYTES, MonotonicClock::start()),
        &paced,
        3,
        Some(Nanos::SECOND),
    );
    let Recorder { ios, ios_after_end, ios_not_issued, .. } = recorder;
    assert_eq!(ios + ios_after_end + ios_not_issued, 1_001);
}

#[test]
fn threads_write_to_one_file_through_rings_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    let options = OpenOptions { queue_depth: 8, write: true, ..OpenOptions::default() };
    let mut target = open_file(&path, Some(SIZE_BYTES), false, &options).unwrap();
    let limited = Workload { limit_bytes: Some(2_000 * 4096), ..workload(8) };
    let recorder = run(&mut target, &limited, 4, None);
    assert_eq!((recorder.ios, recorder.errors), (2_000, 0));
    assert!(path.exists(), "the file is the target's, not that of a thread");
    target.flush().unwrap();
    drop(target);
    assert!(!path.exists());
}

#[test]
fn the_fence_holds_for_every_thread() {
    let dir = tempfile::tempdir().unwrap();
    let options = OpenOptions { queue_depth: 8, write: true, ..OpenOptions::default() };
    let mut target =
        open_file(&dir.path().join("target"), Some(SIZE_BYTES), false, &options).unwrap();
    target.confine(SIZE_BYTES / 2);
    let mut recorder = Recorder::new(target.now(), Some(Nanos::SECOND));
    let generators = Generator::shares(&workload(8), 1, 2);
    let never = AtomicBool::new(false);
    let end = drive_workers(&mut target, generators, false, &mut recorder, &never, |_| ()).unwrap();
    // One thread's failure ends the other one, too.
    assert_eq!(end, End::Failed);
    let (op, errno) = recorder.first_error.unwrap();
    assert!(op.offset >= SIZE_BYTES / 2 && errno == 22, "{op:?} {errno}");
}

#[test]
fn the_stop_button_stops_every_thread() {
    let mut target = NullTarget::new(SIZE_BYTES, MonotonicClock::start());
    let mut recorder = Recorder::new(target.now(), None);
    let generators = Generator::shares(&workload(8), 1, 2);
    let button = AtomicBool::new(false);
    let end = drive_workers(&mut target, generators, false, &mut recorder, &button, |_| {
        button.store(true, Ordering::Relaxed);
    });
    assert_eq!(end.unwrap(), End::Interrupted);
    assert!(recorder.ios > 0);
}

#[test]
fn a_simulated_drive_is_driven_by_one_thread() {
    let keys = [("scale".to_owned(), "1/64".to_owned())];
    let mut target = SimTarget::open("sim:", "samsung-840-pro-256gb", &keys).unwrap();
    let error = target.workers(&[1]).expect_err("a refusal");
    assert!(
        matches!(error, TargetError::Unsupported(_)) && error.to_string().contains("--workers")
    );
}

/// The last processor that this thread may use, and its processors during a run on a drive whose
/// interrupts arrive there; with the entry of the result.
fn seen_near_the_interrupts(
    placement: Placement,
    depth: &str,
) -> (usize, Vec<usize>, Option<String>) {
    let last = *affinity::allowed_cpus().last().expect("a processor");
    let mut target = ScriptedTarget::new(SIZE_BYTES, Reply::after_ns(100_000));
    target.interrupt_processor = Some(last);
    let library = tempfile::tempdir().unwrap();
    let settings =
        [("duration", "2s"), ("steady_from", "0s"), ("fill", "false"), ("queue_depth", depth)];
    let request = Request {
        workers: Workers { placement, ..Workers::default() },
        ..request(library.path(), Test::CONSISTENCY, &settings)
    };
    let mut seen = Vec::new();
    let outcome = run_with(&mut target, &request, |event, _| {
        if matches!(event, Event::Second { .. }) {
            seen = affinity::allowed_cpus();
        }
    });
    let said = outcome.unwrap().run.environment.remove("thread_processor");
    (last, seen, said)
}

#[test]
fn a_single_thread_stays_where_the_interrupts_of_the_drive_arrive() {
    let before = affinity::allowed_cpus();
    let (last, seen, said) = seen_near_the_interrupts(Placement::Near, "1");
    assert_eq!(seen, [last]);
    let place = format!("{last} for single commands, where the interrupts of the drive arrive");
    assert_eq!(said, Some(place));
    assert_eq!(affinity::allowed_cpus(), before, "and leaves when the run is over");
    for (placement, depth) in [(Placement::Free, "1"), (Placement::Near, "2")] {
        let (_, seen, said) = seen_near_the_interrupts(placement, depth);
        assert_eq!((seen, said), (before.clone(), None), "{placement:?} at {depth}");
    }
}

#[test]
fn pinned_threads_leave_the_others_alone() {
    let before = affinity::allowed_cpus();
    run(
        &mut NullTarget::new(SIZE_BYTES, MonotonicClock::start()),
        &workload(2),
        2,
        Some(Nanos::SECOND),
    );
    assert_eq!(affinity::allowed_cpus(), before);
}
