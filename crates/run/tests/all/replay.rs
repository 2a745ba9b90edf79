//! Does a replay follow the recording: order, depths, times, addresses?

use std::fs::File;
use std::path::Path;

use base::{Data, Nanos, Op, OpKind};
use load::trace::store::TraceWriter;
use load::trace::{Flags, Record, TraceInfo};
use result::schema::{MarkKind, RunStatus};
use result::store::RunDir;
use run::{Outcome, RunError};
use target::Target;
use target::scripted::{Event, Reply, ScriptedTarget};

use crate::common::{metric, request, run_quietly, simulated};

const MS: u64 = 1_000_000;
const CAPACITY: u64 = 1 << 20;

fn run_test<T: Target>(
    target: &mut T,
    library: &Path,
    test: &str,
    settings: &[(&str, &str)],
) -> Result<Outcome, RunError> {
    run_quietly(target, &request(library, test.parse().unwrap(), settings))
}

/// The replay of these records: the outcome, and every command with the time of its issue. Every
/// command takes 10 ms, so that simultaneous commands overlap.
fn replayed(records: &[Record], settings: &[(&str, &str)]) -> (Outcome, Vec<(u64, Op)>) {
    replayed_on(ScriptedTarget::new(CAPACITY, Reply::after_ns(10 * MS)), records, settings)
}

fn replayed_on(
    mut target: ScriptedTarget,
    records: &[Record],
    settings: &[(&str, &str)],
) -> (Outcome, Vec<(u64, Op)>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.trace.parquet");
    let mut writer = TraceWriter::new(File::create(&path).unwrap(), "x").unwrap();
    records.iter().for_each(|record| writer.push(record).unwrap());
    writer.finish(&TraceInfo::default()).unwrap();
    let path = path.to_string_lossy().into_owned();
    let mut all = vec![("trace", path.as_str()), ("purge", "false"), ("fill", "false")];
    all.extend(settings);
    let outcome = run_test(&mut target, dir.path(), "replay", &all).unwrap();
    assert_eq!(outcome.run.status, RunStatus::Complete, "{:?}", outcome.run.warnings);
    let ops = target.events().iter().filter_map(|(at, event)| match event {
        Event::Submitted(op) => Some((at.0, *op)),
        _ => None,
    });
    (outcome, ops.collect())
}

fn write(at_ms: u64, offset: u64, queue_depth: u16) -> Record {
    Record { queue_depth, ..Record::new(at_ms * MS, OpKind::Write, offset, 4096) }
}

fn issue_ms(ops: &[(u64, Op)]) -> Vec<u64> {
    ops.iter().map(|(at, _)| at / MS).collect()
}

#[test]
fn the_closed_form_keeps_depths_and_waits_only_where_the_drive_was_idle() {
    let depths = [1, 2, 2, 1, 1];
    let times = [0, 1, 2, 100, 101];
    let records: Vec<_> =
        times.iter().zip(depths).map(|(&at, depth)| write(at, at * 4096, depth)).collect();
    // Depth 2 goes along with the first at once; the third waits for an end; depth 1 waits for all, and for its pause.
    let (outcome, ops) = replayed(&records, &[("idle", "real")]);
    assert_eq!(issue_ms(&ops), [0, 0, 10, 108, 118]);
    // The first two end at one moment, so the third finds the drive idle.
    assert!((metric(&outcome, "queue_depth_mean") - 6.0 / 5.0).abs() < 1e-9);
    let (outcome, ops) = replayed(&records, &[("idle", "cap:25ms")]);
    assert_eq!(issue_ms(&ops), [0, 0, 10, 35, 45]);
    assert!((metric(&outcome, "busy_time_s") - 0.040).abs() < 1e-9, "{:?}", outcome.run.metrics);
    let (_, ops) = replayed(&records, &[("idle", "none")]);
    assert_eq!(issue_ms(&ops), [0, 0, 10, 20, 30]);
}

