//! Do the tests of the suite follow their sources, and name their figures as scripts expect?

use std::path::Path;

use base::{Data, Op, OpKind};
use io::engine::sim::SimTarget;
use result::schema::{RunStatus, VerdictOutcome};
use result::store::RunDir;
use run::{Outcome, RunError};
use target::scripted::{Event as Asked, Reply, ScriptedTarget};
use target::{Target, TargetError};

use crate::common::{metric, request, run_quietly, simulated};

const MIB: u64 = 1 << 20;
const DRIVE: &str = "sandisk-extreme-ii-480gb";

/// Runs a test of this name; settings are `key=value` with spaces between.
fn run_test<T: Target>(
    target: &mut T,
    library: &Path,
    test: &str,
    settings: &str,
) -> Result<Outcome, RunError> {
    run_quietly(
        target,
        &request(library, test.parse().unwrap(), &crate::common::settings(settings)),
    )
}

/// A simulated drive of 1/256 of the size, with more keys.
fn small_drive(keys: &[(&str, &str)]) -> SimTarget {
    simulated(DRIVE, &[&[("scale", "1/256")], keys].concat())
}

/// The values of a model of 2 GB like that: a drive of full size, which keeps sentences about times.
const OF_2_GB: [(&str, &str); 4] = [
    ("capacity_gb", "2"),
    ("nand.pages_per_block", "1"),
    ("nand.blocks_per_plane", "1092"),
    ("nand.erase_ns", "19531"),
];

/// A simulated drive of 2 GB with more keys.
fn drive_of_2_gb(keys: &[(&str, &str)]) -> SimTarget {
    simulated(DRIVE, &[&OF_2_GB, keys].concat())
}

/// Runs a test on a small simulated drive to its end, and checks the run directory.
fn on_small_drive(test: &str, settings: &str) -> Outcome {
    on_drive(&mut small_drive(&[]), test, settings)
}

/// The same on one whose sectors are of 4 KiB.
fn on_small_4_kib_drive(test: &str, settings: &str) -> Outcome {
    on_drive(&mut small_drive(&[("interface.logical_block_bytes", "4096")]), test, settings)
}

fn on_drive(target: &mut SimTarget, test: &str, settings: &str) -> Outcome {
    let library = tempfile::tempdir().unwrap();
    let outcome = run_test(target, library.path(), test, settings).unwrap();
    assert_eq!(outcome.run.status, RunStatus::Complete, "{:?}", outcome.run.warnings);
    let dir = RunDir::open(&outcome.dir).unwrap();
    assert_eq!(dir.run().phases, outcome.run.phases, "run.json holds what the outcome does");
    assert_eq!(dir.contradictions().unwrap(), Vec::<String>::new());
    result::report::build("report", &[dir]).unwrap();
    outcome
}

/// Commands between the purges and fills, by their kinds.
fn kinds_of(ops: &[Op]) -> Vec<(OpKind, u32, Data)> {
    let mut kinds: Vec<_> = ops.iter().map(|op| (op.kind, op.len, op.data)).collect();
    kinds.dedup();
    kinds
}

