//! Old run directories stay readable: `tests/compat` has one example per schema version.
//! `SSDLAB_REGENERATE=1` rewrites the example of the present version; do that only before the
//! release of a version, and never for an older one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{add_phase, load_rows, run_named};
use base::OpKind;
use result::report::build;
use result::rows::PhaseRows;
use result::schema::{MarkKind, Phase, Run, RunStatus, SCHEMA_VERSION};
use result::stats::consistency::Consistency;
use result::stats::findings;
use result::stats::latency::marks_of_end;
use result::store::{RunDir, RunWriter};

const RUN_ID: &str = "20261121-031500-consistency-example-480-default-0000";
const STEADY_FROM_S: u32 = 80;

fn compat_dir(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/compat/v{version}"))
}

/// Writes the example below `library`, like a run; returns the expected reading. In that of version
/// 2, a command of the load ends after it, and another one has no answer.
fn write_example(library: &Path, version: u32) -> (Run, PhaseRows) {
    let mut run = Run { schema_version: version, ..run_named(RUN_ID) };
    let mut writer = RunWriter::create(library, &run).unwrap();
    add_phase(&mut writer, &mut run, "fill", &load_rows(10, 10));
    let mut rows = load_rows(120, 30);
    if version >= 2 {
        rows.count_late(&[(OpKind::Write, 7_000_000_000), (OpKind::Write, 9_000_000_000)]);
    }
    add_phase(&mut writer, &mut run, "load", &rows);
    let late = u64::from(version >= 2);
    run.phases[1] = Phase {
        ios_after_end: late,
        ios_unanswered: late,
        latency_ns_max_after_end: (version >= 2).then_some(9_000_000_000),
        ..run.phases[1].clone()
    };
    let figures = Consistency::of(&rows, STEADY_FROM_S);
    if version >= 2 {
        run.marks.clone_from(&figures.marks);
        run.marks.extend(marks_of_end(&run.phases[1], &figures.metrics, "latency_"));
    }
    run.findings = findings::consistency(&run, &rows, &figures);
    run.warnings.clone_from(&figures.warnings);
    run.metrics = figures.metrics;
    run.status = RunStatus::Complete;
    run.finished_unix_ns = run.started_unix_ns + 130_000_000_000;
    writer.finish(&run).unwrap();
    (run, rows)
}

#[test]
fn versions_stay_readable() {
    for version in 1..=SCHEMA_VERSION {
        is_readable(version);
    }
}

fn is_readable(version: u32) {
    let scratch = tempfile::tempdir().unwrap();
    let (run, rows) = write_example(scratch.path(), version);
    let committed = compat_dir(version);
    if std::env::var_os("SSDLAB_REGENERATE").is_some() && version == SCHEMA_VERSION {
        fs::create_dir_all(&committed).unwrap();
        for entry in fs::read_dir(scratch.path().join(RUN_ID)).unwrap() {
            let from = entry.unwrap().path();
            fs::copy(&from, committed.join(from.file_name().unwrap())).unwrap();
        }
    }
    let dir = RunDir::open(&committed).unwrap();
    assert_eq!(dir.run().schema_version, version);
    assert_eq!(dir.run().suite_version, 1, "files of the time before it was written");
    let of_longest = dir.run().marks.iter().filter(|mark| mark.metric == "latency_ns_max");
    let kinds: Vec<_> = of_longest.map(|mark| mark.kind).collect();
    let marked = [MarkKind::AtLeast, MarkKind::LateEnd];
    assert_eq!(kinds, if version < 2 { &marked[..0] } else { &marked[..] });
    let unknown = dir.run().metrics.keys().find(|name| result::metrics::find(name).is_none());
    assert_eq!(unknown, None, "a metric of version {version} is in no row of the catalogue");
    assert_eq!(dir.contradictions().unwrap(), Vec::<String>::new());
    assert_eq!(dir.run().phases, run.phases);
    assert_eq!(dir.run().target, run.target);
    let read = dir.phase_rows("load").unwrap();
    assert_eq!(read.seconds, rows.seconds);
    assert_eq!(read.latencies, rows.latencies);
}

#[test]
fn the_example_tells_its_story() {
    let dir = RunDir::open(&compat_dir(1)).unwrap();
    let texts: Vec<&str> = dir.run().findings.iter().map(|finding| finding.text.as_str()).collect();
    let story = texts.join("\n");
    for part in [
        "The simulated drive holds 131 IOPS on average from 80 s on, and 9 of 10 seconds stay \
         between 100 and 160 IOPS.",
        "has no second below half its mean from 80 s on; the slowest gives 100 IOPS.",
        "falls from 700 to 130 IOPS after 30 s, when its spare blocks are used up.",
        "settles at about 130 IOPS after 30 s.",
        "programs 5.00 pages of NAND for every page written from 80 s on.",
    ] {
        assert!(story.contains(part), "no `{part}` in\n{story}");
    }
    for finding in &dir.run().findings {
        let figure = dir.run().metrics.get(&finding.metric).copied().flatten();
        assert!(figure.is_some(), "{finding:?} rests on no figure");
        assert!(finding.text.contains("simulated"), "{finding:?}");
    }
}

#[test]
fn the_report_shows_the_load_phase() {
    let dir = RunDir::open(&compat_dir(1)).unwrap();
    let report = build("Example", std::slice::from_ref(&dir)).unwrap();
    let view = &report.runs[0];
    assert_eq!((view.run_id.as_str(), view.steady_from_s), (RUN_ID, STEADY_FROM_S));
    assert_eq!(view.started, "2026-11-21T03:15:00Z");
    let series = &view.series;
    let lengths = [
        series.iops.len(),
        series.latency_ns_p50.len(),
        series.waf.len(),
        series.telemetry["free_superblocks"].len(),
        series.telemetry["buffer_pages"].len(),
        series.die_busy_share.len(),
    ];
    assert_eq!(lengths, [120; 6]);
    assert!(series.time_s.is_empty(), "its intervals begin at 0, 1, 2 and so on");
    assert_eq!(series.iops[0], 700.0);
    assert_eq!((series.waf[0], series.waf[119]), (Some(1.0), Some(5.0)));
    assert_eq!(series.telemetry["buffer_pages"][0], Some(32));
    assert_eq!(series.die_busy_share[0], Some(0.7813));
    let counted: u64 = view.latency_bins.iter().map(|(_, count)| count).sum();
    assert_eq!(counted, dir.run().phases[1].ios);
}
