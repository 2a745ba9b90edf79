//! Every surface of this crate with a run that has a mark of each kind, and old runs as they are read.

use crate::common::{KINDS, add_phase, load_rows, run_named};
use base::TargetKind;
use result::bench::{Digest, scan_one};
use result::expectation::Expectation;
use result::export::{fio, markdown, svg};
use result::marks;
use result::report::build;
use result::schema::{DataSample, HostUse, Mark, MarkKind, NullLoad, Run, RunStatus};
use result::stats::consistency::{Consistency, fresh_name};
use result::store::{RunDir, RunWriter};

const RATE: &str = "iops_mean";
const LATENCY: &str = "latency_ns_p99";

fn mark(metric: &str, kind: MarkKind) -> Mark {
    Mark { metric: metric.to_owned(), kind, text: format!("because of {kind:?}"), levels: None }
}

/// A run with both figures, each with a mark of this kind, as it is read back.
fn marked(kind: MarkKind) -> (tempfile::TempDir, RunDir) {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("marked");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    add_phase(&mut writer, &mut run, "load", &load_rows(60, 10));
    run.metrics = [RATE, LATENCY].map(|name| (name.to_owned(), Some(9e3))).into();
    run.marks = [RATE, LATENCY].map(|name| mark(name, kind)).into();
    run.status = RunStatus::Complete;
    writer.finish(&run).unwrap();
    let dir = RunDir::open(writer.path()).unwrap();
    (library, dir)
}

fn answer(text: &str, run: &Run) -> result::expectation::Answer {
    text.parse::<Expectation>().unwrap().answer(run)
}

#[test]
fn every_surface_tells_or_obeys_every_kind() {
    for kind in KINDS {
        let (_library, dir) = marked(kind);
        let run = dir.run();
        assert_eq!(run.marks.len(), 2, "{kind:?}");
        let text = &run.marks[0].text;
        let floor = answer(&format!("{RATE} >= 1"), run);
        assert_eq!(floor.is_met, !kind.disqualifies(), "{kind:?}");
        assert_eq!(floor.obstacle.as_ref(), Some(text).filter(|_| kind.disqualifies()));
        assert_eq!(floor.marks, [text.as_str()]);
        let ceiling = answer(&format!("{LATENCY} <= 1s"), run);
        let is_met = !kind.disqualifies() && kind != MarkKind::AtLeast;
        assert_eq!(ceiling.is_met, is_met, "{kind:?}");
        assert!(markdown(run).contains(text), "{kind:?}");
        let document = serde_json::to_value(fio(&dir).unwrap()).unwrap();
        assert_eq!(document["ssdlab marks"][0]["text"], text.as_str());
        let page = build("marks", std::slice::from_ref(&dir)).unwrap();
        assert_eq!(page.runs[0].marks, run.marks);
        let digest = Digest::of(&scan_one(dir.path()).unwrap()).unwrap();
        assert!(digest.row.run.marks.iter().all(|mark| mark.kind == kind));
        let words = match kind {
            MarkKind::NotSteady => "not in steady state",
            MarkKind::Interrupted => "interrupted",
            MarkKind::PartOfDrive => "a part of the drive",
            MarkKind::HostLimited => "limited by the host",
            _ => "run marked",
        };
        assert!(svg(&dir).unwrap().contains(words), "{kind:?}");
    }
}

#[test]
fn old_names_of_kinds_are_read_and_new_ones_written() {
    for (old, kind) in [("too-few-commands", MarkKind::FewSamples), ("scaled", MarkKind::Scale)] {
        assert_eq!(serde_json::from_value::<MarkKind>(old.into()).unwrap(), kind);
    }
    let names = KINDS.map(|kind| serde_json::to_value(kind).unwrap());
    let names = names.map(|name| name.as_str().unwrap().to_owned());
    assert_eq!(
        names.join(" "),
        "not-steady part-of-drive scale interrupted few-samples two-regimes host-limited at-least late-end \
         unsettled unwritten stopped"
    );
}

/// A run of an old version whose load ran for 60 s of the 80 that steady state wants, or 120.
fn old(seconds: u32, change: impl Fn(&mut Run)) -> (tempfile::TempDir, RunDir) {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("old");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    let rows = load_rows(seconds, 10);
    add_phase(&mut writer, &mut run, "load", &rows);
    let figures = Consistency::of(&rows, 80);
    run.findings = result::stats::findings::consistency(&run, &rows, &figures);
    run.metrics = figures.metrics;
    run.status = RunStatus::Complete;
    change(&mut run);
    writer.finish(&run).unwrap();
    let dir = RunDir::open(writer.path()).unwrap();
    (library, dir)
}

#[test]
fn an_old_run_is_judged_when_it_is_read() {
    let (_library, long) = old(120, |_| ());
    assert!(long.run().metrics["iops_steady_mean"].is_some() && long.run().marks.is_empty());
    let (_library, short) = old(60, |_| ());
    let run = short.run();
    assert_eq!(run.metrics["iops_steady_mean"], None);
    assert!(run.metrics["iops_fresh_mean"].is_some() && run.metrics["waf_fresh"].is_some());
    let marks: Vec<_> = marks::disqualifying(&run.marks, "iops_steady_mean").collect();
    assert_eq!(
        (marks[0].kind, marks[0].text.as_str()),
        (MarkKind::NotSteady, "the load ran for 60 s")
    );
    let text = &run.findings[0].text;
    assert!(text.contains("was not in steady state (the load ran for 60 s)"), "{text}");
    for finding in &run.findings {
        assert!(run.metrics[&finding.metric].is_some(), "{finding:?} rests on no figure");
    }
    assert!(!answer("iops_steady_mean >= 1", run).is_met);
}