#[test]
fn corners_issue_what_the_reference_says() {
    let library = tempfile::tempdir().unwrap();
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    let settings = "time=1s sequential_time=1s random_span=16MiB";
    let outcome = run_test(&mut target, library.path(), "corners", settings).unwrap();
    let purges = target.events().iter().filter(|(_, event)| *event == Asked::Purged).count();
    assert_eq!(purges, 9, "before the reads, before each kind of writes");
    let ops: Vec<Op> = target.ops().copied().collect();
    let (read, write) = (OpKind::Read, OpKind::Write);
    let (random, repeating) = (Data::Incompressible, Data::Repeating);
    let want = [
        (write, 131_072, random),
        (read, 4096, random),
        (write, 131_072, random),
        (write, 4096, random),
        (write, 131_072, random),
        (write, 4096, repeating),
        (write, 131_072, random),
        (write, 4096, random),
        (write, 131_072, random),
        (write, 4096, repeating),
        (write, 131_072, random),
        (read, 4096, random),
        (write, 131_072, random),
        (write, 4096, random),
        (write, 131_072, random),
        (read, 131_072, random),
        (write, 131_072, repeating),
    ];
    assert_eq!(kinds_of(&ops), want);
    assert!(ops.iter().filter(|op| op.len == 4096).all(|op| op.offset < 16 * MIB));
    let unaligned = ops.iter().filter(|op| op.len == 4096 && op.offset % 4096 == 512).count();
    let aligned = ops.iter().filter(|op| op.offset % 4096 == 0).count();
    assert_eq!(unaligned + aligned, ops.len());
    let iops = |step: &str| metric(&outcome, &format!("corners.{step}_unaligned.iops"));
    let told = iops("random_read") + iops("random_write");
    assert!((unaligned as f64 - told).abs() <= 6.0, "{unaligned} issued, {told} told");
    // One command a millisecond and slot: IOPS are the depth.
    let expected = [("random_read", 3), ("random_write_deep", 32), ("sequential_read", 1)];
    for (step, depth) in expected {
        let iops = metric(&outcome, &format!("corners.{step}.iops"));
        assert!((iops - f64::from(depth) * 1e3).abs() <= f64::from(depth), "{step}: {iops}");
    }
    let rate = metric(&outcome, "corners.sequential_read.mb_per_s");
    assert!((rate - 131.0).abs() < 0.3, "{rate}");
}

#[test]
fn a_sweep_reports_sizes_that_the_target_cannot_do() {
    let outcome = on_small_4_kib_drive("sweep", "sweep_span=16MiB");
    let notes = outcome.run.warnings.join("\n");
    for size in ["512B", "1KiB", "2KiB"] {
        assert!(notes.contains(&format!("transfers of {size} are not supported")), "{notes}");
        assert_eq!(outcome.run.metrics[&format!("sweep.read_{size}.mb_per_s")], None);
    }
    let table = &outcome.run.tables[0];
    let labels: Vec<_> = table.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!((labels.len(), labels[0], labels[14]), (15, "512B", "8MiB"));
    assert!(table.rows.iter().skip(3).all(|row| row.values.iter().all(Option::is_some)));
    let rate = |size: &str| metric(&outcome, &format!("sweep.write_{size}.mb_per_s"));
    assert!(rate("4KiB") < rate("8MiB"));
}

#[test]
fn a_linear_pass_writes_every_zone_fully_and_in_order() {
    let library = tempfile::tempdir().unwrap();
    let span = 64 * MIB + 4096;
    let mut target = ScriptedTarget::new(span, Reply::after_ns(1_000_000));
    let outcome = run_test(&mut target, library.path(), "linear", "").unwrap();
    let rows = RunDir::open(&outcome.dir).unwrap().phase_rows("write").unwrap();
    // 1/500 of the span rounded up to a whole command: two of them.
    let zone_bytes = 2 * 131_072;
    let offsets: Vec<_> = rows.seconds.iter().map(|row| row.offset_bytes.unwrap()).collect();
    let want: Vec<_> = (0..span.div_ceil(zone_bytes)).map(|zone| zone * zone_bytes).collect();
    assert_eq!(offsets, want);
    let bytes: u64 = rows.seconds.iter().map(|row| row.bytes[OpKind::Write.index()]).sum();
    assert_eq!(bytes, span, "every zone was fully written");
    let ops: Vec<Op> = target.ops().copied().collect();
    assert_eq!(kinds_of(&ops).len(), 4, "whole blocks and a rest, written and then read");
    let mean = metric(&outcome, "linear.write.mb_per_s");
    assert!((mean - 131.0).abs() < 0.5, "{mean}");
}

#[test]
fn every_test_runs_on_a_simulated_drive_and_says_something() {
    for (test, settings) in [
        ("corners", "time=1s sequential_time=1s"),
        ("incompressible", "time=1s"),
        ("linear", ""),
        ("full-write", ""),
        ("latency", "time=1s"),
        ("mixed", "time=1s read_percents=100,65,0"),
        ("qd-sweep", "time=1s"),
        ("pslc", "pauses=10s"),
    ] {
        let outcome = on_small_drive(test, settings);
        let run = &outcome.run;
        assert!(run.metrics.keys().all(|name| name.starts_with(test)), "{test}: {:?}", run.metrics);
        assert!(!run.tables.is_empty() && !run.findings.is_empty(), "{test}");
        for table in &run.tables {
            for label in ["QD", "span", "data", "idle time", "purge", "simulated"] {
                assert!(table.conditions.contains_key(label), "{test}: {label} is not told");
            }
            assert!(table.columns.iter().all(|column| !column.unit.is_empty()), "{test}: no unit");
        }
        let known = run.findings.iter().all(|f| run.metrics.contains_key(&f.metric));
        assert!(known, "{test}: a finding rests on no metric: {:#?}", run.findings);
    }
}

