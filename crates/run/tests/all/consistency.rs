//! Does a run follow the suite, and does it keep its data after any end?

use std::path::Path;
use std::sync::atomic::Ordering;

use base::{Nanos, OpKind, TelemetryRow};
use result::rows::PhaseRows;
use result::schema::{MarkKind, Run, RunStatus};
use result::store::RunDir;
use run::{Event, Outcome, Request, RunError, SpanRequest, Test};
use target::TargetError;
use target::faulty::{Fault, FaultyTarget};
use target::scripted::{Event as Asked, Reply, ScriptedTarget};

use crate::common::{run_quietly, run_with, simulated};

const MIB: u64 = 1 << 20;
/// 32 commands of 1 ms each at a time are 32,000 IOPS; those that end at the very end of the first
/// second count for the next.
const FIRST: u64 = 31_968;

fn request(library: &Path, settings: &[(&str, &str)]) -> Request {
    crate::common::request(library, Test::CONSISTENCY, settings)
}

fn load_rows(outcome: &Outcome) -> PhaseRows {
    RunDir::open(&outcome.dir).unwrap().phase_rows("load").unwrap()
}

fn writes(rows: &PhaseRows) -> Vec<u64> {
    rows.seconds.iter().map(|row| row.ios[OpKind::Write.index()]).collect()
}

#[test]
fn a_simulated_drive_gives_one_row_a_second_and_sums_that_agree() {
    let library = tempfile::tempdir().unwrap();
    let run = |seed| {
        let mut target = simulated("sandisk-extreme-ii-480gb", &[("scale", "1/64")]);
        let request = Request { seed, ..request(library.path(), &[("duration", "40s")]) };
        run_quietly(&mut target, &request).unwrap()
    };
    let outcome = run(1);
    assert_eq!(outcome.run.status, RunStatus::Complete);
    let names: Vec<_> = outcome.run.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["purge", "fill", "load"]);
    assert!(outcome.run.phases[0].what.contains("fresh-simulated-drive"));
    assert_eq!(outcome.run.phases[1].bytes, outcome.run.span.span_bytes, "every LBA was filled");

    let rows = load_rows(&outcome);
    assert_eq!(rows.seconds.len(), 40);
    let ios: u64 = writes(&rows).iter().sum();
    assert_eq!(ios, outcome.run.phases[2].ios);
    let of_all = ios + outcome.run.phases[2].ios_after_end;
    assert_eq!(of_all, rows.histogram(OpKind::Write, 0..40).count());
    assert!(rows.seconds.iter().all(|row| row.telemetry.is_some()));
    let metric = |name: &str| outcome.run.metrics[name].unwrap();
    assert!(metric("iops_peak_mean_first_60s") > metric("iops_steady_mean"));
    assert!(metric("waf_steady") > 2.0);

    assert_eq!(load_rows(&run(1)).seconds, rows.seconds, "the same seed gives the same run");
    assert_ne!(load_rows(&run(2)).seconds, rows.seconds, "another seed gives another");
}

/// A run below full size marks the figures that depend on the size, and no other run does.
#[test]
fn a_drive_below_full_size_says_what_it_does_not_keep() {
    let library = tempfile::tempdir().unwrap();
    let run = |keys: &[(&str, &str)]| {
        let mut target = simulated("samsung-840-pro-256gb", keys);
        let request = request(library.path(), &[("duration", "30s"), ("fill", "false")]);
        run_quietly(&mut target, &request).unwrap().run
    };
    let scaled = |run: &Run| -> Vec<String> {
        let marks = run.marks.iter().filter(|mark| mark.kind == MarkKind::Scale);
        marks.map(|mark| mark.metric.clone()).collect()
    };
    let small = run(&[("scale", "1/32")]);
    assert_eq!(small.target.details["scale"], "1/32");
    for name in ["iops_steady_cv", "iops_mean", "notice_waits", "latency_ns_max"] {
        assert!(
            small.metrics[name].is_some() && scaled(&small).contains(&name.to_owned()),
            "{name}"
        );
    }
    for name in ["iops_steady_mean", "waf_steady", "latency_steady_ns_mean"] {
        assert!(!scaled(&small).contains(&name.to_owned()), "{name}");
    }
    let last = &small.findings.last().unwrap().text;
    assert!(last.contains("1/32 of its full size"), "{:#?}", small.findings);
    let is_notice =
        |run: &Run| run.findings.iter().any(|it| it.text.starts_with("Would I notice?"));
    let whole = run(&[]);
    assert_eq!((scaled(&whole), whole.target.details.get("scale")), (Vec::new(), None));
    assert_eq!((is_notice(&whole), is_notice(&small)), (true, false));
}

