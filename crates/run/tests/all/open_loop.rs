//! Does an open loop issue commands at their due times, and count their latencies from then?

use std::sync::atomic::AtomicBool;

use base::{Nanos, OpKind, Ratio};
use device::host::clock::MonotonicClock;
use load::{Generator, Order, Pacing, Workload};
use result::rows::PhaseRows;
use run::Outcome;
use run::drive::{End, drive};
use run::recorder::Recorder;
use target::Target;
use target::null::NullTarget;
use target::scripted::{Event, Reply, ScriptedTarget};

use crate::common::{metric, request, run_quietly};

const SECOND_NS: u64 = Nanos::SECOND.0;
const MS_NS: u64 = 1_000_000;
const SIZE_BYTES: u64 = 1 << 30;

struct Driven {
    rows: PhaseRows,
    ios: u64,
    ios_after_end: u64,
    ios_not_issued: u64,
}

impl Driven {
    fn due(&self) -> u64 {
        self.ios + self.ios_after_end + self.ios_not_issued
    }

    fn latency_ns(&self, share: (u64, u64)) -> u64 {
        let share = Ratio::new(share.0, share.1).unwrap();
        self.rows.histogram(OpKind::Write, 0..u32::MAX).quantile(share).unwrap()
    }
}

fn run(target: &mut impl Target, pacing: Pacing, queue_depth: u32, seconds: u64) -> Driven {
    let workload = Workload::new(OpKind::Write, Order::Uniform, 4096, queue_depth, SIZE_BYTES);
    let mut generator = Generator::new(Workload { pacing, ..workload }, 1);
    let mut recorder = Recorder::new(target.now(), Some(Nanos(seconds * SECOND_NS)));
    let (deadline, never) = (recorder.deadline(), AtomicBool::new(false));
    let end = drive(target, &mut generator, deadline, &mut recorder, &never, |_| ()).unwrap();
    assert_eq!(end, End::Complete);
    let Recorder { ios, ios_after_end, ios_not_issued, .. } = recorder;
    let (rows, length) = recorder.finish(target.now());
    assert_eq!(length, Nanos(seconds * SECOND_NS));
    Driven { rows, ios, ios_after_end, ios_not_issued }
}

/// A drive that answers after 20 us, but gives none of `queue_depth` answers between 4 s and 6 s.
fn stalls_for_two_seconds(queue_depth: u64) -> ScriptedTarget {
    let quick = Reply::after_ns(20_000);
    let before = (0..4_000).map(|_| quick);
    let stalled = (0..queue_depth).map(|n| Reply::after_ns(2 * SECOND_NS - n * MS_NS));
    ScriptedTarget::new(SIZE_BYTES, quick).replies(before.chain(stalled))
}

#[test]
fn a_stall_is_felt_by_everything_that_was_due_meanwhile() {
    let thousand = Pacing::Fixed { rate_iops: 1_000 };
    let driven = run(&mut stalls_for_two_seconds(32), thousand, 32, 10);
    assert_eq!((driven.ios, driven.due()), (10_000, 10_000));
    // The 2,000 commands of the stall wait from 2 s down to nothing: a hundred of 10,000 for 1.9 s and more.
    let p99 = driven.latency_ns((99, 100));
    assert!(p99.abs_diff(1_900 * MS_NS) < 1_900 * MS_NS / 100, "{p99}");
    let p90 = driven.latency_ns((90, 100));
    assert!(p90.abs_diff(1_000 * MS_NS) < 1_000 * MS_NS / 100, "{p90}");
    assert!(driven.latency_ns((1, 2)) < MS_NS);
}

/// A thread may get its processor only when the phase is over, on a busy machine.
#[test]
fn who_comes_late_issues_what_was_due_and_no_more() {
    let workload = Workload::new(OpKind::Write, Order::Uniform, 4096, 8, SIZE_BYTES);
    for (pacing, due) in [(Pacing::Fixed { rate_iops: 1_000 }, 1_000), (Pacing::ClosedLoop, 0)] {
        let mut target = ScriptedTarget::new(SIZE_BYTES, Reply::after_ns(1_000));
        let mut recorder = Recorder::new(target.now(), Some(Nanos::SECOND));
        let (deadline, never) = (recorder.deadline(), AtomicBool::new(false));
        target.idle_until(Nanos(2 * SECOND_NS));
        let mut generator = Generator::new(Workload { pacing, ..workload.clone() }, 1);
        drive(&mut target, &mut generator, deadline, &mut recorder, &never, |_| ()).unwrap();
        let Recorder { ios, ios_after_end, ios_not_issued, .. } = recorder;
        assert_eq!(ios + ios_after_end + ios_not_issued, due);
        assert!(ios_after_end <= 8, "{ios_after_end} found room");
    }
}

#[test]
fn a_closed_loop_hides_the_same_stall() {
    let driven = run(&mut stalls_for_two_seconds(1), Pacing::ClosedLoop, 1, 4);
    assert!(driven.latency_ns((99, 100)) < MS_NS);
}