#[test]
fn the_open_form_keeps_times_whatever_the_drive_does() {
    let records: Vec<_> = [0, 1, 2, 100, 101].map(|at| write(at, at * 4096, 1)).to_vec();
    let (outcome, ops) = replayed(&records, &[("idle", "real"), ("form", "open")]);
    assert_eq!(issue_ms(&ops), [0, 1, 2, 100, 101]);
    assert!(metric(&outcome, "issue_lateness_ns_max") < 1.0);
    let late = [("idle", "real"), ("form", "open"), ("queue_depth_max", "1")];
    let (outcome, ops) = replayed(&records, &late);
    assert_eq!(issue_ms(&ops), [0, 10, 20, 100, 110]);
    assert!(metric(&outcome, "issue_lateness_ns_max") >= 18.0 * MS as f64);
}

/// A timer of a busy kernel wakes late; the replay wakes early, and spins from then on.
#[test]
fn a_late_timer_makes_no_command_late() {
    let records: Vec<_> = [0, 1, 2, 100, 101].map(|at| write(at, at * 4096, 1)).to_vec();
    let settings = [("idle", "real"), ("form", "open")];
    let lateness_ns = |oversleep_us: u64| {
        let mut target = ScriptedTarget::new(CAPACITY, Reply::after_ns(MS / 10));
        target.oversleep = Nanos(oversleep_us * 1000);
        let (outcome, _) = replayed_on(target, &records, &settings);
        metric(&outcome, "issue_lateness_ns_max")
    };
    assert!(lateness_ns(190) < 1.0);
    assert!(lateness_ns(900) > 500_000.0, "lateness is told where it cannot be helped");
}

/// The schedule of a command is its pause after the preceding one, or the end that makes room for
/// it. An end that it did not wait for subtracts nothing from its lateness.
#[test]
fn an_end_that_held_nothing_back_does_not_hide_lateness() {
    // The second is due at 9.9 ms; the first ends at 10 ms, while the processor is away until 10.4 ms.
    let second = Record { issue_ns: 9_900_000, ..write(0, 4096, 0) };
    let mut target = ScriptedTarget::new(CAPACITY, Reply::after_ns(10 * MS));
    target.overstay = Nanos(MS / 2);
    let settings = [("idle", "real")];
    let (outcome, ops) = replayed_on(target, &[write(0, 0, 0), second], &settings);
    assert_eq!(ops[1].0, 10_400_000);
    let late_ns = metric(&outcome, "issue_lateness_ns_max");
    assert!((490_000.0..510_000.0).contains(&late_ns), "{late_ns}");
    // At depth 1 it waits for that end by design, whatever pause was recorded.
    let records = [write(0, 0, 1), Record { issue_ns: MS, ..write(0, 4096, 1) }];
    let (outcome, ops) = replayed(&records, &settings);
    assert_eq!(issue_ms(&ops), [0, 10]);
    assert!(metric(&outcome, "issue_lateness_ns_max") < 1.0);
}

/// An omitted operation took its time all the same.
#[test]
fn the_pause_before_a_record_that_is_left_out_is_kept() {
    let flush = Record { queue_depth: 1, ..Record::new(50 * MS, OpKind::Flush, 0, 0) };
    let records = [write(0, 0, 1), flush, write(60, 4096, 1)];
    for form in ["open", "closed"] {
        let settings = [("idle", "real"), ("flush", "false"), ("form", form)];
        assert_eq!(issue_ms(&replayed(&records, &settings).1), [0, 60], "{form}");
    }
}

#[test]
fn an_empty_trace_is_refused_before_anything_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.trace.parquet");
    let mut writer = TraceWriter::new(File::create(&path).unwrap(), "x").unwrap();
    let trace = path.to_string_lossy().into_owned();
    let message = |settings: &[(&str, &str)]| {
        let mut target = ScriptedTarget::new(CAPACITY, Reply::after_ns(1));
        let settings = [&[("trace", trace.as_str())], settings].concat();
        let outcome = run_test(&mut target, dir.path(), "replay", &settings);
        assert_eq!(target.events().len(), 0);
        outcome.err().map(|error| error.to_string()).unwrap_or_default()
    };
    writer.push(&Record::new(0, OpKind::Flush, 0, 0)).unwrap();
    writer.finish(&TraceInfo::default()).unwrap();
    assert!(message(&[("flush", "false")]).contains("is empty: it holds no command"));
    let writer = TraceWriter::new(File::create(&path).unwrap(), "x").unwrap();
    writer.finish(&TraceInfo::default()).unwrap();
    assert!(message(&[]).contains("is empty: it holds no command"));
}

