//! Is the measured latency the true one?

use std::collections::BTreeMap;

use crate::machine::Record;

/// The median latency of a run, in ns.
fn median_ns(name: &str) -> f64 {
    Record::of(name).must_exit_with(0);
    let run = Record::of(&format!("{name}.json")).document();
    run["metrics"]["latency_ns_p50"].as_f64().unwrap_or_else(|| panic!("no median in {run:#}"))
}

/// The median time between submission and completion in the kernel during a run, in ns.
fn seen_ns(name: &str) -> f64 {
    traced_median_ns(&Record::of(&format!("{name}-seen")).stdout)
}

/// Difference of two times in the round with the best agreement. Other work on the cores delays the
/// emulator, so the quietest round counts.
fn apart_at_best(rounds: &[(f64, f64)]) -> f64 {
    let apart = |(a_ns, b_ns): &(f64, f64)| (a_ns / b_ns - 1.0).abs();
    rounds.iter().map(apart).fold(f64::INFINITY, f64::min)
}

/// Fails if the measured value differs from the expected one by more than 3% in every round.
fn must_agree(rounds: &[(f64, f64)]) {
    let best = apart_at_best(rounds);
    assert!(best < 0.03, "{:.1}% off in the best of {rounds:?}", best * 100.0);
}

/// Two drives that answer by a high-resolution timer, one after 0.5 ms and one after 5 ms. The first
/// shows what an idle, emulated machine adds to any delay: until the kernel sees the answer, and from
/// there until the program does. If the kernel itself saw later answers of the second in every round,
/// the timers of the emulator were late, and only the times of the kernel count.
#[test]
fn a_delay_of_5_ms_is_measured_as_5_ms() {
    const APART_NS: f64 = 4.5e6;
    let rounds: Vec<[f64; 4]> = (1..=5)
        .map(|round| (format!("fast{round}"), format!("slow{round}")))
        .map(|(fast, slow)| [median_ns(&fast), seen_ns(&fast), median_ns(&slow), seen_ns(&slow)])
        .collect();
    assert!(rounds.iter().all(|[fast, _, slow, _]| *fast >= 0.5e6 && *slow >= 5e6), "{rounds:?}");
    let pairs = |pair: fn(&[f64; 4]) -> (f64, f64)| rounds.iter().map(pair).collect::<Vec<_>>();
    must_agree(&pairs(|[fast, fast_seen, slow, slow_seen]| {
        (*slow, slow_seen + (fast - fast_seen))
    }));
    let late =
        apart_at_best(&pairs(|[_, fast_seen, _, slow_seen]| (*slow_seen, fast_seen + APART_NS)));
    if late < 0.02 {
        must_agree(&pairs(|[fast, _, slow, _]| (*slow, fast + APART_NS)));
    } else {
        println!("the emulator was {:.1}% late at best: {rounds:?}", late * 100.0);
    }
}

/// dm-delay rounds 5 ms up to ticks of the kernel, two or three of 4 ms. The time of the kernel
/// from the submission to the completion of each command therefore counts.
#[test]
fn a_delayed_device_is_as_slow_as_the_kernel_saw_it() {
    let names = (1..=3).map(|round| format!("delayed{round}"));
    let rounds: Vec<(f64, f64)> = names.map(|name| (median_ns(&name), seen_ns(&name))).collect();
    assert!(
        rounds.iter().all(|(_, seen_ns)| *seen_ns >= 5e6),
        "dm-delay let 5 ms pass: {rounds:?}"
    );
    must_agree(&rounds);
}

/// Rate and mean latency of three turns each, on a device that delays every command. Other work delays
/// the emulator, so that the closest turn counts.
#[test]
fn the_same_job_file_has_the_rate_and_latency_of_fio() {
    let document = |name: &str, round: u32| {
        let record = Record::of(&format!("{name}{round}"));
        record.must_exit_with(0);
        record.document()
    };
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN);
    let fio = [1, 2, 3].map(|round| document("turn-fio", round)["jobs"][0]["read"].clone());
    let own = [1, 2, 3].map(|round| document("turn-own", round)["runs"][0]["metrics"].clone());
    for (of_fio, of_own) in
        [("/iops", "workload.turn.iops"), ("/lat_ns/mean", "workload.turn.latency_ns_mean")]
    {
        let fio = fio.each_ref().map(|read| number(read.pointer(of_fio).expect("a figure of fio")));
        let own = own.each_ref().map(|metrics| number(&metrics[of_own]));
        let apart = apart_at_best(&std::array::from_fn::<_, 3, _>(|turn| (own[turn], fio[turn])));
        assert!(apart < 0.05, "{of_own} is {:.1}% off: {own:?}, by fio {fio:?}", apart * 100.0);
    }
}