/// A fill ends in the midst of a second, and so may a load.
#[test]
fn the_books_of_a_phase_balance_to_its_last_moment() {
    const DIES: u64 = 64;
    const UNIT_PAGES: u64 = 8;
    let library = tempfile::tempdir().unwrap();
    let mut target = simulated("sandisk-extreme-ii-480gb", &[("scale", "1/64")]);
    let request = request(library.path(), &[("duration", "2500ms")]);
    let outcome = run_quietly(&mut target, &request).unwrap();
    let run = RunDir::open(&outcome.dir).unwrap();
    let (mut host, mut programmed, mut buffered) = (0, 0, 0);
    for phase in ["fill", "load"] {
        let rows = run.phase_rows(phase).unwrap().seconds;
        let last = rows.last().unwrap();
        assert!((1..Nanos::SECOND.0).contains(&last.duration_ns), "{}", last.duration_ns);
        let told: Vec<_> = rows.iter().filter_map(|row| row.telemetry).collect();
        assert_eq!(told.len(), rows.len(), "every row of the {phase} has telemetry");
        let sum = |of: fn(&TelemetryRow) -> u64| told.iter().map(of).sum::<u64>();
        if phase == "fill" {
            assert_eq!(sum(|row| row.host_pages) * 4_096, outcome.run.span.span_bytes);
        }
        host += sum(|row| row.host_pages + row.gc_moved_pages + row.padding_pages);
        programmed += sum(|row| row.programmed_pages);
        let last_told = told.last().unwrap();
        buffered = last_told.buffer_pages;
        assert!(last_told.die_busy_ns <= DIES * last.duration_ns);
    }
    // Moved pages may wait for the rest of a unit.
    assert!(host.abs_diff(programmed + buffered) < UNIT_PAGES, "{host} {programmed} {buffered}");
}

#[test]
fn the_phases_are_those_of_the_suite() {
    let library = tempfile::tempdir().unwrap();
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    let spare = SpanRequest::Spare("25%".parse().unwrap());
    let request = Request { span: spare, ..request(library.path(), &[("duration", "3s")]) };
    let outcome = run_quietly(&mut target, &request).unwrap();

    let asked: Vec<_> = target.events().iter().map(|(_, event)| event).collect();
    assert_eq!(asked[0], &Asked::Purged, "a fresh drive first");
    let ops: Vec<_> = target.ops().copied().collect();
    let (fill, load) = ops.split_at(48 * 8);
    for (op, index) in fill.iter().zip(0..) {
        assert_eq!((op.kind, op.len, op.offset), (OpKind::Write, 131_072, index * 131_072));
    }
    assert!(load.iter().all(|op| op.kind == OpKind::Write && op.len == 4096));
    assert!(load.iter().all(|op| op.offset % 4096 == 0 && op.offset < 48 * MIB), "inside the span");
    assert_eq!(writes(&load_rows(&outcome)), [FIRST, 32_000, 32_000]);
    assert_eq!(outcome.run.span.base, "advertised");
    assert_eq!(outcome.run.phases[2].ios_after_end, 32, "what was outstanding at the end");
}

#[test]
fn a_stalled_drive_shows_its_empty_seconds() {
    let library = tempfile::tempdir().unwrap();
    let inner = ScriptedTarget::new(MIB, Reply::after_ns(1_000_000));
    let stall = Fault::Stall { extra: Nanos(3_500_000_000) };
    let mut target = FaultyTarget::new(inner, (1000..1032).map(|command| (command, stall)));
    let settings = [("duration", "6s"), ("fill", "false"), ("purge", "false")];
    let outcome = run_quietly(&mut target, &request(library.path(), &settings)).unwrap();
    let counts = writes(&load_rows(&outcome));
    assert_eq!(counts.len(), 6);
    assert_eq!(counts[1..3], [0, 0]);
    assert_eq!(counts[5], 32_000);
    assert!(outcome.run.metrics["latency_ns_max"].unwrap() >= 3.5e9);
}

