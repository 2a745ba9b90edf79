//! Do `sustained`, `fill-level` and `mixed-sizes` measure the states that they name?

use base::OpKind;
use result::schema::Run;
use run::Outcome;
use target::Target;
use target::scripted::{Event, Reply, ScriptedTarget};

use super::must_refuse;
use crate::common::{metric, request, run_quietly, settings, simulated, test};

const MIB: u64 = 1 << 20;

fn run_on<T: Target>(target: &mut T, name: &str, own: &str) -> Outcome {
    let library = tempfile::tempdir().unwrap();
    let request = request(library.path(), test(name), &settings(own));
    run_quietly(target, &request).unwrap()
}

fn names(run: &Run) -> Vec<&str> {
    run.phases.iter().map(|phase| phase.name.as_str()).collect()
}

/// A TLC drive with a cache that folds while the host is away.
#[test]
fn a_cache_that_is_used_up_comes_back_with_the_length_of_the_pause() {
    let mut drive = simulated("samsung-840-evo-250gb", &[("scale", "1/64")]);
    let own = "pauses=10ms,10m burst_bytes=24MiB";
    let outcome = run_on(&mut drive, "sustained", own);
    assert_eq!(
        names(&outcome.run)[1..],
        ["write", "pause_10ms", "burst_10ms", "pause_600s", "burst_600s"]
    );
    let fast = metric(&outcome, "sustained.write.fast_mb_per_s");
    let end = metric(&outcome, "sustained.write.end_mb_per_s");
    assert!(fast > 1.2 * end, "{fast} MB/s in the cache, {end} behind it");
    let regained =
        |pause: &str| metric(&outcome, &format!("sustained.burst_{pause}.regained_share"));
    assert!(regained("600s") > 0.9, "{}", regained("600s"));
    assert!(regained("10ms") < regained("600s"), "{}", regained("10ms"));
    let bursts = outcome.run.tables.iter().find(|table| table.name == "recovery").unwrap();
    let labels: Vec<_> = bursts.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["0.01", "600"]);
}

#[test]
fn an_even_target_has_nothing_to_regain() {
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    let outcome = run_on(&mut target, "sustained", "pauses=5s burst_bytes=16MiB");
    assert_eq!(outcome.run.metrics["sustained.burst_5s.regained_share"], None);
    assert_eq!(outcome.run.metrics["sustained.write.fast_bytes"], None);
    let finding = &outcome.run.findings[0].text;
    assert!(finding.contains("keeps its rate until it is full"), "{finding}");
}

#[test]
fn random_writes_go_to_all_of_the_filled_part_and_to_nothing_else() {
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    let own = "levels=25,100 overwrites=1 time=1s burst=1s pause=1s queue_depth=4";
    let outcome = run_on(&mut target, "fill-level", own);
    let names = names(&outcome.run);
    let level = [
        "purge",
        "fill_25",
        "precondition_25",
        "random_write_25",
        "pause_1_25",
        "burst_1_25",
        "pause_2_25",
        "burst_2_25",
        "pause_3_25",
        "paused_write_25",
        "single_read_25",
        "single_write_25",
        "sequential_write_25",
        "purge",
        "fill_100",
    ];
    assert_eq!(names[..level.len()], level);
    let is_rest = |name: &&str| name.ends_with("_written");
    assert!(names.iter().filter(|name| is_rest(name)).all(|name| name.contains("_25_")));
    // Filled, then written at random: the first and the third purge have a quarter of the drive.
    let (mut purges, mut fills, mut random) = (0, [0_u64; 3], [0_u64; 3]);
    for (_, event) in target.events() {
        match event {
            Event::Purged => purges += 1,
            Event::Submitted(op) if op.kind == OpKind::Write => {
                let ends = if op.len == 4096 { &mut random } else { &mut fills };
                let end = &mut ends[purges - 1];
                *end = (*end).max(op.offset + u64::from(op.len));
            }
            _ => {}
        }
    }
    assert_eq!(random.map(|end| end.div_ceil(MIB)), [16, 64, 16]);
    // The sequential write into free space takes 5% of the span.
    assert_eq!(fills.map(|end| end / MIB), [19, 64, 64]);
}

/// Free space is spare area, but only if the drive knows that it is free.
#[test]
fn a_fuller_drive_collects_more_and_one_with_other_data_as_much_as_a_full_one() {
    let mut drive = simulated("sandisk-extreme-ii-480gb", &[("scale", "1/256")]);
    let own = "levels=10,50,90,100 time=4s burst=50s pause=10s";
    let outcome = run_on(&mut drive, "fill-level", own);
    let figure = |step: &str, end: &str| metric(&outcome, &format!("fill-level.{step}.{end}"));
    let waf = |step: &str| figure(&format!("random_write_{step}"), "waf");
    assert!(
        waf("10") < 1.1 && waf("90") < waf("100"),
        "{} {} {}",
        waf("10"),
        waf("90"),
        waf("100")
    );
    assert!(waf("100") > 2.0 * waf("50"), "{} and {}", waf("50"), waf("100"));
    let (written, full) = (waf("90_written"), waf("100"));
    assert!((written / full - 1.0).abs() < 0.15, "{written} beside data, {full} on a full drive");
    let iops = |level: &str| figure(&format!("random_write_{level}"), "iops");
    assert!(iops("100") < 0.5 * iops("50"), "{} and {}", iops("50"), iops("100"));
    let kept = figure("trimmed", "kept_level_share");
    assert!((0.5..1.0).contains(&kept), "{kept}");
    let turn = figure("trimmed", "turn_level_share");
    assert!(turn > 0.5, "{turn}");
    assert!(outcome.run.findings[0].text.contains("keeps 80% of the former up to"));
    let full = outcome.run.tables[0].rows.last().unwrap();
    assert_eq!(full.values.last(), Some(&None), "a full drive has no free space");
    let others = &outcome.run.tables[0].rows[..3];
    assert!(others.iter().all(|row| row.values.iter().all(Option::is_some)));
}

/// A target that takes the same time for every command loses nothing, whatever the mix.
#[test]
fn sizes_that_do_not_disturb_each_other_give_what_is_expected() {
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    let own = "time=1s random_span=16MiB large_percents=0,25,100";
    let outcome = run_on(&mut target, "mixed-sizes", own);
    for step in ["read_large25", "write_large25"] {
        let share = metric(&outcome, &format!("mixed-sizes.{step}.of_expected_share"));
        assert!((share - 1.0).abs() < 0.001, "{step}: {share}");
    }
    let mixed = outcome.run.phases.iter().find(|phase| phase.name == "read_large25").unwrap();
    // A quarter is 32 times as long: five standard deviations of the mean length.
    let mean = mixed.bytes as f64 / mixed.ios as f64;
    let (expected, spread) = (0.75 * 4096.0 + 0.25 * 131_072.0, 54_970.0);
    assert!((mean - expected).abs() < 5.0 * spread / (mixed.ios as f64).sqrt(), "{mean}");
}

#[test]
fn levels_and_sizes_that_cannot_be_used_are_named() {
    must_refuse(&[
        ("fill-level", "levels=10,101", "expected rising percents of the span from 1 to 100"),
        ("fill-level", "levels=50,10", "expected rising percents of the span from 1 to 100"),
        ("fill-level", "rest=full", "expected some of trimmed, written"),
        ("mixed-sizes", "small=4KiB large=6KiB", "must be a multiple of the small size"),
        ("mixed-sizes", "large_percents=0,101", "expected shares from 0 to 100"),
        ("sustained", "burst_bytes=0", "would measure nothing"),
    ]);
}
