//! Does a stall that outlasts its step count, for every issuer and every end of the step?

use std::fs::File;
use std::sync::atomic::AtomicBool;

use base::{Nanos, OpKind, Status};
use load::trace::store::TraceWriter;
use load::trace::{Record, TraceInfo};
use load::{Generator, Order, Pacing, Workload};
use result::rows::PhaseRows;
use result::schema::{MarkKind, RunStatus};
use run::drive::{End, drive};
use run::recorder::Recorder;
use run::{Event, Outcome, Test};
use target::Target;
use target::faulty::{Fault, FaultyTarget};
use target::scripted::{Reply, ScriptedTarget};

use crate::common::{metric, request, run_quietly, run_with, settings};

const SECOND_NS: u64 = Nanos::SECOND.0;
const MS_NS: u64 = 1_000_000;
const SIZE_BYTES: u64 = 1 << 20;
const STALL: Reply = Reply::after_ns(7 * SECOND_NS);

/// Answers after 1 ms, but its command number `stalled` after 7 s.
fn stalls_at(stalled: usize, stall: Reply) -> ScriptedTarget {
    let quick = Reply::after_ns(MS_NS);
    let before = std::iter::repeat_n(quick, stalled);
    ScriptedTarget::new(SIZE_BYTES, quick).replies(before.chain([stall]))
}

fn writes(queue_depth: u32, pacing: Pacing) -> Generator {
    let workload = Workload::new(OpKind::Write, Order::Uniform, 4096, queue_depth, SIZE_BYTES);
    Generator::new(Workload { pacing, ..workload }, 1)
}

/// Drives for two seconds.
fn driven(target: &mut impl Target, generator: &mut Generator, recorder: &mut Recorder) -> End {
    let (deadline, never) = (recorder.deadline(), AtomicBool::new(false));
    drive(target, generator, deadline, recorder, &never, |_| ()).unwrap()
}

fn two_seconds() -> Recorder {
    Recorder::new(Nanos(0), Some(Nanos(2 * SECOND_NS)))
}

/// Checks that the counts are those of commands that ended in time, and the latencies those of all;
/// returns the longest latency.
fn longest_ns(recorder: Recorder, now: Nanos) -> u64 {
    let all = recorder.ios + recorder.ios_after_end + recorder.ios_unanswered;
    let (ios, bytes) = (recorder.ios, recorder.bytes);
    let (rows, length) = recorder.finish(now);
    assert_eq!((length.0, rows.seconds.len()), (2 * SECOND_NS, 2));
    assert_eq!(rows.seconds.iter().flat_map(|row| row.ios).sum::<u64>(), ios);
    assert_eq!(rows.seconds.iter().flat_map(|row| row.bytes).sum::<u64>(), bytes);
    assert_eq!(count(&rows), all);
    rows.seconds.iter().filter_map(|row| row.latency_ns_max).max().unwrap()
}

fn count(rows: &PhaseRows) -> u64 {
    rows.latencies.iter().map(|bin| bin.count).sum()
}

#[test]
fn a_stall_at_the_end_of_a_closed_loop_counts_in_full() {
    let mut target = stalls_at(1_500, STALL);
    let mut recorder = two_seconds();
    driven(&mut target, &mut writes(1, Pacing::ClosedLoop), &mut recorder);
    assert_eq!((recorder.ios, recorder.ios_after_end), (1_500, 1));
    assert_eq!(recorder.longest_is_late(), Some(Nanos(7 * SECOND_NS)));
    assert_eq!(longest_ns(recorder, target.now()), 7 * SECOND_NS);
}

#[test]
fn in_an_open_loop_it_counts_from_when_the_command_was_due() {
    // One at a time at 100 a second: the command of 1.51 s is due while that of 1.5 s stalls until 8.5 s.
    let mut target = stalls_at(150, STALL);
    let mut recorder = two_seconds();
    driven(&mut target, &mut writes(2, Pacing::Fixed { rate_iops: 100 }), &mut recorder);
    assert_eq!(longest_ns(recorder, target.now()), 7 * SECOND_NS);
    // Both places are taken from 1.51 s to 8.5 s, when one more of the 48 commands that were due finds room.
    let mut target = stalls_at(150, STALL).replies([STALL]);
    let mut recorder = two_seconds();
    driven(&mut target, &mut writes(2, Pacing::Fixed { rate_iops: 100 }), &mut recorder);
    assert_eq!((recorder.ios_after_end, recorder.ios_not_issued), (3, 47));
    // A command that waited for room, and then for its answer, counts from when it was due.
    let slow = Reply::after_ns(SECOND_NS);
    let mut target = stalls_at(100, slow).replies([STALL]);
    let mut recorder = two_seconds();
    driven(&mut target, &mut writes(1, Pacing::Fixed { rate_iops: 100 }), &mut recorder);
    assert_eq!(longest_ns(recorder, target.now()), 8 * SECOND_NS - 10 * MS_NS);
}