/// The schedule is known, and the kernel recorded the end of each command: the delay after the
/// schedule is the true latency, even on a slow emulator. Counted from the issue, as in a closed
/// loop, the stall is hardly visible.
#[test]
fn a_stall_is_felt_by_all_that_was_due_meanwhile() {
    const GAP_S: f64 = 1e-3;
    const LENGTH_S: f64 = 10.0;
    Record::of("stalled").must_exit_with(0);
    let run = Record::of("stalled.json").document();
    let reported_s = run["metrics"]["latency_ns_p99"].as_f64().expect("a percentile") / 1e9;
    let mut commands: Vec<_> =
        Record::of("stalled-times").stdout.lines().filter_map(issued_and_ended_s).collect();
    commands.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(commands.len() > 5_000, "the trace has only {} commands", commands.len());
    // No command is issued before it is due, and some were just then.
    let due_s = |index: usize| index as f64 * GAP_S;
    let starts = commands.iter().enumerate().map(|(index, (issued_s, _))| issued_s - due_s(index));
    let start_s = starts.fold(f64::INFINITY, f64::min);
    let in_time = |ended_s: f64| ended_s < start_s + LENGTH_S;
    let numbered = commands.iter().enumerate().filter(|(_, (_, ended_s))| in_time(*ended_s));
    let late_s = numbered.map(|(index, (_, ended_s))| ended_s - start_s - due_s(index)).collect();
    let true_s = p99(late_s);
    assert!(true_s > 1.5, "there was no stall: {true_s} s");
    assert!((reported_s / true_s - 1.0).abs() < 0.05, "{reported_s} s reported, {true_s} s true");
    let from_issue_s = p99(commands.iter().map(|(issued_s, ended_s)| ended_s - issued_s).collect());
    assert!(from_issue_s < true_s / 2.0, "{from_issue_s} s from the issue on");
}

fn p99(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() * 99 / 100]
}

/// `ISSUED:ENDED:` in seconds, without commands that were issued before the trace began.
fn issued_and_ended_s(line: &str) -> Option<(f64, f64)> {
    let (issued, ended) = line.trim_end_matches(':').split_once(':')?;
    Some((issued.parse().ok()?, ended.parse().ok()?))
}

/// The median of the times between submission and completion in a trace.
fn traced_median_ns(trace: &str) -> f64 {
    let mut submitted_s: BTreeMap<&str, f64> = BTreeMap::new();
    let mut took_ns = Vec::new();
    for (at_s, event, request) in trace.lines().filter_map(event) {
        if event == "io_uring_submit_sqe" {
            submitted_s.insert(request, at_s);
        } else if let Some(start_s) = submitted_s.remove(request) {
            took_ns.push((at_s - start_s) * 1e9);
        }
    }
    assert!(took_ns.len() > 50, "only {} commands in the trace", took_ns.len());
    took_ns.sort_by(f64::total_cmp);
    took_ns[took_ns.len() / 2]
}

/// `task-pid [cpu] flags SECONDS: EVENT: ring 0, req 0123, user_data ...`
fn event(line: &str) -> Option<(f64, &str, &str)> {
    let (before, after) = line.split_once(": io_uring_")?;
    let at_s = before.split_whitespace().last()?.parse().ok()?;
    let event = &line[line.len() - after.len() - "io_uring_".len()..];
    let (event, fields) = event.split_once(':')?;
    let request = fields.split("req ").nth(1)?.split(',').next()?;
    Some((at_s, event, request))
}

#[test]
fn a_trace_is_read_request_by_request() {
    let line = " ssdlab-9 [001] ..... 7.5: io_uring_submit_sqe: ring 0a, req 1b, user_data 0x0";
    assert_eq!(event(line), Some((7.5, "io_uring_submit_sqe", "1b")));
    assert_eq!(event("# tracer: nop"), None);
}