#[test]
fn a_trace_that_does_not_fit_says_how_many_of_its_commands_fold_and_how() {
    let records = [write(0, 0, 1), write(1, 8192, 1), write(2, CAPACITY + 8192, 1), write(3, 0, 1)];
    let told = |settings: &[(&str, &str)]| {
        let (outcome, _) = replayed(&records, settings);
        let warnings = outcome.run.warnings.join("\n");
        let findings: Vec<_> = outcome.run.findings.iter().map(|f| f.text.as_str()).collect();
        (metric(&outcome, "address_folded_share"), warnings, findings.join("\n"))
    };
    let (share, warnings, findings) = told(&[]);
    assert!((share - 0.25).abs() < 1e-9, "{share}");
    assert!(warnings.contains("addresses beyond wrap around"), "{warnings}");
    assert!(
        warnings.contains("1 of 4 commands lay where the span of 1MiB has no room"),
        "{warnings}"
    );
    assert!(findings.contains("25.0% of its commands (1 of 4)"), "{findings}");
    let (share, warnings, _) = told(&[("mapping", "scale")]);
    assert!((share - 1.0).abs() < 1e-9, "{share}");
    assert!(warnings.contains("scaled down"), "{warnings}");
    let (outcome, _) = replayed(&records[..2], &[]);
    assert_eq!(metric(&outcome, "address_folded_share"), 0.0);
    assert_eq!(outcome.run.findings.len(), 1, "{:?}", outcome.run.findings);
    assert!(!outcome.run.warnings.iter().any(|w| w.contains("wrap around")));
}

/// Two volumes that both begin at byte 0 are two places on the drive.
#[test]
fn volumes_are_replayed_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("volumes.csv");
    std::fs::write(&path, "1,0,8,1,70\n2,0,8,1,90\n3,8,8,1,70\n").unwrap();
    let trace = path.to_string_lossy().into_owned();
    let mut target = ScriptedTarget::new(4 << 20, Reply::after_ns(MS));
    let settings =
        [("trace", trace.as_str()), ("purge", "false"), ("fill", "false"), ("mapping", "wrap")];
    run_test(&mut target, dir.path(), "replay", &settings).unwrap();
    let offsets: Vec<_> = target.ops().map(|op| op.offset).collect();
    assert_eq!(offsets, [0, 1 << 20, 4096]);
}

#[test]
fn a_write_that_flushes_first_is_a_flush_and_a_write() {
    let commit = Record { flags: Flags::PREFLUSH | Flags::FUA, ..write(5, 8192, 1) };
    let records = [write(0, 0, 1), commit];
    let kinds = |ops: &[(u64, Op)]| ops.iter().map(|(_, op)| (op.kind, op.fua)).collect::<Vec<_>>();
    let (_, ops) = replayed(&records, &[]);
    let write = OpKind::Write;
    assert_eq!(kinds(&ops), [(write, false), (OpKind::Flush, false), (write, true)]);
    let (outcome, ops) = replayed(&records, &[("flush", "false")]);
    assert_eq!(kinds(&ops), [(write, false), (write, true)]);
    let told = outcome.run.warnings.iter().any(|w| w.contains("1 flushes and deallocations"));
    assert!(told, "{:?}", outcome.run.warnings);
}

#[test]
fn addresses_are_wrapped_scaled_or_moved() {
    let records =
        [write(0, 0, 1), write(1, 3 * CAPACITY + 8192, 1), write(2, 4 * CAPACITY - 4096, 1)];
    let offsets = |settings: &[(&str, &str)]| {
        let (outcome, ops) = replayed(&records, settings);
        (ops.iter().map(|(_, op)| op.offset).collect::<Vec<_>>(), outcome.run.warnings)
    };
    assert_eq!(offsets(&[]).0, [0, 8192, CAPACITY - 4096]);
    let (scaled, _) = offsets(&[("mapping", "scale")]);
    assert_eq!(scaled, [0, CAPACITY * 3 / 4 + 2048, CAPACITY - 4096]);
    let (moved, warnings) = offsets(&[("mapping", "offset:8KiB")]);
    assert_eq!(moved, [8192]);
    assert!(warnings.iter().any(|w| w.contains("2 commands lay outside the span")), "{warnings:?}");
}

