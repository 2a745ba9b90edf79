//! Does a run that only reads send nothing but reads, and does it tell of reads that found no data?

use std::fs::{self, File};

use base::{Data, Nanos, Op, OpKind};
use io::engine::sim::SimTarget;
use io::{OpenOptions, open_file};
use result::schema::{MarkKind, Run};
use run::{Request, Test};
use target::Target;
use target::scripted::{Event, Reply, ScriptedTarget};

use crate::common::{request, run_quietly, simulated, test};

const MIB: u64 = 1 << 20;

fn read_only(library: &std::path::Path, test: Test, settings: &[(&str, &str)]) -> Request {
    Request { read_only: true, ..request(library, test, settings) }
}

#[test]
fn the_reading_form_of_every_test_has_nothing_but_reads() {
    let drive = simulated("samsung-840-evo-250gb", &[("scale", "1/256")]);
    let (identity, limits) = (drive.identity(), drive.limits());
    let library = tempfile::tempdir().unwrap();
    let mut readers = Vec::new();
    for test in Test::ALL.into_iter().filter(|test| test.definition().reads_alone) {
        readers.push(test.name());
        assert!(test.writes() && !test.writes_in(true) && test.writes_in(false), "{test:?}");
        let plan = run::session::plan(&read_only(library.path(), test, &[]), &identity, &limits);
        let plan = plan.unwrap();
        assert!(
            plan.phases().all(|phase| phase.only_reads() && !phase.is_destructive()),
            "{test:?}"
        );
    }
    for named in ["corners", "qd-sweep", "latency", "sweep", "linear", "matrix"] {
        assert!(readers.contains(&named), "{named}");
    }
    let refused = read_only(library.path(), test("trim"), &[]);
    let error = run::session::plan(&refused, &identity, &limits).unwrap_err().to_string();
    assert!(error.contains("no step that only reads") && error.contains("corners"), "{error}");
}

#[test]
fn a_drive_gets_reads_alone_and_the_rest_of_the_figures_is_missing() {
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    let library = tempfile::tempdir().unwrap();
    let request = read_only(
        library.path(),
        test("corners"),
        &[("time", "2s"), ("sequential_time", "1s"), ("random_span", "16MiB")],
    );
    let run = run_quietly(&mut target, &request).unwrap().run;
    let events = target.events();
    let sent = events.iter().filter_map(|(_, event)| match event {
        Event::Submitted(op) => Some(op.kind),
        _ => None,
    });
    let sent: Vec<_> = sent.collect();
    assert!(sent.len() > 100 && sent.iter().all(|kind| *kind == OpKind::Read), "{}", sent.len());
    assert!(run.purge.is_none(), "{:?}", run.purge);
    assert!(run.metrics["corners.random_read.mb_per_s"].is_some());
    assert_eq!(run.metrics["corners.random_write.mb_per_s"], None);
    assert_eq!(run.config["read_only"], true);
}

#[test]
fn reads_of_a_drive_without_data_are_counted_and_marked() {
    let mut drive = simulated("samsung-840-evo-250gb", &[("scale", "1/256")]);
    let library = tempfile::tempdir().unwrap();
    let settings = [("time", "1s"), ("random_span", "64MiB")];
    let mut request = read_only(library.path(), test("latency"), &settings);
    request.recorded = Some(result::schema::Request { read_only: true, ..recorded() });
    let run = run_quietly(&mut drive, &request).unwrap().run;
    let phase = run.phases.iter().find(|phase| phase.name == "random_read").unwrap();
    assert_eq!(phase.reads_unwritten, Some(phase.ios + phase.ios_after_end));
    assert!(run.warnings.iter().any(|text| text.contains("found no data")), "{:?}", run.warnings);
    let is_marked = |metric: &str| {
        run.marks.iter().any(|mark| mark.metric == metric && mark.kind == MarkKind::Unwritten)
    };
    assert!(is_marked("latency.random_read.latency_ns_mean"), "{:?}", run.marks);
}