/// One command at a time, which runs first, must not use up the fresh spare area of two at a time.
#[test]
fn the_order_of_depths_changes_no_figure() {
    let depths = [1, 2, 4, 32];
    let writes = |order: &str| {
        let outcome = on_small_drive("qd-sweep", &format!("time=1s queue_depths={order}"));
        depths.map(|depth| metric(&outcome, &format!("qd-sweep.write_qd{depth}.iops")))
    };
    let (rising, falling) = (writes("1,2,4,32"), writes("32,4,2,1"));
    for (depth, (rising, falling)) in depths.into_iter().zip(rising.into_iter().zip(falling)) {
        assert!((rising / falling - 1.0).abs() < 0.02, "QD {depth}: {rising} and {falling}");
    }
    assert!(rising[0] < 0.95 * rising[1], "two at a time are faster than one: {rising:?}");
    assert!(rising.is_sorted_by(|a, b| *a < 1.005 * *b), "{rising:?}");
}

/// The steps of tests that compare them.
#[test]
fn every_step_that_writes_begins_on_a_purged_and_filled_drive() {
    for (test, settings) in [
        ("corners", "time=1s sequential_time=1s random_span=16MiB"),
        ("incompressible", "time=1s small_span=16MiB"),
        ("latency", "time=1s random_span=16MiB"),
        ("mixed", "time=1s random_span=16MiB read_percents=100,50,0"),
        ("qd-sweep", "time=1s random_span=16MiB write_bytes=16MiB queue_depths=1,4"),
        ("sweep", "sweep_span=16MiB"),
    ] {
        let library = tempfile::tempdir().unwrap();
        let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
        let outcome = run_test(&mut target, library.path(), test, settings).unwrap();
        let names: Vec<_> = outcome.run.phases.iter().map(|phase| phase.name.as_str()).collect();
        let prepares = |name: &str| ["purge", "prepare", "fill"].contains(&name);
        for (at, phase) in outcome.run.phases.iter().enumerate().filter(|(at, _)| *at > 0) {
            let writes = phase.what.contains("write") || phase.what.contains("commands");
            if writes && !prepares(names[at]) {
                assert!(prepares(names[at - 1]), "{test}: {} comes after others", names[at]);
            }
        }
    }
}

#[test]
fn depths_above_the_limit_of_the_drive_are_reported() {
    let outcome = on_small_drive("qd-sweep", "time=1s");
    assert!(
        metric(&outcome, "qd-sweep.read_qd32.iops") > metric(&outcome, "qd-sweep.read_qd1.iops")
    );
    assert_eq!(outcome.run.metrics["qd-sweep.read_qd64.iops"], None);
    let notes = outcome.run.warnings.join("\n");
    assert!(notes.contains("QD 64 is not supported: the target takes 32 commands"), "{notes}");
}

#[test]
fn conditions_are_those_of_the_phases_that_measure() {
    let outcome = on_small_drive("corners", "time=1s sequential_time=1s random_span=16MiB");
    let conditions = &outcome.run.tables[0].conditions;
    assert_eq!(conditions["QD"], "1, 3, 32");
    assert!(conditions["span"].starts_with("16.8 MB, "), "{conditions:?}");
    assert_eq!(conditions["data"], "incompressible, repeating");
    assert_eq!(conditions["idle time"], "none");
    assert_eq!(conditions["simulated"], "yes");
    let fast_cache = on_small_drive("pslc", "pauses=10s");
    assert_eq!(fast_cache.run.tables[0].conditions["idle time"], "10s");
}

#[test]
fn labels_say_what_was_run() {
    let outcome = on_small_drive("incompressible", "time=1s");
    let labels: Vec<_> = outcome.run.tables[0].rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels[0], "16 MiB sequential write, in commands of 1 MiB");
    assert_eq!(labels[4], "4 KiB random read, 32 outstanding", "64 asked for, the drive takes 32");
    let notes = outcome.run.warnings.join("\n");
    assert!(notes.contains("keep 32 outstanding and not 64"), "{notes}");
}