#[test]
fn commands_become_whole_blocks_and_no_longer_than_the_target_takes() {
    let records = [
        Record { queue_depth: 1, ..Record::new(0, OpKind::Read, 700, 100) },
        Record { queue_depth: 1, ..Record::new(MS, OpKind::Read, 4096, 5 << 10) },
        Record { queue_depth: 1, ..Record::new(MS, OpKind::Deallocate, 700, 2000) },
    ];
    let (outcome, ops) = replayed(&records, &[("transfer_max", "4KiB")]);
    let extents: Vec<_> = ops.iter().map(|(_, op)| (op.kind, op.offset, op.len)).collect();
    let expected = [
        (OpKind::Read, 512, 512),
        (OpKind::Read, 4096, 4096),
        (OpKind::Read, 8192, 1024),
        (OpKind::Deallocate, 1024, 1536),
    ];
    assert_eq!(extents, expected);
    let warnings = &outcome.run.warnings;
    assert!(warnings.iter().any(|w| w.contains("2 commands were not multiples")), "{warnings:?}");
    assert!(warnings.iter().any(|w| w.contains("1 commands were longer")), "{warnings:?}");
}

#[test]
fn data_are_as_compressible_as_recorded() {
    let records = [write(0, 0, 1), Record { physical_percent: 46, ..write(1, 0, 1) }];
    let (_, ops) = replayed(&records, &[]);
    let data: Vec<_> = ops.iter().map(|(_, op)| op.data).collect();
    assert_eq!(data, [Data::Incompressible, Data::Compressible { physical_percent: 46 }]);
}

