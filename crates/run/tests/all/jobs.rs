//! Do several jobs at once keep their own commands, pace, begin, end and figures?

mod single_commands;
mod workload;

use std::sync::atomic::AtomicBool;

use base::{Nanos, Op, OpKind};
use load::{Mix, Order, Pacing, Workload};
use run::drive::{End, drive};
use run::jobs::{JobSpec, Jobs, Parts, Think, drive_jobs};
use run::recorder::Recorder;
use target::Target as _;
use target::scripted::{Event, Reply, ScriptedTarget};

const SECOND_NS: u64 = Nanos::SECOND.0;
const MS: Nanos = Nanos(1_000_000);
const SIZE_BYTES: u64 = 1 << 30;

fn ms(count: u64) -> Nanos {
    Nanos(count * MS.0)
}

fn job(name: &str, kind: OpKind, queue_depth: u32) -> JobSpec {
    JobSpec::new(name, Workload::new(kind, Order::Uniform, 4096, queue_depth, SIZE_BYTES))
}

fn paced(name: &str, kind: OpKind, rate_iops: u64) -> JobSpec {
    let job = job(name, kind, 32);
    JobSpec { workload: Workload { pacing: Pacing::Fixed { rate_iops }, ..job.workload }, ..job }
}

fn limited(job: JobSpec, commands: u64) -> JobSpec {
    let limit_bytes = Some(commands * 4096);
    JobSpec { workload: Workload { limit_bytes, ..job.workload }, ..job }
}

struct Driven {
    end: End,
    recorder: Recorder,
    parts: Parts,
    /// Time of issue and command.
    issued: Vec<(Nanos, Op)>,
}

impl Driven {
    /// Commands of a job that ended within it, as its record has them.
    fn ios(&self, job: usize) -> u64 {
        self.parts[job].as_ref().map_or(0, |(phase, _)| phase.ios)
    }

    fn issued_by(&self, kind: OpKind) -> Vec<(u64, u64)> {
        let of_kind = self.issued.iter().filter(|(_, op)| op.kind == kind);
        of_kind.map(|(at, op)| (at.0, op.offset)).collect()
    }
}

fn run(mut target: ScriptedTarget, jobs: &Jobs) -> Driven {
    jobs.check().unwrap();
    let mut recorder = Recorder::new(target.now(), jobs.duration);
    let mut generators: Vec<_> = jobs.jobs.iter().map(|job| job.generator(7)).collect();
    let never = AtomicBool::new(false);
    let (end, parts) =
        drive_jobs(&mut target, jobs, &mut generators, &mut recorder, &never, |_| ());
    let submitted = target.events().iter().filter_map(|(at, event)| match event {
        Event::Submitted(op) => Some((*at, *op)),
        _ => None,
    });
    Driven { end: end.unwrap(), issued: submitted.collect(), recorder, parts }
}

fn answers_after(latency: Nanos) -> ScriptedTarget {
    ScriptedTarget::new(SIZE_BYTES, Reply::after_ns(latency.0))
}

#[test]
fn a_single_job_issues_what_the_plain_loop_issues_at_the_same_times() {
    for job in [job("only", OpKind::Write, 4), paced("only", OpKind::Read, 3_000)] {
        let jobs = Jobs { jobs: vec![job.clone()], duration: Some(Nanos::SECOND) };
        let driven = run(answers_after(ms(1)), &jobs);
        let mut target = answers_after(ms(1));
        let mut recorder = Recorder::new(target.now(), Some(Nanos::SECOND));
        let (deadline, never) = (recorder.deadline(), AtomicBool::new(false));
        let mut generator = job.generator(7);
        drive(&mut target, &mut generator, deadline, &mut recorder, &never, |_| ()).unwrap();
        let plain = target.events().iter().filter_map(|(at, event)| match event {
            Event::Submitted(op) => Some((*at, Op { tag: 0, ..*op })),
            _ => None,
        });
        let without_tags = driven.issued.iter().map(|(at, op)| (*at, Op { tag: 0, ..*op }));
        assert_eq!(without_tags.collect::<Vec<_>>(), plain.collect::<Vec<_>>());
        assert_eq!((driven.ios(0), driven.recorder.ios), (recorder.ios, recorder.ios));
        let (now, mine) = (Nanos(SECOND_NS), driven.parts[0].clone().unwrap().1);
        assert_eq!(mine.seconds, recorder.finish(now).0.seconds);
    }
}