#[test]
fn reads_wait_behind_writes() {
    let outcome = on_small_drive("mixed", "time=2s read_percents=100,50");
    let table = &outcome.run.tables[0];
    let read_p99 = |row: usize| table.rows[row].values[4].unwrap();
    assert!(read_p99(1) > 2.0 * read_p99(0), "{table:#?}");
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    let library = tempfile::tempdir().unwrap();
    for (test, setting, word) in [
        ("corners", "time=5", "such as `60s`"),
        ("corners", "queue_depth=0", "at least 1"),
        ("sweep", "data=zeros", "incompressible, repeating"),
        ("sweep", "data=101%", "1% to 100%"),
        ("mixed", "read_percents=100,101", "share of reads is 101"),
        ("mixed", "read_percents=,", "cannot be used"),
        ("qd-sweep", "queue_depths=0", "queue depth is 0"),
        ("latency", "block=1000", "multiple of the target's"),
        ("pslc", "pauses=never", "a time such as"),
        ("linear", "passes=3", "there is no parameter `passes`"),
    ] {
        let error = run_test(&mut small_drive(&[]), library.path(), test, setting).unwrap_err();
        assert!(error.to_string().contains(word), "{test} {setting}: {error}");
    }
    assert_eq!(std::fs::read_dir(library.path()).unwrap().count(), 0, "no run directory is left");
}

/// Torture long enough for a drive of 1/256 to be in steady state, and no idle pass.
const TRIM_SHORT: &str = "torture=60s idle=0s";

#[test]
fn trim_makes_a_tortured_drive_fast_again() {
    let outcome = on_small_drive("trim", TRIM_SHORT);
    let verdict = outcome.run.verdict.as_ref().unwrap();
    assert_eq!(verdict.outcome, VerdictOutcome::Pass, "{}", verdict.text);
    assert!(verdict.text.starts_with("TRIM works: in 1 round with incompressible data"));
    assert!(metric(&outcome, "trim.tortured_share") < 0.9, "torture leaves a mark");
    assert!(metric(&outcome, "trim.after_trim_share") > 0.97);
    let names: Vec<_> = outcome.run.phases.iter().map(|phase| phase.name.as_str()).collect();
    let want =
        "purge fresh torture_2.r1 tortured.r1 torture_3.r1 trim.r1 after_trim.r1 purge.r1 fresh.r1";
    assert_eq!(names.join(" "), want);
    let labels: Vec<_> = outcome.run.tables[0].rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels.len(), 3, "{labels:?}");
}

/// Heat outlasts a purge, so that torture before it affects the fresh pass, too.
#[test]
fn torture_before_a_purge_stays_where_the_drive_is_warm_after_it() {
    let library = tempfile::tempdir().unwrap();
    let heat = [
        ("thermal.ambient_c", "30"),
        ("thermal.resistance_mk_per_w", "25_000"),
        ("thermal.capacity_mj_per_k", "40"),
    ];
    for (name, heat) in [("sandisk-extreme-ii-480gb", &heat[..0]), ("crucial-m500-480gb", &heat)] {
        let mut drive = simulated(name, &[&[("scale", "1/512")], heat].concat());
        let outcome = run_test(&mut drive, library.path(), "trim", "torture=1s idle=0s").unwrap();
        let names = outcome.run.phases.iter().map(|phase| phase.name.as_str());
        let before_purge = names.filter(|name| ["torture", "torture_4.r1"].contains(name));
        assert_eq!(before_purge.count(), if heat.is_empty() { 0 } else { 2 }, "{name}");
    }
}