#[test]
fn it_counts_whichever_thread_met_it() {
    let mut whole = two_seconds();
    let mut parts = Vec::new();
    for mut target in [stalls_at(9_999, STALL), stalls_at(1_500, STALL)] {
        let mut part = whole.another();
        driven(&mut target, &mut writes(1, Pacing::ClosedLoop), &mut part);
        parts.push(part);
    }
    whole.join(parts, Nanos(9 * SECOND_NS));
    assert_eq!((whole.ios, whole.ios_after_end), (3_499, 2));
    assert_eq!(whole.longest_is_late(), Some(Nanos(7 * SECOND_NS)));
    assert_eq!(longest_ns(whole, Nanos(9 * SECOND_NS)), 7 * SECOND_NS);
}

#[test]
fn a_command_that_fails_after_the_step_fails_the_step() {
    let failure = Reply { status: Status::Failed { errno: 5 }, ..STALL };
    let mut target = stalls_at(1_500, failure);
    let mut recorder = two_seconds();
    // The other place is busy with others until the time is over.
    let end = driven(&mut target, &mut writes(2, Pacing::ClosedLoop), &mut recorder);
    assert_eq!(end, End::Failed);
    assert_eq!((recorder.errors, recorder.ios_unanswered, recorder.ios_after_end), (1, 1, 1));
    assert_eq!(recorder.first_error.map(|(_, errno)| errno), Some(5));
    assert_eq!(longest_ns(recorder, target.now()), 7 * SECOND_NS);
}

#[test]
fn what_a_lost_target_never_answered_counts_with_its_wait() {
    let inner = stalls_at(1_500, STALL);
    let mut target = FaultyTarget::new(inner, [(1_501, Fault::Lose)]);
    let mut recorder = two_seconds();
    let (deadline, never) = (recorder.deadline(), AtomicBool::new(false));
    let mut generator = writes(2, Pacing::ClosedLoop);
    drive(&mut target, &mut generator, deadline, &mut recorder, &never, |_| ()).unwrap_err();
    assert!(recorder.ios_unanswered > 0);
    let all = recorder.ios + recorder.ios_unanswered;
    assert_eq!(count(&recorder.finish(target.now()).0), all);
}

/// The latency test with steps of two seconds on a target of 1 MiB, whose fill takes eight commands.
fn latency_run(stall: Reply, stalled: usize) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let settings = settings("time=2s random_span=1MiB");
    let request = request(dir.path(), crate::common::test("latency"), &settings);
    run_quietly(&mut stalls_at(8 + stalled, stall), &request).unwrap()
}

#[test]
fn the_step_of_a_test_shows_the_whole_stall_and_warns() {
    let outcome = latency_run(STALL, 1_500);
    assert_eq!(outcome.run.status, RunStatus::Complete);
    assert_eq!(metric(&outcome, "latency.random_read.latency_ns_max"), 7e9);
    assert_eq!(metric(&outcome, "latency.random_read.iops"), 750.0);
    let mean = metric(&outcome, "latency.random_read.latency_ns_mean");
    assert!((mean / ((1_500.0 * 1e6 + 7e9) / 1_501.0) - 1.0).abs() < 0.01, "{mean}");
    let longest = "latency.random_read.latency_ns_max";
    let late = outcome.run.marks.iter().filter(|mark| mark.kind == MarkKind::LateEnd);
    assert!(late.map(|mark| mark.metric.as_str()).eq([longest]), "{:#?}", outcome.run.marks);
    let warnings = outcome.run.warnings.join("\n");
    let told = "phase `random_read`: the longest latency, 7 s, is that of a command that was outstanding at its \
                end; what ended after the phase (commands: 1) counts into its latencies and not into its rates";
    assert!(warnings.contains(told), "{warnings}");
    assert!(!warnings.contains("random_write"), "{warnings}");
    let text = &outcome.run.findings[0].text;
    assert!(text.contains("in 7 s at worst; too few commands (1,500) for 99.99%"), "{text}");
}

