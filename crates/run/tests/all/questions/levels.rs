//! Do `sustained`, `fill-level` and `mixed-sizes` measure the states that they name?

use base::OpKind;
use result::schema::Run;
use run::Outcome;
use target::Target;
use target::scripted::{Event, Reply, ScriptedTarget};

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
fn cold_data_is_read_and_never_written_again() {
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    let own = "levels=25,75 time=1s steady_time=1s random_span=8MiB";
    let outcome = run_on(&mut target, "fill-level", own);
    let level = [
        "purge",
        "fill_25",
        "sequential_write_25",
        "sequential_read_25",
        "random_read_25",
        "precondition_25",
        "random_write_25",
        "single_read_25",
        "single_write_25",
    ];
    assert_eq!(names(&outcome.run)[..9], level);
    let mut cold = [16 * MIB, 48 * MIB].into_iter();
    let (mut end, mut filled) = (0, false);
    for (_, event) in target.events() {
        match event {
            Event::Purged => (end, filled) = (cold.next().expect("two levels"), false),
            Event::Submitted(op) if op.kind == OpKind::Read => {
                assert!(
                    filled && op.offset + u64::from(op.len) <= end,
                    "{op:?} reads no cold data"
                );
            }
            Event::Submitted(op) if op.offset < end => assert!(!filled, "{op:?} is on cold data"),
            Event::Submitted(op) => {
                filled = true;
                assert!(op.offset + u64::from(op.len) <= end + 8 * MIB, "{op:?}");
            }
            _ => {}
        }
    }
}

#[test]
fn a_fuller_drive_cleans_more() {
    let mut drive = simulated("sandisk-extreme-ii-480gb", &[("scale", "1/256")]);
    let own = "levels=10,90 time=2s steady_time=30s random_span=168MiB";
    let outcome = run_on(&mut drive, "fill-level", own);
    let waf = |level: u32| metric(&outcome, &format!("fill-level.random_write_{level}.waf"));
    let iops = |level: u32| metric(&outcome, &format!("fill-level.random_write_{level}.iops"));
    assert!(waf(90) > 1.1 * waf(10), "{} and {}", waf(10), waf(90));
    assert!(iops(90) < iops(10), "{} and {}", iops(10), iops(90));
    let read =
        |level: u32| metric(&outcome, &format!("fill-level.single_read_{level}.latency_ns_p50"));
    assert!((read(90) / read(10) - 1.0).abs() < 0.05, "reads of cold data do not change");
    assert!(outcome.run.tables[0].rows.iter().all(|row| row.values.iter().all(Option::is_some)));
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
    let library = tempfile::tempdir().unwrap();
    for (name, setting, word) in [
        ("fill-level", "levels=10,99", "has 99; expected percents of the span from 1 to 98"),
        ("fill-level", "random_span=1TiB", "more than the span"),
        ("mixed-sizes", "small=4KiB large=6KiB", "must be a multiple of the small size"),
        ("mixed-sizes", "large_percents=0,101", "expected shares from 0 to 100"),
        ("sustained", "burst_bytes=0", "would measure nothing"),
    ] {
        let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000));
        let request = request(library.path(), test(name), &settings(setting));
        let error = run_quietly(&mut target, &request).unwrap_err().to_string();
        assert!(error.contains(word), "{name} {setting}: {error}");
    }
    assert_eq!(std::fs::read_dir(library.path()).unwrap().count(), 0);
}
