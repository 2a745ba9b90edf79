//! Do the rows of single commands in `ios.parquet` agree with the figures of their run?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base::{Histogram, OpKind};
use result::store::RunDir;
use result::store::ios::{IOS_FILE, IosPart};
use run::{Event, Outcome, Request};

use crate::common::{request, run_quietly, run_with, simulated, test};

const DRIVE: &str = "sandisk-extreme-ii-480gb";
const LENGTH: usize = 2;

/// Two jobs: one keeps its queue full, the other has a schedule.
const JOBS: &str = r#"
duration = "2s"

[job.full]
mix = { read = 30, write = 70 }
block = "4KiB"
pattern = "uniform"
queue_depth = 8

[job.paced]
op = "read"
block = "16KiB"
pattern = "uniform"
queue_depth = 16
rate = "poisson:2000"
"#;

/// A run of two jobs on a small simulated drive, with the chosen commands.
fn run(library: &Path, choice: &str) -> Outcome {
    let file = library.join("jobs.toml");
    std::fs::write(&file, JOBS).unwrap();
    let settings = [("workload", file.to_str().unwrap())];
    let request = request(library, test("workload"), &settings);
    let request = Request { ios: Some(choice.parse().unwrap()), seed: 5, ..request };
    run_quietly(&mut simulated(DRIVE, &[("scale", "1/512")]), &request).unwrap()
}

/// Phase, kind, due, done and offset of every row.
type Row = (usize, usize, u64, u64, u64);

fn rows(outcome: &Outcome) -> Vec<Row> {
    let mut rows = Vec::new();
    let take = |part: &IosPart| {
        for (at, kind) in part.kinds.iter().enumerate() {
            let (due, done) = (part.due_ns[at], part.done_ns[at]);
            rows.push((part.phase_index, kind.index(), due, done, part.offset_bytes[at]));
        }
    };
    assert!(RunDir::open(&outcome.dir).unwrap().ios(take).unwrap(), "there is a file");
    let told = outcome.run.ios.as_ref().map(|ios| ios.rows);
    assert_eq!(told, Some(rows.len() as u64));
    rows
}

#[test]
fn the_rows_of_all_commands_have_the_counts_and_latencies_of_their_phases() {
    let library = tempfile::tempdir().unwrap();
    let outcome = run(library.path(), "all");
    let dir = RunDir::open(&outcome.dir).unwrap();
    let rows = rows(&outcome);
    for (index, phase) in outcome.run.phases.iter().enumerate() {
        let of_phase: Vec<_> = rows.iter().filter(|row| row.0 == index).collect();
        assert_eq!(of_phase.len() as u64, phase.ios + phase.ios_after_end, "{}", phase.name);
        assert_eq!(phase.ios_lost, 0);
        for kind in OpKind::ALL {
            let mut histogram = Histogram::new();
            let of_kind = of_phase.iter().filter(|row| row.1 == kind.index());
            of_kind.for_each(|(_, _, due, done, _)| histogram.record(done - due));
            let known = dir.rows(index).unwrap().histogram(kind, 0..u32::MAX);
            assert!(histogram.bins().eq(known.bins()), "{}, {kind:?}", phase.name);
        }
    }
    let kinds: BTreeSet<_> = rows.iter().map(|row| row.1).collect();
    assert_eq!(kinds.len(), 2, "reads and writes");
}

#[test]
fn a_simulated_run_gives_the_same_file_for_the_same_seed() {
    let library = tempfile::tempdir().unwrap();
    let [one, other] = [0, 1].map(|_| run(library.path(), "10%"));
    let bytes = |outcome: &Outcome| std::fs::read(outcome.dir.join(IOS_FILE)).unwrap();
    assert!(bytes(&one) == bytes(&other));
    assert_eq!(one.run.metrics, run(library.path(), "all").run.metrics);
}

#[test]
fn a_share_of_the_commands_is_a_binomial_draw_from_all_of_them() {
    let library = tempfile::tempdir().unwrap();
    let all = rows(&run(library.path(), "all"));
    let drawn = rows(&run(library.path(), "10%"));
    let known: BTreeSet<_> = all.iter().collect();
    assert!(drawn.iter().all(|row| known.contains(row)));
    let (count, wanted) = (drawn.len() as f64, 0.1 * all.len() as f64);
    // Six standard deviations: once in 500 million seeds.
    let deviation = (all.len() as f64 * 0.1 * 0.9).sqrt();
    assert!((count - wanted).abs() < 6.0 * deviation, "{count} of {wanted} +- {deviation}");
}

#[test]
fn the_slowest_rows_are_the_slowest_of_all_commands_of_their_second() {
    let library = tempfile::tempdir().unwrap();
    let mut seconds: BTreeMap<(usize, u64), Vec<u64>> = BTreeMap::new();
    for (phase, _, due, done, _) in rows(&run(library.path(), "all")) {
        seconds.entry((phase, done / 1_000_000_000)).or_default().push(done - due);
    }
    let mut slowest: BTreeMap<(usize, u64), Vec<u64>> = BTreeMap::new();
    for (phase, _, due, done, _) in rows(&run(library.path(), "slowest:20")) {
        slowest.entry((phase, done / 1_000_000_000)).or_default().push(done - due);
    }
    assert!(seconds.len() > LENGTH && seconds.keys().eq(slowest.keys()));
    for (second, mut all) in seconds {
        all.sort_unstable_by_key(|latency| Reverse(*latency));
        all.truncate(20);
        let mut kept = slowest.remove(&second).unwrap();
        kept.sort_unstable_by_key(|latency| Reverse(*latency));
        assert_eq!(kept, all, "{second:?}");
    }
}

#[test]
fn a_continued_run_has_the_rows_of_the_phases_that_it_keeps() {
    let library = tempfile::tempdir().unwrap();
    let settings = [("time", "1s"), ("sequential_time", "2s"), ("random_span", "64MiB")];
    let first = request(library.path(), test("corners"), &settings);
    let first = Request { ios: Some("1%".parse().unwrap()), ..first };
    let drive = || simulated(DRIVE, &[("scale", "1/512")]);
    let whole = run_quietly(&mut drive(), &first).unwrap();
    let mut phase = String::new();
    let cut = run_with(&mut drive(), &first, |event, stop| match event {
        Event::PhaseStarted { name, .. } => name.clone_into(&mut phase),
        Event::Second { .. } if phase == "sequential_write" => {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        _ => (),
    });
    let cut = cut.unwrap();
    assert!(!rows(&cut).is_empty(), "an interrupted run has its rows");
    let resume = Some(RunDir::open(&cut.dir).unwrap());
    let continued = run_quietly(&mut drive(), &Request { resume, ..first.clone() }).unwrap();
    assert!(continued.run.resumed.as_ref().is_some_and(|resumed| resumed.phases_kept > 0));
    assert_eq!(rows(&continued), rows(&whole));
}