fn issue_times(pacing: Pacing, seconds: u64) -> Vec<u64> {
    let mut target = ScriptedTarget::new(SIZE_BYTES, Reply::after_ns(1_000));
    run(&mut target, pacing, 64, seconds);
    let submitted = target.events().iter().filter(|(_, e)| matches!(e, Event::Submitted(_)));
    submitted.map(|(at, _)| at.0).collect()
}

#[test]
fn commands_are_issued_at_the_moments_asked_for() {
    let times = issue_times(Pacing::Fixed { rate_iops: 3_000 }, 2);
    let expected: Vec<_> = (0..6_000).map(|index| index * SECOND_NS / 3_000).collect();
    assert_eq!(times, expected);
}

/// The largest distance to the exponential distribution (Kolmogorov and Smirnov) stays below what 99% of
/// true samples stay below.
#[test]
fn gaps_between_issued_commands_are_exponential() {
    let times = issue_times(Pacing::Poisson { rate_iops: 10_000 }, 5);
    let mut gaps: Vec<_> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e5).collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let count = gaps.len() as f64;
    let distance = |(index, gap): (usize, &f64)| {
        let expected = -(-gap).exp_m1();
        (expected - index as f64 / count).abs().max((expected - (index as f64 + 1.0) / count).abs())
    };
    let distance = gaps.iter().enumerate().map(distance).fold(0.0, f64::max);
    assert!(distance < 1.628 / count.sqrt(), "{distance} with {count} gaps");
    assert!((count - 50_000.0).abs() < 5.0 * 50_000_f64.sqrt(), "{count}");
}

#[test]
fn a_target_that_does_not_keep_up_is_told_by_what_found_no_room() {
    // One command at a time, 10 ms each: 100 a second of the 1,000 that are due.
    let mut target = ScriptedTarget::new(SIZE_BYTES, Reply::after_ns(10 * MS_NS));
    let driven = run(&mut target, Pacing::Fixed { rate_iops: 1_000 }, 1, 2);
    assert_eq!((driven.ios, driven.due()), (199, 2_000));
    assert_eq!(driven.rows.seconds.iter().map(|row| row.ios[1]).sum::<u64>(), 199);
    // The last one was due at 200 ms, found room at 2 s and ended at 2.01 s.
    let longest = driven.latency_ns((1, 1));
    assert!(longest.abs_diff(1_810 * MS_NS) <= 1_810 * MS_NS / 100, "{longest}");
}

/// In real time, no due command is lost or done twice, however late a busy machine is.
#[test]
fn every_command_that_was_due_is_accounted_for() {
    for rate_iops in [7, 5_000, 200_000] {
        let pacing = Pacing::Fixed { rate_iops };
        let driven = run(&mut NullTarget::new(SIZE_BYTES, MonotonicClock::start()), pacing, 32, 1);
        assert_eq!(driven.due(), rate_iops);
    }
}

/// A whole run at 3,000 commands per second, unless the settings name another rate, on a drive that
/// takes 100 us for every command.
fn run_test(test: &str, settings: &[(&str, &str)]) -> Outcome {
    let mut target = ScriptedTarget::new(64 << 20, Reply::after_ns(100_000));
    let library = tempfile::tempdir().unwrap();
    let common = [("random_span", "1MiB"), ("rate", "3000")];
    let is_free = |(name, _): &&(&str, &str)| settings.iter().all(|(taken, _)| taken != name);
    let settings: Vec<_> = common.iter().filter(is_free).chain(settings).copied().collect();
    run_quietly(&mut target, &request(library.path(), test.parse().unwrap(), &settings)).unwrap()
}

#[test]
fn latency_and_mixed_measure_under_a_demand() {
    for (test, settings) in [
        ("latency", &[("time", "2s")][..]),
        ("mixed", &[("time", "2s"), ("read_percents", "100,50")]),
    ] {
        let outcome = run_test(test, settings);
        let run = &outcome.run;
        assert_eq!((&run.config["rate"], &run.config["queue_depth"]), (&"3000".into(), &32.into()));
        let measured = run.phases.iter().filter(|p| !["purge", "prepare"].contains(&&*p.name));
        let ios: Vec<_> = measured.map(|phase| phase.ios + phase.ios_after_end).collect();
        assert!(ios.len() >= 2 && ios.iter().all(|ios| *ios == 6_000), "{test}: {ios:?}");
        let conditions = &run.tables[0].conditions;
        assert_eq!((&*conditions["QD"], &*conditions["commands a second"]), ("at most 32", "3000"));
    }
}

#[test]
fn what_was_paced_is_said_in_the_words_of_the_figures() {
    let outcome = run_test("latency", &[("time", "1s")]);
    assert_eq!(outcome.run.tables[0].title, "Latency at 3000 a second");
    let findings: Vec<_> = outcome.run.findings.iter().map(|finding| &finding.text).collect();
    assert!(findings[0].contains("answers a random read at 3000 a second in"), "{findings:?}");
    assert!(
        (metric(&outcome, "latency.random_read.latency_ns_p50") / 100_000.0 - 1.0).abs() < 0.01
    );
    let outcome = run_test("latency", &[("time", "1s"), ("rate", "max")]);
    assert_eq!(outcome.run.tables[0].title, "Latency at QD 1");
    assert_eq!(outcome.run.tables[0].conditions["QD"], "1");
}