#[test]
fn a_full_queue_of_one_job_does_not_delay_the_schedule_of_another() {
    let jobs = [job("noisy", OpKind::Write, 16), paced("quiet", OpKind::Read, 1_000)];
    let jobs = Jobs { jobs: jobs.to_vec(), duration: Some(ms(2_000)) };
    let driven = run(answers_after(ms(5)), &jobs);
    let times: Vec<_> = driven.issued_by(OpKind::Read).iter().map(|(at, _)| *at).collect();
    assert_eq!(times, (0..2_000).map(|index| index * MS.0).collect::<Vec<_>>());
    assert_eq!(driven.issued_by(OpKind::Write).len(), 2_000 / 5 * 16);
    let tags = |kind| {
        let of_kind = driven.issued.iter().filter(|(_, op)| op.kind == kind);
        of_kind.map(|(_, op)| op.tag).collect::<Vec<_>>()
    };
    assert!(tags(OpKind::Write).iter().all(|tag| *tag < 16));
    assert!(tags(OpKind::Read).iter().all(|tag| (16..48).contains(tag)));
}

#[test]
fn the_jobs_add_up_to_the_sum_and_do_not_change_each_other() {
    let both = [job("a", OpKind::Write, 3), paced("b", OpKind::Read, 700)];
    let alone = |job: &JobSpec| {
        let jobs = Jobs { jobs: vec![job.clone()], duration: Some(ms(3_000)) };
        run(answers_after(ms(2)), &jobs)
    };
    let jobs = Jobs { jobs: both.to_vec(), duration: Some(ms(3_000)) };
    let driven = run(answers_after(ms(2)), &jobs);
    assert_eq!(driven.ios(0) + driven.ios(1), driven.recorder.ios);
    assert_eq!(driven.issued_by(OpKind::Write), alone(&both[0]).issued_by(OpKind::Write));
    assert_eq!(driven.issued_by(OpKind::Read), alone(&both[1]).issued_by(OpKind::Read));
    let rows = driven.recorder.finish(Nanos(3 * SECOND_NS)).0;
    for kind in [OpKind::Read, OpKind::Write] {
        let sum: u64 = rows.seconds.iter().map(|row| row.ios[kind.index()]).sum();
        let of_jobs = driven.parts.iter().flatten().flat_map(|(_, rows)| &rows.seconds);
        assert_eq!(sum, of_jobs.map(|row| row.ios[kind.index()]).sum::<u64>());
        let bins = |rows: &result::rows::PhaseRows| rows.histogram(kind, 0..u32::MAX).count();
        let of_jobs = driven.parts.iter().flatten().map(|(_, rows)| bins(rows));
        assert_eq!(bins(&rows), of_jobs.sum::<u64>());
    }
}

#[test]
fn a_job_begins_after_the_end_of_another_and_its_delay() {
    let first = limited(job("first", OpKind::Write, 2), 10);
    let second = limited(job("second", OpKind::Read, 1), 3);
    let second = JobSpec { after: vec![1], delay: ms(50), ..second };
    let jobs = Jobs { jobs: vec![second, first], duration: None };
    let driven = run(answers_after(ms(4)), &jobs);
    let times = |kind| driven.issued_by(kind).iter().map(|(at, _)| at / MS.0).collect::<Vec<_>>();
    assert_eq!(times(OpKind::Write), [0, 0, 4, 4, 8, 8, 12, 12, 16, 16]);
    assert_eq!(times(OpKind::Read), [70, 74, 78]);
    assert_eq!(driven.end, End::Complete);
    let second = &driven.parts[0].as_ref().unwrap().0;
    assert_eq!((second.start_ns, second.duration_ns), (70 * MS.0, 12 * MS.0));
}