#[test]
fn an_old_run_whose_rows_are_lost_keeps_its_figures() {
    let (library, short) = old(60, |_| ());
    std::fs::remove_file(short.path().join("series.parquet")).unwrap();
    let dir = RunDir::open(short.path()).unwrap();
    assert!(dir.run().metrics["iops_steady_mean"].is_some());
    drop(library);
}

#[test]
fn parts_of_drives_files_and_ends_are_marked_from_the_run_alone() {
    let kinds = |change: &dyn Fn(&mut Run)| {
        let (_library, dir) = old(120, change);
        let marks = dir.run().marks.clone();
        let of = marks.iter().filter(|mark| mark.metric == "fall_start_s");
        of.map(|mark| (mark.kind, mark.text.clone())).collect::<Vec<_>>()
    };
    let part = kinds(&|run| {
        (run.span.span_bytes, run.span.base) = (4 << 30, "bytes".to_owned());
    });
    assert_eq!(
        part,
        [(MarkKind::PartOfDrive, "of 4.3 GB of the 480.0 GB that the drive has".to_owned())]
    );
    let file = kinds(&|run| run.target.kind = TargetKind::File);
    assert!(file[0].1.contains("not of a drive"), "{file:?}");
    let spare = kinds(&|run| {
        (run.span.span_bytes, run.span.base) = (360_000_000_000, "raw".to_owned());
    });
    assert_eq!(spare, []);
    let cut = kinds(&|run| run.status = RunStatus::Interrupted);
    assert_eq!(cut, [(MarkKind::Interrupted, "the run was interrupted".to_owned())]);
}

#[test]
fn a_busy_thread_is_told_on_real_targets_only() {
    let kinds = |kind, share: f64| {
        let (_library, dir) = old(120, |run| {
            run.target.kind = kind;
            run.phases[0].host_busy_share = Some(share);
        });
        dir.run().marks.iter().any(|mark| mark.kind == MarkKind::HostLimited)
    };
    let (block, simulated) = (TargetKind::Block, TargetKind::Simulated);
    assert!(kinds(block, 0.95) && !kinds(block, 0.94) && !kinds(simulated, 1.0));
}

#[test]
fn processors_without_idle_time_are_told_unless_the_load_itself_spins() {
    let text = |thread: Option<f64>, processors: f64| {
        let (_library, dir) = old(120, |run| {
            run.target.kind = TargetKind::Block;
            run.phases[0].host_busy_share = thread;
            let host = HostUse { processors_busy_share: Some(processors), ..HostUse::default() };
            run.phases[0].host = Some(host);
        });
        let marks = &dir.run().marks;
        let mark = marks.iter().find(|mark| mark.kind == MarkKind::HostLimited);
        mark.map(|mark| mark.text.clone())
    };
    let full = text(Some(0.4), 0.97).unwrap();
    assert!(full.contains("the processors of the load had work for 97% of the time"), "{full}");
    assert!(text(Some(0.96), 0.99).unwrap().contains("a thread of the load was busy for 96%"));
    assert_eq!((text(Some(0.4), 0.94), text(None, 1.0)), (None, None));
}

#[test]
fn a_drive_nearly_as_fast_as_none_is_that_of_the_host() {
    let text = |kind, null_iops: u64| {
        let (_library, dir) = old(120, |run| {
            run.target.kind = kind;
            let phase = &mut run.phases[0];
            (phase.ios, phase.duration_ns) = (8_000_000, 20_000_000_000);
            let null_load = Some(NullLoad { ios: null_iops / 4, duration_ns: 250_000_000 });
            phase.host = Some(HostUse { null_load, ..HostUse::default() });
        });
        let marks = &dir.run().marks;
        let mark = marks.iter().find(|mark| mark.kind == MarkKind::HostLimited);
        mark.map(|mark| mark.text.clone())
    };
    let near = text(TargetKind::Block, 500_000).unwrap();
    assert!(
        near.contains("did 400,000 commands") && near.contains("(null) 500,000 at the same"),
        "{near}"
    );
    assert_eq!(
        (text(TargetKind::Block, 600_000), text(TargetKind::Simulated, 500_000)),
        (None, None)
    );
}

#[test]
fn reads_without_data_are_told_from_a_share_on() {
    let text = |sample: DataSample| {
        let (_library, dir) = old(120, |run| run.data_sample = Some(sample));
        let marks = &dir.run().marks;
        let mark = marks.iter().find(|mark| mark.kind == MarkKind::Unwritten);
        mark.map(|mark| mark.text.clone())
    };
    let sample = |constant, unwritten| DataSample {
        reads: 1000,
        constant,
        unwritten,
        unwritten_latency_ns_p50: Some(9_000),
        written_latency_ns_p50: Some(81_000),
    };
    assert_eq!(
        (text(sample(50, 50)), text(sample(300, 0)), text(sample(0, 0))),
        (None, None, None)
    );
    let told = text(sample(300, 60)).unwrap();
    for words in
        ["6% of a sample of 1000", "9.0 us and the others 81.0 us", "`ssdlab run full-write "]
    {
        assert!(told.contains(words), "{told}");
    }
    let zeros = sample(300, 0).warning("/dev/sdx").unwrap();
    assert!(zeros.contains("300 of 1000") && zeros.contains("count as data"), "{zeros}");
}

#[test]
fn every_steady_figure_with_a_counterpart_has_a_row_for_it() {
    for metric in result::metrics::catalogue() {
        let Some(fresh) = fresh_name(&metric.name) else { continue };
        let row = result::metrics::find(&fresh).unwrap_or_else(|| panic!("no row for {fresh}"));
        assert_eq!((row.unit, row.better), (metric.unit, metric.better), "{fresh}");
        assert!(row.name == fresh && row.chapter == "Not in steady state", "{fresh}");
    }
}
