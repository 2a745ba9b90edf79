//! Does `feel` tell drives apart only where a person would?

use base::OpKind;
use result::schema::Table;
use run::Outcome;
use target::Target;
use target::scripted::{Event, Reply, ScriptedTarget};

use super::must_refuse;
use crate::common::{metric, request, run_quietly, settings, simulated, test};

/// Shorter differences are none.
const FELT_S: f64 = 0.1;
const MS: u64 = 1_000_000;

fn run_on<T: Target>(target: &mut T, own: &str) -> Outcome {
    let library = tempfile::tempdir().unwrap();
    run_quietly(target, &request(library.path(), test("feel"), &settings(own))).unwrap()
}

/// A drive that answers each command after this time.
fn even(latency_ns: u64) -> ScriptedTarget {
    let mut target = ScriptedTarget::new(256 << 20, Reply::after_ns(latency_ns));
    target.limits.transfer_bytes_max = 32 << 20;
    target
}

fn table(outcome: &Outcome) -> &Table {
    outcome.run.tables.iter().find(|table| table.name == "feel").unwrap()
}

#[test]
fn sata_and_nvme_differ_where_a_person_would_notice() {
    let on = |name: &str| {
        let mut drive = simulated(name, &[("scale", "1/256")]);
        run_on(&mut drive, "gap=5s")
    };
    let (sata, nvme) = (on("samsung-840-pro-256gb"), on("generic-client-qlc-2tb"));
    let saved = |step: &str| {
        let name = format!("feel.{step}.time_s");
        metric(&sata, &name) - metric(&nvme, &name)
    };
    for step in ["game_start", "level_load", "vm_resume", "boot", "photo_import"] {
        assert!(saved(step) > 3.0 * FELT_S, "{step}: {} s", saved(step));
    }
    assert!(saved("app_start").abs() < FELT_S, "{}", saved("app_start"));
    let missed = |outcome: &Outcome| metric(outcome, "feel.world_streaming.missed_frames");
    // One frame in fifty needs 10 MiB, for which SATA takes 20 ms.
    assert!((30.0..300.0).contains(&missed(&sata)), "{}", missed(&sata));
    assert_eq!(missed(&nvme), 0.0);
    let share = metric(&sata, "feel.world_streaming.missed_frames_share");
    assert!((share * 3_600.0 - missed(&sata)).abs() < 1e-6, "{share}");
    // The day is the sum over the loads of the table.
    let rows = &table(&sata).rows;
    let timed = rows.iter().filter_map(|row| Some(row.values[0]? * row.values[4]?));
    let (day, sum) = (metric(&sata, "feel.day.time_s"), timed.sum::<f64>());
    assert!((day - sum).abs() < 1e-6 && day > 60.0, "{day} s, not {sum}");
    assert_eq!((rows.len(), rows[9].label.as_str(), rows[9].values[5]), (10, "a day", Some(day)));
}

#[test]
fn waits_and_missed_frames_are_counted_and_a_part_of_the_loads_has_no_day() {
    let own = "loads=app-start,world-streaming part=1/50 gap=1s";
    let mut target = even(20 * MS);
    let outcome = run_on(&mut target, own);
    assert_eq!(metric(&outcome, "feel.world_streaming.missed_frames"), 72.0);
    assert_eq!(metric(&outcome, "feel.world_streaming.missed_frames_share"), 1.0);
    assert_eq!(metric(&outcome, "feel.app_start.waits"), 0.0);
    assert_eq!(outcome.run.metrics["feel.day.time_s"], None);
    assert_eq!(table(&outcome).rows[0].values[4..], [None, None]);
    let warnings = outcome.run.warnings.join("\n");
    assert!(warnings.contains("the time in a day is unknown"), "{warnings}");
    assert!(outcome.run.findings.is_empty(), "{:?}", outcome.run.findings);
    let mut target = even(150 * MS);
    let outcome = run_on(&mut target, "loads=app-start part=1/50 gap=1s");
    let reads = target.events().iter().filter(|(_, event)| match event {
        Event::Submitted(op) => op.kind == OpKind::Read,
        _ => false,
    });
    assert_eq!(metric(&outcome, "feel.app_start.waits"), reads.count() as f64);
}

#[test]
fn every_read_is_of_filled_blocks_and_every_load_comes_after_a_pause() {
    let mut target = even(MS / 10);
    let outcome = run_on(&mut target, "part=1/100 gap=1s");
    let names: Vec<_> = outcome.run.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names[..4], ["purge", "fill", "pause_app_start", "app_start"]);
    assert_eq!((names.len(), names[19]), (20, "photo_import"));
    let ends = |kind| {
        let events = target.events().iter();
        let ends = events.filter_map(move |(_, event)| match event {
            Event::Submitted(op) if op.kind == kind => Some(op.offset + u64::from(op.len)),
            _ => None,
        });
        ends.collect::<Vec<_>>()
    };
    let filled = 256 * (1 << 20) * 8 / 10;
    let last_read = ends(OpKind::Read).into_iter().max().unwrap();
    assert!(last_read <= filled, "{last_read} is beyond {filled}");
    let filling = ends(OpKind::Write).into_iter().take_while(|end| *end <= filled).max();
    assert!(filling.is_some_and(|end| end >= last_read), "{filling:?}, {last_read}");
}

#[test]
fn a_part_or_a_load_that_cannot_be_is_refused() {
    must_refuse(&[
        ("feel", "part=0", "`--set part=0` leaves nothing to do; expected 1/1000 to 1"),
        ("feel", "part=2", "part"),
        ("feel", "loads=boot,coffee", "coffee"),
        ("feel", "loads=boot,boot", "twice"),
        ("feel", "rate=5", "its loads have a pace of their own"),
    ]);
}

#[test]
fn a_span_with_too_little_room_is_refused_with_the_span_that_is_needed() {
    let library = tempfile::tempdir().unwrap();
    let mut target = ScriptedTarget::new(16_000_000, Reply::after_ns(1_000));
    let request = request(library.path(), test("feel"), &[]);
    let error = run_quietly(&mut target, &request).unwrap_err().to_string();
    for words in ["a span of 16.0 MB has too little room for the loads of `feel`", "--span"] {
        assert!(error.contains(words), "{error}");
    }
}
