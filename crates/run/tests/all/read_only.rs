//! Does a run that only reads send nothing but reads, and does it tell of reads that found no data?

use base::OpKind;
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
        let kind = result::schema::MarkKind::Unwritten;
        run.marks.iter().any(|mark| mark.metric == metric && mark.kind == kind)
    };
    assert!(is_marked("latency.random_read.latency_ns_mean"), "{:?}", run.marks);
}

fn recorded() -> result::schema::Request {
    serde_json::from_value(serde_json::json!({
        "test": "latency", "target": "sim:x", "settings": [], "seed": 1, "workers": 1, "cpu": "near", "engine": "auto"
    }))
    .unwrap()
}