#[test]
fn slips_are_named_before_anything_is_touched() {
    let library = tempfile::tempdir().unwrap();
    let message = |settings: &[(&str, &str)]| {
        let mut target = ScriptedTarget::new(CAPACITY, Reply::after_ns(1));
        let outcome = run_test(&mut target, library.path(), "light", settings);
        assert_eq!(target.events().len(), 0);
        outcome.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(message(&[("idle", "some")]).contains("expected real, none"));
    assert!(message(&[("form", "x")]).contains("expected closed"));
    assert!(message(&[("mapping", "x")]).contains("expected wrap, scale"));
    assert!(message(&[("trace", "/no/such/trace")]).contains("/no/such/trace cannot be read"));
    assert!(message(&[("trace", "synth:x")]).contains("there is no scenario `x`"));
    assert!(message(&[("trace", "/x"), ("part", "1/2")]).contains("is for synthesised traces"));
}

/// A bench on a fresh drive finds data in every LBA that it reads, and leaves the rest of the drive free.
#[test]
fn a_bench_on_a_fresh_drive_writes_what_its_trace_uses_and_no_more() {
    let filled = |test: &str| {
        let library = tempfile::tempdir().unwrap();
        let target = simulated("ocz-vertex-3-240gb", &[]);
        let request = request(library.path(), test.parse().unwrap(), &[("part", "1/5000")]);
        let plan = run::session::plan(&request, &target.identity(), &target.limits()).unwrap();
        let mut steps = plan.procedure.steps.iter().flat_map(run::suite::Step::phases);
        let fill = steps.find(|phase| phase.name == "fill").unwrap();
        fill.what.clone()
    };
    assert!(filled("heavy").contains("within 80.0 GB"), "{}", filled("heavy"));
    assert!(filled("heavy-full").contains("within 240"), "{}", filled("heavy-full"));
}

/// The storage benches on a small simulated drive: their published depths are reached, and all figures are there.
#[test]
fn the_storage_benches_reach_their_depths_and_report_all_figures() {
    let published =
        [("heavy", Some(4.625), 0.59), ("light", None, 0.734), ("destroyer", Some(5.5), 0.0)];
    for (test, mean, at_1) in published {
        let library = tempfile::tempdir().unwrap();
        let drive = "sandisk-extreme-ii-480gb";
        let mut target = simulated(drive, &[("scale", "1/256")]);
        let part = if test == "destroyer" { "1/5000" } else { "1/400" };
        let outcome = run_test(&mut target, library.path(), test, &[("part", part)]).unwrap();
        assert_eq!(outcome.run.status, RunStatus::Complete, "{:?}", outcome.run.warnings);
        if let Some(mean) = mean {
            let found = metric(&outcome, "queue_depth_mean");
            assert!((found - mean).abs() < 0.02 * mean, "{test}: {found}");
        }
        let found = metric(&outcome, "queue_depth_1_share");
        assert!(at_1 == 0.0 || (found - at_1).abs() < 0.01, "{test}: {found}");
        for suffix in ["", "_read", "_write"] {
            for name in ["avg_data_rate_mb_per_s", "busy_time_s", "avg_service_time_us"] {
                assert!(metric(&outcome, &format!("{name}{suffix}")) > 0.0);
            }
            assert!(metric(&outcome, &format!("latency_ns_p50{suffix}")) > 0.0);
        }
        let last = outcome.run.findings.last().unwrap();
        assert!(last.text.contains("1/256 of its full size"), "{:?}", outcome.run.findings);
        assert_eq!(outcome.run.config["trace_origin"], "synthesised");
        assert!(
            metric(&outcome, "issue_lateness_ns_max") < 1.0,
            "waiting for the drive is not late"
        );
        let [kinds, groups] = &outcome.run.tables[..] else { panic!("two tables") };
        assert_eq!(kinds.rows[0].values[0], outcome.run.metrics["avg_data_rate_mb_per_s"]);
        assert_eq!(kinds.rows[2].values[4], outcome.run.metrics["latency_ns_p99_write"]);
        assert_eq!(groups.rows.len(), if test == "destroyer" { 6 } else { groups.rows.len() });
        for conditions in [&kinds.conditions, &groups.conditions] {
            assert_eq!(conditions["part"], part);
            assert_eq!(conditions["QD"], "as recorded, at most 32");
            assert_eq!(conditions["data"], "as recorded, else incompressible");
            assert_eq!(conditions["idle time"], "cap:25ms");
            let told = ["span", "purge", "write cache", "simulated"];
            assert!(told.iter().all(|label| conditions.contains_key(*label)), "{conditions:?}");
        }
        let dir = RunDir::open(&outcome.dir).unwrap();
        assert_eq!(dir.contradictions().unwrap(), Vec::<String>::new());
        result::report::build("report", &[dir]).unwrap();
    }
}

/// A row per second for years would fill the memory: refused before any change, with the length and
/// the way out.
#[test]
fn pauses_of_years_are_refused_with_their_length() {
    const DAY_MS: u64 = 86_400_000;
    const BEGUN_TICKS: u64 = 128_166_372_000_000_000;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.csv");
    let line = |at_ms: u64| format!("{},host,0,Write,0,4096,10\n", BEGUN_TICKS + at_ms * 10_000);
    std::fs::write(&path, [0, 1, 731 * DAY_MS].map(line).concat()).unwrap();
    let trace = path.to_string_lossy().into_owned();
    let replayed = |settings: &[(&str, &str)]| {
        let mut target = ScriptedTarget::new(CAPACITY, Reply::after_ns(10 * MS));
        let common = [("trace", trace.as_str()), ("purge", "false"), ("fill", "false")];
        let outcome =
            run_test(&mut target, dir.path(), "replay", &[common.as_slice(), settings].concat());
        outcome.map_err(|error| (error.to_string(), target.events().len()))
    };
    for idle in ["real", "cap:31d"] {
        for form in ["open", "closed"] {
            let (error, events) = replayed(&[("idle", idle), ("form", form)]).unwrap_err();
            let days = if idle == "real" { "731.0 days" } else { "31.0 days" };
            assert!(error.contains(days) && error.contains("--set idle=cap:25ms"), "{error}");
            assert_eq!(events, 0);
        }
    }
    let outcome = replayed(&[("idle", "cap:25ms")]).unwrap();
    assert_eq!(outcome.run.status, RunStatus::Complete);
}

/// A program that wrote at a recorded time waits from then on, also for a place in the queue.
#[test]
fn the_open_form_counts_from_the_recorded_time() {
    let records: Vec<_> = [0, 1, 2, 500].map(|at| write(at, at * 4096, 1)).to_vec();
    let settings = [("idle", "real"), ("form", "open"), ("queue_depth_max", "1")];
    let (outcome, ops) = replayed(&records, &settings);
    assert_eq!(issue_ms(&ops), [0, 10, 20, 500]);
    // 10, 19, 28 and 10 ms.
    let ms = |name: &str| metric(&outcome, name) / MS as f64;
    assert_eq!(ms("latency_ns_max"), 28.0);
    assert!((ms("latency_ns_mean") - 67.0 / 4.0).abs() < 0.2, "{}", ms("latency_ns_mean"));
    assert!((ms("device_latency_ns_max") - 10.0).abs() < 0.2);
    assert!((metric(&outcome, "avg_service_time_us") - 10_000.0).abs() < 1.0);
    let longest = outcome.run.tables[0].rows[2].values.clone();
    assert_eq!(longest[2], Some(10_000.0), "service time counts from the issue");
    let told = outcome.run.warnings.join("\n");
    assert!(!told.contains("could not keep up"), "half of the commands waited, for 18 ms: {told}");
    let (closed, _) = replayed(&records, &[("idle", "real")]);
    assert_eq!(closed.run.metrics["device_latency_ns_max"], None);
    assert_eq!(metric(&closed, "latency_ns_max"), 10.0 * MS as f64);
}

#[test]
fn a_drive_that_does_not_keep_up_with_recorded_times_is_told_with_the_second() {
    // A command of 10 ms every 100 ms, and from second 3 on every 5 ms.
    let early = (0..30).map(|i| i * 100);
    let late = (0..200).map(|i| 3_000 + i * 5);
    let records: Vec<_> = early.chain(late).map(|at| write(at, 4096 * (at % 64), 1)).collect();
    let settings = [("idle", "real"), ("form", "open"), ("queue_depth_max", "1")];
    let (outcome, _) = replayed(&records, &settings);
    let told = outcome.run.warnings.join("\n");
    assert!(told.contains("phase `replay`: the target could not keep up from second 3:"), "{told}");
    assert!(told.contains("199 of 230 commands"), "{told}");
    let (kept, _) = replayed(&records, &[("idle", "real"), ("form", "open")]);
    assert!(!kept.run.warnings.join("\n").contains("could not keep up"));
}

/// A thousand writes at one moment to a queue of 32, as a trace and as a workload with a rate: the
/// wait of the last is that of the whole burst.
#[test]
fn a_burst_takes_as_long_in_a_replay_as_in_a_workload() {
    let dir = tempfile::tempdir().unwrap();
    let workload = dir.path().join("rate.toml");
    let text = "[job.t]\nop=\"write\"\nblock=\"4KiB\"\npattern=\"sequential\"\nqueue_depth=32\n\
                rate=\"bursts(1000000000, on=1us, off=1s)\"\nbytes=\"4000KiB\"\n";
    std::fs::write(&workload, text).unwrap();
    let trace = dir.path().join("burst1000.trace.parquet");
    let mut writer = TraceWriter::new(File::create(&trace).unwrap(), "x").unwrap();
    let record = |i: u64| Record::new(0, OpKind::Write, i * 4096, 4096);
    (0..1000).for_each(|i| writer.push(&record(i)).unwrap());
    writer.finish(&TraceInfo::default()).unwrap();
    let p99 = |test: &str, settings: &[(&str, &str)], name: &str| {
        let mut target = simulated("intel-ssd-750-400gb", &[("scale", "1/64")]);
        let outcome = run_test(&mut target, dir.path(), test, settings).unwrap();
        (metric(&outcome, name), outcome)
    };
    let trace = trace.to_string_lossy().into_owned();
    let settings = [("trace", trace.as_str()), ("form", "open"), ("idle", "real")];
    let (replayed, outcome) = p99("replay", &settings, "latency_ns_p99");
    let workload = workload.to_string_lossy().into_owned();
    let settings = [("workload", workload.as_str())];
    let (driven, _) = p99("workload", &settings, "workload.t.latency_ns_p99");
    assert!((4.5e6..5.2e6).contains(&replayed), "{replayed}");
    assert!((replayed / driven - 1.0).abs() < 0.01, "{replayed} and {driven}");
    let device = metric(&outcome, "device_latency_ns_p99");
    assert!(device < replayed / 4.0, "{device}");
    let told = outcome.run.warnings.join("\n");
    assert!(told.contains("could not keep up from second 0: 968 of 1000 commands"), "{told}");
}

#[test]
fn the_closed_form_is_as_deep_as_the_trace_where_the_drive_is() {
    let records: Vec<_> = (1..=40).map(|depth| write(0, u64::from(depth) * 4096, depth)).collect();
    let (outcome, ops) = replayed(&records, &[]);
    assert_eq!(issue_ms(&ops), [0; 40]);
    assert_eq!(outcome.run.config["queue_depth_max"], 40);
    assert!(!outcome.run.warnings.join("\n").contains("greater depth"));
    let shallow = ScriptedTarget::new(CAPACITY, Reply::after_ns(10 * MS)).queue_depth_max(36);
    let (outcome, ops) = replayed_on(shallow, &records, &[]);
    assert_eq!(issue_ms(&ops).iter().filter(|&&ms| ms == 0).count(), 36);
    let told = outcome.run.warnings.join("\n");
    let expected = "4 commands were recorded at a greater depth than the 36 commands outstanding of \
                    this replay (up to 40)";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_replay_tells_the_work_inside_the_drive_and_reads_of_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mixed.trace.parquet");
    let mut writer = TraceWriter::new(File::create(&path).unwrap(), "x").unwrap();
    for i in 0..2000_u64 {
        let op = if i % 2 == 0 { OpKind::Write } else { OpKind::Read };
        writer.push(&Record::new(i * 10_000, op, i % 500 * 4096, 4096)).unwrap();
    }
    writer.finish(&TraceInfo::default()).unwrap();
    let trace = path.to_string_lossy().into_owned();
    let of = |fill: &str| {
        let mut target = simulated("samsung-840-pro-256gb", &[("scale", "1/256")]);
        let settings = [("trace", trace.as_str()), ("fill", fill)];
        run_test(&mut target, dir.path(), "replay", &settings).unwrap()
    };
    let filled = of("true");
    assert!(metric(&filled, "waf") >= 0.9, "{:?}", filled.run.metrics["waf"]);
    assert!(filled.run.metrics["gc_moved_pages"].is_some());
    assert!(filled.run.metrics["erased_superblocks"].is_some());
    let unwritten = |outcome: &Outcome| {
        let phase = outcome.run.phases.last().unwrap();
        let marks = outcome.run.marks.iter().filter(|mark| mark.kind == MarkKind::Unwritten);
        let marks: Vec<_> = marks.map(|mark| mark.metric.clone()).collect();
        (phase.reads_unwritten, marks)
    };
    assert_eq!(unwritten(&filled), (Some(0), vec![]));
    let empty = of("false");
    let (reads, marks) = unwritten(&empty);
    // Odd pages are only read.
    assert_eq!(reads, Some(1000));
    assert!(marks.iter().any(|metric| metric == "latency_ns_mean_read"), "{marks:?}");
    assert!(!marks.iter().any(|metric| metric.ends_with("_write")), "{marks:?}");
    let told = empty.run.warnings.join("\n");
    assert!(told.contains("never written, or were trimmed (commands: 1000)"), "{told}");
    let (scripted, _) = replayed(&[write(0, 0, 1)], &[]);
    assert_eq!(scripted.run.metrics["waf"], None);
    assert_eq!(scripted.run.phases[0].reads_unwritten, None, "not known is not 0");
}

/// A second recording in the file is told once, and so is a clock of whole seconds.
#[test]
fn what_the_clock_of_a_trace_did_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    let told = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        let trace = path.to_string_lossy().into_owned();
        let mut target = ScriptedTarget::new(8 << 20, Reply::after_ns(MS));
        let settings = [("trace", trace.as_str()), ("purge", "false"), ("fill", "false")];
        let outcome = run_test(&mut target, dir.path(), "replay", &settings).unwrap();
        let offsets: Vec<_> = target.ops().map(|op| op.offset / 4096).collect();
        (outcome.run.warnings.join("\n"), offsets)
    };
    let line = |day: u64, s: u64, page: u64| {
        format!("{} 1 p {} 8 W 6 0 {:032x}\n", s * 1_000_000_000, page * 8, day * 10 + s)
    };
    let days: String = (0..6).map(|i| line(i / 3, i % 3, i)).collect();
    let (text, pages) = told("two-days.fiu", &days);
    assert_eq!(text.matches("went back once").count(), 1, "{text}");
    assert_eq!(pages, [0, 1, 2, 3, 4, 5]);
    let second = |i: u64| format!("{},{},8,1,7\n", 1_538_323_200 + i / 5, i * 8);
    let (text, _) = told("cbs.csv", &(0..40).map(second).collect::<String>());
    assert_eq!(
        text.matches("the clock of the trace is coarse, with steps of 1s").count(),
        1,
        "{text}"
    );
}