#[test]
fn a_percentile_of_too_few_commands_is_absent_and_says_why() {
    let run = latency_run(Reply::after_ns(1), 0).run;
    for (end, is_known) in [("p50", true), ("p99", true), ("p999", false), ("p9999", false)] {
        let name = format!("latency.random_write.latency_ns_{end}");
        assert_eq!(run.metrics[&name].is_some(), is_known, "{name}");
        let mark = run.marks.iter().find(|mark| mark.metric == name);
        assert_eq!(mark.is_none(), is_known, "{name}");
        assert!(mark.is_none_or(|mark| mark.text == "too few commands (2,000)"), "{mark:?}");
    }
}

#[test]
fn a_late_failure_ends_the_run_as_any_other() {
    let failure = Reply { status: Status::Failed { errno: 5 }, ..STALL };
    let outcome = latency_run(failure, 1_500);
    assert_eq!(outcome.run.status, RunStatus::Failed);
    let step = outcome.run.phases.last().unwrap();
    assert_eq!((step.name.as_str(), step.complete, step.errors), ("random_read", false, 1));
    assert!(outcome.failure.is_some());
    let warnings = outcome.run.warnings.join("\n");
    assert!(warnings.contains("the longest latency is at least 7 s"), "{warnings}");
}

#[test]
fn a_rate_that_is_not_kept_marks_every_latency_as_at_least() {
    let dir = tempfile::tempdir().unwrap();
    let settings = settings("duration=20s steady_from=5s rate=1000 queue_depth=1 fill=false");
    let request = request(dir.path(), Test::CONSISTENCY, &settings);
    let mut target = ScriptedTarget::new(SIZE_BYTES, Reply::after_ns(2 * MS_NS));
    let run = run_quietly(&mut target, &request).unwrap().run;
    let load = run.phases.last().unwrap();
    assert!(load.ios_not_issued > 9_000, "{load:?}");
    let mut cut = run.marks.iter().filter(|mark| mark.kind == MarkKind::AtLeast);
    assert!(
        cut.any(|mark| mark.metric == "latency_ns_max"
            && mark.text.contains("without room in the queue"))
    );
    let known = |name: &&String| run.metrics[*name].is_some() && name.starts_with("latency_");
    let marked = |name: &String| {
        run.marks.iter().any(|mark| mark.kind == MarkKind::AtLeast && mark.metric == *name)
    };
    assert!(run.metrics.keys().filter(known).all(marked), "{:#?}", run.marks);
}

fn replayed(mut target: impl Target, stop_after_s: u32) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.trace.parquet");
    let mut writer = TraceWriter::new(File::create(&path).unwrap(), "x").unwrap();
    for at in 0..4 {
        let record = Record::new(at * MS_NS, OpKind::Write, at * 4096, 4096);
        writer.push(&Record { queue_depth: 1, ..record }).unwrap();
    }
    writer.finish(&TraceInfo::default()).unwrap();
    let path = path.to_string_lossy().into_owned();
    let settings = [("trace", path.as_str()), ("purge", "false"), ("fill", "false")];
    let request = request(dir.path(), Test::REPLAY, &settings);
    run_with(&mut target, &request, |event, stop| {
        if matches!(event, Event::Second { second, .. } if *second >= stop_after_s) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    })
    .unwrap()
}

#[test]
fn a_replay_shows_the_stall_of_its_last_command_however_it_ends() {
    let complete = replayed(stalls_at(3, STALL), u32::MAX);
    assert_eq!(complete.run.status, RunStatus::Complete);
    assert_eq!(metric(&complete, "latency_ns_max"), 7e9);
    let interrupted = replayed(stalls_at(2, STALL), 0);
    assert_eq!(interrupted.run.status, RunStatus::Interrupted);
    assert_eq!(metric(&interrupted, "latency_ns_max"), 7e9);
    let failure = Reply { status: Status::Failed { errno: 5 }, ..STALL };
    let failed = replayed(stalls_at(2, failure), u32::MAX);
    assert_eq!(failed.run.status, RunStatus::Failed);
    assert_eq!(metric(&failed, "latency_ns_max"), 7e9);
    let marked = failed.run.marks.iter().find(|mark| mark.metric == "latency_ns_max");
    assert_eq!(marked.unwrap().text, "at least (commands without an answer: 1)");
}