/// A drive whose first bytes are written.
fn written(len_bytes: u64) -> SimTarget {
    const BLOCK_BYTES: u32 = 128 << 10;
    let mut drive = simulated("samsung-840-evo-250gb", &[("scale", "1/256")]);
    let mut ended = Vec::new();
    for offset in (0..len_bytes).step_by(BLOCK_BYTES as usize) {
        let (kind, data) = (OpKind::Write, Data::Incompressible);
        let op = Op { kind, data, fua: false, placement: 0, len: BLOCK_BYTES, tag: 0, offset };
        drive.submit(&[op]);
        drive.reap(1, &mut ended).unwrap();
    }
    drive.idle_until(Nanos(drive.now().0 + 60 * Nanos::SECOND.0));
    drive
}

fn marks_of_unwritten(run: &Run) -> Vec<&str> {
    let marks = run.marks.iter().filter(|mark| mark.kind == MarkKind::Unwritten);
    marks.map(|mark| mark.text.as_str()).collect()
}

#[test]
fn blocks_that_nobody_wrote_are_told_by_how_fast_they_are() {
    let library = tempfile::tempdir().unwrap();
    let settings = [("time", "1s"), ("random_span", "64MiB")];
    let request = read_only(library.path(), test("latency"), &settings);
    let half = run_quietly(&mut written(32 * MIB), &request).unwrap().run;
    let sample = half.data_sample.unwrap();
    assert!((400..=600).contains(&sample.unwritten) && sample.reads == 1000, "{sample:?}");
    assert_eq!(sample.unwritten, sample.constant);
    let [unwritten, written_ns] =
        [sample.unwritten_latency_ns_p50, sample.written_latency_ns_p50].map(Option::unwrap);
    assert!(2 * unwritten < written_ns, "{sample:?}");
    let told = "were never written, or were trimmed";
    let marks = marks_of_unwritten(&half);
    assert!(!marks.is_empty() && marks.iter().all(|text| text.contains(told)), "{marks:?}");
    assert!(marks[0].contains("`ssdlab run full-write sim:"), "{marks:?}");
    assert!(half.warnings.iter().any(|text| text.contains("of a sample of 1000")), "{half:?}");
    assert!(half.tables[0].conditions["blocks without data"].ends_with("% of 1000 sampled"));
    let full = run_quietly(&mut written(64 * MIB), &request).unwrap().run;
    let sample = full.data_sample.unwrap();
    assert_eq!((sample.reads, sample.constant, sample.unwritten), (1000, 0, 0));
    assert_eq!(marks_of_unwritten(&full), Vec::<&str>::new());
}

#[test]
fn a_sparse_file_has_no_data_and_a_full_one_has() {
    let dir = tempfile::tempdir().unwrap();
    let sampled = |name: &str, is_full: bool| {
        let path = dir.path().join(name);
        if is_full {
            let mut random = base::Rng::new(1);
            let bytes: Vec<u8> =
                (0..4 * MIB / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect();
            fs::write(&path, bytes).unwrap();
        } else {
            File::create(&path).unwrap().set_len(4 * MIB).unwrap();
        }
        let mut target = open_file(&path, None, false, &OpenOptions::default()).unwrap();
        let settings = [("time", "1s"), ("random_span", "4MiB")];
        let request = read_only(&dir.path().join("runs"), test("latency"), &settings);
        run_quietly(&mut target, &request).unwrap().run
    };
    let (sparse, full) = (sampled("sparse", false), sampled("full", true));
    let sample = sparse.data_sample.unwrap();
    assert!(sample.reads > 0 && sample.unwritten == sample.reads, "{sample:?}");
    assert!(!marks_of_unwritten(&sparse).is_empty(), "{:?}", sparse.marks);
    let sample = full.data_sample.unwrap();
    assert!(sample.reads > 0 && sample.constant == 0, "{sample:?}");
    assert_eq!(marks_of_unwritten(&full), Vec::<&str>::new());
}

fn recorded() -> result::schema::Request {
    serde_json::from_value(serde_json::json!({
        "test": "latency", "target": "sim:x", "settings": [], "seed": 1, "workers": 1, "cpu": "near", "engine": "auto"
    }))
    .unwrap()
}