#[test]
fn a_failing_command_ends_the_run_and_keeps_the_rest() {
    let library = tempfile::tempdir().unwrap();
    let inner = ScriptedTarget::new(MIB, Reply::after_ns(1_000_000));
    let mut target = FaultyTarget::new(inner, [(80_000, Fault::Fail { errno: 5 })]);
    let settings = [("duration", "6s"), ("fill", "false")];
    let outcome = run_quietly(&mut target, &request(library.path(), &settings)).unwrap();
    assert_eq!(outcome.run.status, RunStatus::Failed);
    let message = outcome.failure.as_ref().unwrap().to_string();
    assert!(message.contains("write of 4096 bytes at offset"), "{message}");
    assert!(matches!(outcome.failure, Some(RunError::Target(TargetError::Device { .. }))));
    assert_eq!(writes(&load_rows(&outcome))[..2], [FIRST, 32_000]);
    assert!(outcome.run.warnings.iter().any(|text| text.contains("ended early")));
}

#[test]
fn a_lost_target_ends_the_run_and_keeps_the_rest() {
    let library = tempfile::tempdir().unwrap();
    let inner = ScriptedTarget::new(MIB, Reply::after_ns(1_000_000));
    let mut target = FaultyTarget::new(inner, [(80_000, Fault::Lose)]);
    let settings = [("duration", "6s"), ("fill", "false")];
    let outcome = run_quietly(&mut target, &request(library.path(), &settings)).unwrap();
    assert_eq!(outcome.run.status, RunStatus::Failed);
    assert!(outcome.failure.is_some());
    assert_eq!(writes(&load_rows(&outcome))[..2], [FIRST, 32_000]);
}

#[test]
fn the_stop_button_keeps_what_was_measured() {
    let library = tempfile::tempdir().unwrap();
    let mut target = ScriptedTarget::new(MIB, Reply::after_ns(1_000_000));
    let request = request(library.path(), &[("duration", "60s"), ("fill", "false")]);
    let outcome = run_with(&mut target, &request, |event, interrupted| {
        if matches!(event, Event::Second { second: 4, .. }) {
            interrupted.store(true, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!(outcome.run.status, RunStatus::Interrupted);
    let rows = load_rows(&outcome);
    assert_eq!(writes(&rows)[..5], [FIRST, 32_000, 32_000, 32_000, 32_000]);
    assert!(!outcome.run.phases[1].complete);
    assert_eq!(writes(&rows).iter().sum::<u64>(), outcome.run.phases[1].ios);
}

/// There is a row for each second, so that a pass whose commands take a month must not continue for
/// years.
#[test]
fn a_drive_that_takes_a_month_a_command_fails_and_keeps_what_it_did() {
    let library = tempfile::tempdir().unwrap();
    let slow = Reply::after_ns(31 * 86_400 * Nanos::SECOND.0);
    let mut target = ScriptedTarget::new(8 * MIB, slow);
    let request = crate::common::request(library.path(), crate::common::test("linear"), &[]);
    let outcome = run_quietly(&mut target, &request).unwrap();
    assert_eq!(outcome.run.status, RunStatus::Failed);
    let message = outcome.failure.unwrap().to_string();
    assert!(message.contains("was stopped after 30 days"), "{message}");
    assert!(message.contains("--span"), "{message}");
    let last = outcome.run.phases.last().unwrap();
    assert!(!last.complete && last.ios + last.ios_after_end == 1, "{last:?}");
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_touched() {
    let library = tempfile::tempdir().unwrap();
    for (settings, word) in [
        (("durations", "60"), "did you mean `--set duration=60`"),
        (("duration", "60"), "such as `60s`"),
        (("duration", "10ms"), "between 1s and 30d"),
        (("queue_depth", "5000"), "--set queue_depth=1024"),
        (("queue_depth", "0"), "queue depth is 0"),
        (("block", "1000"), "multiple of the target's 512"),
        (("block", "2MiB"), "longer than the 1048576 bytes"),
        (("fill_block", "1GiB"), "between 512 and 32MiB"),
    ] {
        let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000));
        let error = run_quietly(&mut target, &request(library.path(), &[settings])).unwrap_err();
        assert!(error.to_string().contains(word), "{settings:?}: {error}");
        assert!(target.events().is_empty());
    }
    assert_eq!(std::fs::read_dir(library.path()).unwrap().count(), 0, "no run directory is left");
}