/// At 1/256 a pass after TRIM of the 840 Pro is 12% slower than a fresh one: this comes from the
/// scale, and is no failure of TRIM.
#[test]
fn trim_is_right_or_silent_on_simulated_drives_of_any_scale() {
    let pro = "samsung-840-pro-256gb";
    for (drive, scale, seed) in
        [(DRIVE, "1/512", "3"), (pro, "1/512", "4"), (pro, "1/256", "5"), (DRIVE, "1/256", "6")]
    {
        for (deallocate, wrong) in
            [("works", VerdictOutcome::Fail), ("ignored", VerdictOutcome::Pass)]
        {
            let library = tempfile::tempdir().unwrap();
            let keys = [("scale", scale), ("seed", seed), ("interface.deallocate", deallocate)];
            let mut target = simulated(drive, &keys);
            let outcome = run_test(&mut target, library.path(), "trim", "torture=30s idle=0s");
            let verdict = outcome.unwrap().run.verdict.unwrap();
            assert_ne!(verdict.outcome, wrong, "{drive} {scale} {deallocate}: {}", verdict.text);
        }
    }
}

/// Every command takes the same time: torture leaves no mark, and TRIM has no effect.
#[test]
fn trim_on_a_target_that_torture_does_not_slow_down_cannot_tell() {
    let library = tempfile::tempdir().unwrap();
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    let outcome = run_test(&mut target, library.path(), "trim", "torture=1s idle=0s").unwrap();
    let verdict = outcome.run.verdict.unwrap();
    assert_eq!(verdict.outcome, VerdictOutcome::Inconclusive, "{}", verdict.text);
    let begin =
        "This run does not show whether TRIM works, because torture left no mark: in 1 round";
    assert!(verdict.text.starts_with(begin), "{}", verdict.text);
}

#[test]
fn trim_fails_on_a_drive_that_ignores_it() {
    let library = tempfile::tempdir().unwrap();
    let mut drive = small_drive(&[("interface.deallocate", "ignored")]);
    let outcome = run_test(&mut drive, library.path(), "trim", TRIM_SHORT).unwrap();
    let verdict = outcome.run.verdict.as_ref().unwrap();
    assert_eq!(verdict.outcome, VerdictOutcome::Fail, "{}", verdict.text);
    assert!(verdict.text.starts_with("TRIM does not work"), "{}", verdict.text);
}

#[test]
fn trim_of_both_kinds_of_data_and_after_idle_gives_eight_passes() {
    let outcome = on_small_drive("trim", "torture=2s idle=10m data=both");
    let purges = outcome.run.phases.iter().filter(|phase| phase.name == "purge").count();
    assert_eq!((purges, outcome.run.tables[0].rows.len()), (2, 8), "and one more in each round");
    assert!(metric(&outcome, "trim.repeating_after_idle.mb_per_s") > 0.0);
    assert!(metric(&outcome, "trim.after_idle_share") > 0.0);
}

#[test]
fn trim_looks_at_both_kinds_of_data_where_the_controller_compresses() {
    let passes = |keys: &[(&str, &str)]| {
        let library = tempfile::tempdir().unwrap();
        let mut drive = small_drive(keys);
        let outcome = run_test(&mut drive, library.path(), "trim", "torture=2s idle=0s").unwrap();
        (outcome.run.config["data"].clone(), outcome.run.tables[0].rows.len())
    };
    assert_eq!(passes(&[]), ("incompressible".into(), 3));
    let compressing = [("compression.granule_bytes", "1024"), ("gc.free_high", "5")];
    assert_eq!(passes(&compressing), ("both".into(), 6));
}

#[test]
fn trim_on_a_drive_without_it_is_refused_before_anything_is_touched() {
    let library = tempfile::tempdir().unwrap();
    let mut drive = small_drive(&[("interface.deallocate", "absent")]);
    let error = run_test(&mut drive, library.path(), "trim", TRIM_SHORT).unwrap_err();
    assert!(matches!(error, RunError::Target(TargetError::Unsupported(_))), "{error}");
    assert!(error.to_string().contains("cannot deallocate"), "{error}");
    assert_eq!(std::fs::read_dir(library.path()).unwrap().count(), 0);
}