/// A drive that takes 32 commands runs jobs of depth 32 one after the other.
#[test]
fn jobs_in_turn_share_the_depth_of_the_target() {
    let after = |job: JobSpec, before: &[usize]| JobSpec { after: before.to_vec(), ..job };
    let jobs = vec![
        limited(job("one", OpKind::Read, 20), 500),
        limited(job("beside", OpKind::Read, 12), 900),
        after(limited(job("two", OpKind::Write, 20), 500), &[0]),
        after(limited(job("four", OpKind::Deallocate, 32), 400), &[1, 2]),
    ];
    let jobs = Jobs { jobs, duration: None };
    assert_eq!(jobs.queue_depth(), 32);
    let driven = run(answers_after(ms(1)), &jobs);
    assert_eq!([0, 1, 2, 3].map(|at| driven.ios(at)), [500, 900, 500, 400]);
    let mut busy = std::collections::BTreeMap::new();
    for (at, op) in &driven.issued {
        assert!(op.tag < 32, "{op:?}");
        let before = busy.insert(op.tag, *at);
        assert!(before.is_none_or(|before| at.0 >= before.0 + MS.0), "{op:?} twice at {at:?}");
    }
}

#[test]
fn a_job_without_an_end_ends_with_the_last_one_that_has_one() {
    let short = JobSpec { duration: Some(ms(300)), ..job("short", OpKind::Write, 1) };
    let bytes = limited(paced("bytes", OpKind::Read, 1_000), 500);
    let jobs = [short, bytes, job("background", OpKind::Flush, 1)];
    let driven = run(answers_after(ms(10)), &Jobs { jobs: jobs.to_vec(), duration: None });
    assert_eq!(driven.ios(0), 29, "the one that ends with the time is late");
    assert_eq!(driven.ios(1), 500);
    let (background, _) = driven.parts[2].as_ref().unwrap();
    assert!(background.complete);
    // The last read is due at 499 ms and ends at 509 ms.
    assert_eq!(driven.issued_by(OpKind::Flush).len(), 51);
}

#[test]
fn a_pause_comes_after_the_end_of_its_commands() {
    let think = Some(Think { pause: ms(7), every: 3 });
    let job = JobSpec { think, ..limited(job("thinks", OpKind::Write, 2), 9) };
    let driven = run(answers_after(ms(2)), &Jobs { jobs: vec![job], duration: None });
    let times: Vec<_> = driven.issued_by(OpKind::Write).iter().map(|(at, _)| at / MS.0).collect();
    assert_eq!(times, [0, 0, 2, 11, 11, 13, 22, 22, 24]);
}

#[test]
fn commands_of_the_warm_up_are_in_the_sum_alone() {
    let job = JobSpec {
        warm_up: ms(1_000),
        duration: Some(ms(3_000)),
        ..job("warms up", OpKind::Write, 1)
    };
    let driven = run(answers_after(ms(10)), &Jobs { jobs: vec![job], duration: None });
    assert_eq!((driven.recorder.ios, driven.ios(0)), (300, 200));
    let (phase, rows) = driven.parts[0].as_ref().unwrap();
    assert_eq!((phase.start_ns, phase.duration_ns), (SECOND_NS, 2 * SECOND_NS));
    assert_eq!(rows.seconds.iter().map(|row| row.ios[1]).collect::<Vec<_>>(), [100, 100]);
}

#[test]
fn a_job_that_did_not_keep_its_rate_says_so_itself() {
    let slow = paced("slow", OpKind::Write, 10_000);
    let slow = JobSpec { workload: Workload { queue_depth: 1, ..slow.workload }, ..slow };
    let jobs = vec![slow, paced("fine", OpKind::Read, 100)];
    let driven = run(answers_after(ms(1)), &Jobs { jobs, duration: Some(Nanos::SECOND) });
    let (slow, _) = driven.parts[0].as_ref().unwrap();
    assert_eq!(slow.ios + slow.ios_after_end + slow.ios_not_issued, 10_000);
    assert!(slow.ios_not_issued > 8_900, "{}", slow.ios_not_issued);
    assert_eq!(driven.recorder.ios_not_issued, slow.ios_not_issued);
    assert_eq!(driven.parts[1].as_ref().unwrap().0.ios_not_issued, 0);
}