#[test]
fn pts_rounds_go_on_until_the_tracked_figure_is_steady() {
    let outcome = on_small_drive("pts-throughput", "precondition=1");
    assert_eq!(metric(&outcome, "pts-throughput.rounds"), 5.0, "an even drive needs no sixth");
    assert_eq!(metric(&outcome, "pts-throughput.steady_from_round"), 1.0);
    let names: Vec<_> = outcome.run.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names[..4], ["purge", "precondition_1", "read100_1MiB.r1", "read0_1MiB.r1"]);
    assert_eq!(names.len(), 2 + 5 * 2);
    assert!(outcome.run.warnings[0].contains("1/60 of the specification's minute"));
    let table = &outcome.run.tables[0];
    for label in ["purge", "active range", "write cache", "data", "step", "outstanding commands"] {
        assert!(table.conditions.contains_key(label), "{label}: {:?}", table.conditions);
    }
    assert_eq!(table.conditions["purge"], "fresh-simulated-drive");
    assert_eq!(table.conditions["precondition"], "1 x 128KiB sequential");
    assert!(!table.conditions.contains_key("QD") && !table.conditions.contains_key("span"));
}

#[test]
fn pts_tables_have_the_rows_and_columns_of_the_specification() {
    let outcome = on_small_4_kib_drive("pts-latency", "precondition=1");
    let precondition = &outcome.run.tables[0].conditions["precondition"];
    assert_eq!(precondition, "1 x 128KiB sequential, 1 x 4KiB random");
    let table = &outcome.run.tables[0];
    let rows: Vec<_> = table.rows.iter().map(|row| row.label.as_str()).collect();
    let columns: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(rows, ["512B", "4KiB", "8KiB"]);
    assert_eq!(columns, ["100/0", "65/35", "0/100"]);
    assert!(table.rows[0].values.iter().all(Option::is_none), "no 512 B on 4 KiB blocks");
    assert!(table.rows[1].values.iter().all(Option::is_some));
    let maximum = &outcome.run.tables[1];
    let pairs =
        table.rows.iter().zip(&maximum.rows).flat_map(|(a, m)| a.values.iter().zip(&m.values));
    assert!(pairs.filter_map(|(a, m)| a.zip(*m)).all(|(average, most)| average <= most));
}

#[test]
fn pts_iops_measures_every_size_in_every_mix() {
    let library = tempfile::tempdir().unwrap();
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    let settings = "precondition=1 shorten=60 queue_depth=4";
    let outcome = run_test(&mut target, library.path(), "pts-iops", settings).unwrap();
    assert_eq!(metric(&outcome, "pts-iops.rounds"), 5.0);
    let table = &outcome.run.tables[0];
    assert_eq!((table.rows.len(), table.columns.len()), (8, 7));
    let cells = table.rows.iter().flat_map(|row| &row.values);
    assert!(cells.flatten().all(|iops| (3_990.0..=4_000.0).contains(iops)), "{table:?}");
    let reads = target.ops().filter(|op| op.kind == OpKind::Read).count() as f64;
    let share = reads / target.ops().count() as f64;
    // The mean of 100, 95, 65, 50, 35, 5 and 0, less the precondition.
    assert!((share - 0.5).abs() < 0.01, "{share}");
}

#[test]
fn write_saturation_ends_when_the_rate_is_steady_and_shows_the_fall() {
    let outcome = on_small_drive("pts-write-saturation", "step=2s");
    let (first, steady) = (
        metric(&outcome, "pts-write-saturation.first.iops"),
        metric(&outcome, "pts-write-saturation.steady.iops"),
    );
    assert!(steady < 0.5 * first, "{first} to {steady}");
    let span = outcome.run.span.span_bytes as f64;
    let written = metric(&outcome, "pts-write-saturation.written_bytes");
    assert!((2.0..=4.2).contains(&(written / span)), "{written} of {span}");
}

#[test]
fn idle_recovery_is_seen_on_a_drive_that_cleans_when_idle_and_on_no_other() {
    let settings = "precondition=1 cycles=3 burst=1s";
    let run = |keys: &[(&str, &str)]| {
        let library = tempfile::tempdir().unwrap();
        run_test(&mut drive_of_2_gb(keys), library.path(), "pts-hir", settings).unwrap()
    };
    let share =
        |run: &Outcome| metric(run, "pts-hir.wait50.iops") / metric(run, "pts-hir.steady.iops");
    let lazy = run(&[]);
    assert!((0.8..1.2).contains(&share(&lazy)), "{}", share(&lazy));
    let diligent = run(&[
        ("idle_gc.after_ns", "100000000"),
        ("idle_gc.free_target", "100"),
        ("idle_gc.pages_per_s", "100000"),
        ("idle_gc.valid_percent_max", "95"),
    ]);
    assert!(share(&diligent) > 1.3, "{}", share(&diligent));
    let text = &diligent.run.findings.last().unwrap().text;
    assert!(text.contains("recovers while idle"), "{text}");
}

/// The shortest form of the tests that vary the outstanding commands.
const DEMAND_SHORT: &str = "shorten=60 saturation=2m prewrite=1m point_prewrite=1m point_time=1m";

#[test]
fn demand_intensity_varies_threads_and_depth_and_reports_three_points() {
    let library = tempfile::tempdir().unwrap();
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(4_000_000)).queue_depth_max(36);
    let outcome = run_test(&mut target, library.path(), "pts-dirth", DEMAND_SHORT).unwrap();
    let table = |name: &str| outcome.run.tables.iter().find(|table| table.name == name).unwrap();
    let iops = table("iops");
    assert_eq!((iops.rows.len(), iops.columns.len()), (7, 7));
    // One command each 4 ms and slot: IOPS are the product of threads and depth over 4 ms.
    const COUNTS: [f64; 7] = [1.0, 2.0, 4.0, 6.0, 8.0, 16.0, 32.0];
    for (row, threads) in iops.rows.iter().zip(COUNTS) {
        for (value, depth) in row.values.iter().zip(COUNTS) {
            let want = (threads * depth <= 36.0).then_some(threads * depth * 250.0);
            assert_eq!(value.is_some(), want.is_some(), "{threads} x {depth}");
            let near = value.zip(want).is_none_or(|(iops, want)| (iops / want - 1.0).abs() < 0.02);
            assert!(near, "{threads} x {depth}: {value:?}");
        }
    }
    let point = |name: &str| metric(&outcome, &format!("pts-dirth.{name}"));
    assert_eq!((point("min.outstanding"), point("max.outstanding")), (1.0, 36.0));
    assert_eq!(point("mid.outstanding"), 16.0, "the nearest to 18.5 times 250 IOPS");
    assert!((point("max.latency_ns_p99999") - 4e6).abs() < 4e4);
    let histogram = &table("histogram").rows;
    let whole: f64 = histogram.iter().filter_map(|row| row.values[2]).sum();
    assert!((whole - 100.0).abs() < 1e-6, "{histogram:?}");
    let names: Vec<_> = outcome.run.phases.iter().map(|phase| phase.name.as_str()).collect();
    let points: Vec<_> = names.iter().filter(|name| name.starts_with("response_")).collect();
    assert_eq!(points, [&"response_oio36", &"response_oio16", &"response_oio1"]);
    let lengths: std::collections::BTreeSet<_> = target.ops().map(|op| op.len).collect();
    assert_eq!(Vec::from_iter(lengths), [4096, 8192, 131_072], "random pass, access, fill");
    assert_eq!(iops.conditions["outstanding commands"], "1 to 36");
    assert_eq!(iops.conditions["access"], "8KiB random, 65/35");
}

#[test]
fn the_composite_leaves_out_what_a_4_kib_drive_cannot_do_and_says_so() {
    let outcome = on_small_4_kib_drive("pts-cbw", DEMAND_SHORT);
    let notes = outcome.run.warnings.join("\n");
    assert!(notes.contains("sizes below 4KiB (a tenth of its commands) are left out"), "{notes}");
    assert!(notes.contains("points of more than 32 outstanding commands"), "{notes}");
    let iops = outcome.run.tables.iter().find(|table| table.name == "iops").unwrap();
    assert_eq!(iops.rows[6].values.iter().flatten().count(), 1, "32 threads of one command each");
    let of = |name: &str| metric(&outcome, &format!("pts-cbw.{name}"));
    assert!(of("oio32.iops") > of("oio1.iops"));
    assert!(of("saturation.steady_from_round") >= 1.0);
    assert_eq!(iops.conditions["write cache"], "write back");
    for label in ["purge", "active range", "data", "outstanding commands", "idle time", "simulated"]
    {
        assert!(iops.conditions.contains_key(label), "{label}: {:?}", iops.conditions);
    }
}