#[test]
fn a_failure_of_one_job_stops_all() {
    let failed = Reply { status: base::Status::Failed { errno: 5 }, ..Reply::after_ns(MS.0) };
    let quick = (0..9).map(|_| Reply::after_ns(MS.0));
    let target = answers_after(MS).replies(quick.chain([failed]));
    let jobs = vec![job("a", OpKind::Write, 1), job("b", OpKind::Read, 1)];
    let driven = run(target, &Jobs { jobs, duration: Some(Nanos::SECOND) });
    assert_eq!((driven.end, driven.recorder.errors), (End::Failed, 1));
    assert!(driven.issued.len() <= 12, "{}", driven.issued.len());
    assert!(driven.parts.iter().flatten().all(|(phase, _)| !phase.complete));
}

#[test]
fn random_jobs_issue_every_command_once_and_end() {
    let seed = std::env::var("SSDLAB_TEST_SEED").ok().and_then(|text| text.parse().ok());
    for case in seed.map_or(0..200, |seed: u64| seed..seed + 1) {
        let mut rng = base::Rng::new(case);
        let count = 1 + rng.below(6) as usize;
        let jobs: Vec<_> = (0..count)
            .map(|index| {
                let kind = OpKind::ALL[rng.below(2) as usize];
                let depth = 1 + rng.below(8) as u32;
                let mut job = limited(job(&format!("j{index}"), kind, depth), 1 + rng.below(50));
                job.workload.mix = Mix::ReadPercent(rng.below(101) as u8);
                let before = (0..index).filter(|_| rng.below(4) == 0);
                job.after = before.collect();
                job.delay = Nanos(rng.below(3) * 500_000);
                match rng.below(3) {
                    0 => {
                        job.workload.pacing = Pacing::Poisson { rate_iops: 200 + rng.below(5_000) }
                    }
                    1 => {
                        let every = 1 + rng.below(9) as u32;
                        job.think = Some(Think { pause: Nanos(rng.below(5_000_000)), every });
                    }
                    _ => {}
                }
                job
            })
            .collect();
        let latencies: Vec<_> = (0..400).map(|_| Reply::after_ns(rng.below(3_000_000))).collect();
        let jobs = Jobs { jobs, duration: None };
        let driven = run(answers_after(MS).replies(latencies), &jobs);
        assert_eq!(driven.end, End::Complete, "SSDLAB_TEST_SEED={case}");
        for (index, spec) in jobs.jobs.iter().enumerate() {
            let mut generator = spec.generator(7);
            let wanted = std::iter::from_fn(|| generator.next_op(0)).count() as u64;
            assert_eq!(driven.ios(index), wanted, "SSDLAB_TEST_SEED={case}, job {index}");
        }
    }
}

#[test]
fn impossible_jobs_are_named_with_the_rule() {
    let endless = || job("endless", OpKind::Write, 1);
    let ends = || limited(job("ends", OpKind::Write, 1), 5);
    let after = |job: JobSpec, index| JobSpec { after: vec![index], ..job };
    let rename = |job: JobSpec, name: &str| JobSpec { name: name.to_owned(), ..job };
    let think = Some(Think { pause: MS, every: 1 });
    for (jobs, rule) in [
        (vec![endless()], "job `endless`: neither it nor another job has an end"),
        (vec![ends(), ends()], "two jobs have this name"),
        (vec![endless(), after(ends(), 0)], "`endless`, which never ends by itself"),
        (vec![ends(), after(endless(), 0)], "after `ends` and has no end of its own"),
        (vec![after(ends(), 1), rename(after(ends(), 0), "b")], "after a job which waits for it"),
        (vec![after(ends(), 0)], "after a job which waits for it"),
        (vec![after(ends(), 4)], "a job that does not exist"),
        (vec![JobSpec { think, ..limited(paced("x", OpKind::Read, 5), 5) }], "it has a rate"),
        (vec![JobSpec { warm_up: MS, duration: Some(MS), ..ends() }], "the warm-up leaves nothing"),
    ] {
        let error = Jobs { jobs, duration: None }.check().unwrap_err().to_string();
        assert!(error.contains(rule), "{error}, not {rule}");
    }
}