#[test]
fn sequential_writes_recover_after_random_ones() {
    let library = tempfile::tempdir().unwrap();
    let settings = "shorten=60 sequential=30m random=30m";
    let outcome = run_test(&mut drive_of_2_gb(&[]), library.path(), "pts-xsr", settings).unwrap();
    let table = outcome.run.tables.iter().find(|table| table.name == "steps").unwrap();
    assert_eq!(table.rows.len(), 3 * 30, "one row a minute");
    let rate = |name: &str| metric(&outcome, &format!("pts-xsr.{name}"));
    assert!(rate("random.mb_per_s") < 0.5 * rate("sequential.mb_per_s"));
    assert!(rate("recovery.first_mb_per_s") < 0.9 * rate("sequential.mb_per_s"));
    assert!(rate("recovery.mb_per_s") > 0.9 * rate("sequential.mb_per_s"));
    assert!((2.0..30.0).contains(&rate("recovery_s")), "{}", rate("recovery_s"));
    let text = &outcome.run.findings[0].text;
    assert!(text.contains("back at nine tenths"), "{text}");
}

#[test]
fn reads_writes_trims_and_flushes_are_mixed_as_asked_and_a_trim_moves_nothing() {
    let library = tempfile::tempdir().unwrap();
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    let settings =
        "time=1s random_span=16MiB read_percents=50 trim_percent=20 flush_percent=10 data=46%";
    let outcome = run_test(&mut target, library.path(), "mixed", settings).unwrap();
    let phase = outcome.run.phases.last().unwrap();
    let ops: Vec<Op> = target.ops().filter(|op| op.len <= 4096).copied().collect();
    let count = |kind| ops.iter().filter(|op| op.kind == kind).count();
    let share = |kind| 100.0 * count(kind) as f64 / ops.len() as f64;
    // 32,000 commands: five standard deviations are 1.4% at most.
    for (kind, percent) in [
        (OpKind::Read, 35.0),
        (OpKind::Write, 35.0),
        (OpKind::Deallocate, 20.0),
        (OpKind::Flush, 10.0),
    ] {
        assert!((share(kind) - percent).abs() < 1.5, "{kind:?}: {}%", share(kind));
    }
    let data = Data::Compressible { physical_percent: 46 };
    assert!(ops.iter().filter(|op| op.kind == OpKind::Write).all(|op| op.data == data));
    assert!(phase.what.contains("20% of them deallocations, 10% flushes"), "{}", phase.what);
    let moved = phase.bytes as f64 / 4096.0 / phase.ios as f64;
    assert!((moved - 0.7).abs() < 0.015, "only reads and writes move bytes: {moved}");
}

#[test]
fn trims_among_other_commands_are_refused_where_the_target_has_none() {
    let library = tempfile::tempdir().unwrap();
    let mut target = small_drive(&[("interface.deallocate", "absent")]);
    let settings = "random_span=16MiB trim_percent=1";
    let error = run_test(&mut target, library.path(), "mixed", settings).unwrap_err();
    assert!(matches!(error, RunError::Target(TargetError::Unsupported(_))), "{error}");
    let settings = "random_span=16MiB trim_percent=60 flush_percent=60";
    let error = run_test(&mut small_drive(&[]), library.path(), "mixed", settings).unwrap_err();
    assert!(error.to_string().contains("deallocations is 120"), "{error}");
}

#[test]
fn every_content_of_writes_can_be_asked_for() {
    let tests = [
        ("consistency", "duration=1s steady_from=0s"),
        ("mixed", "time=1s read_percents=0"),
        ("qd-sweep", "time=1s queue_depths=4"),
        ("sweep", ""),
        ("linear", ""),
        ("full-write", ""),
    ];
    let shrinking = Data::Compressible { physical_percent: 46 };
    let contents = [
        ("incompressible", Data::Incompressible),
        ("repeating", Data::Repeating),
        ("46%", shrinking),
    ];
    let library = tempfile::tempdir().unwrap();
    for (test, settings) in tests {
        for (word, data) in contents {
            let mut target = ScriptedTarget::new(16 * MIB, Reply::after_ns(1_000_000));
            let settings = format!("{settings} data={word}");
            let outcome = run_test(&mut target, library.path(), test, &settings).unwrap();
            let written = target.ops().filter(|op| op.kind == OpKind::Write);
            let with = written.filter(|op| op.data == data).count();
            assert!(with > 100, "{test} {word}: {with} writes hold it");
            assert_eq!(outcome.run.config["data"], word, "{test}");
        }
    }
}
