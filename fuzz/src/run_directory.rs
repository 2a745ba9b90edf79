//! A run directory of which one file is hostile, through everything that reads one: `show`, `report`, the figures.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use base::{OpKind, TelemetryRow};
use result::compare::{Question, compare};
use result::report::build;
use result::rows::{LatencyRow, PhaseRows, SecondRow};
use result::schema::{Phase, Run};
use result::stats::consistency::Consistency;
use result::stats::health::HealthSummary;
use result::stats::notice::{Notice, is_paced};
use result::stats::{findings, power};
use result::store::{LATENCY_FILE, RUN_FILE, RunDir, RunWriter, SERIES_FILE, list};

const FILES: [&str; 3] = [RUN_FILE, SERIES_FILE, LATENCY_FILE];
/// Names of tests and phases that are read in ways of their own.
const TESTS: [(&str, &str); 3] = [("consistency", "load"), ("trim", "fresh"), ("power", "idle")];

/// The three files of a sound run of each test, in the order of [`FILES`]; without checksums, which would stop
/// nearly every input at the door.
static SOUND: LazyLock<Vec<[Vec<u8>; 3]>> =
    LazyLock::new(|| TESTS.iter().map(|(test, phase)| sound_run(test, phase)).collect());

/// Reads a run with `data` in the place of one of its files; the first byte says which, of which run.
pub(crate) fn read(data: &[u8]) {
    let Some((&choice, content)) = data.split_first() else { return };
    let (run, hostile) = (usize::from(choice) / 3 % TESTS.len(), usize::from(choice) % 3);
    let library = tempfile::tempdir().expect("a place for files");
    let dir = library.path().join("run");
    fs::create_dir(&dir).expect("a new name");
    for (index, (name, sound)) in FILES.iter().zip(&SOUND[run]).enumerate() {
        let content = if index == hostile { content } else { sound };
        fs::write(dir.join(name), content).expect("room for a file");
    }
    read_all(library.path(), &dir);
}

fn read_all(library: &Path, dir: &Path) {
    let _ = list(library);
    let Ok(dir) = RunDir::open(dir) else { return };
    let _ = dir.run().health.as_ref().and_then(HealthSummary::of);
    let _ = compare(&[dir.run()], &[dir.run()], &Question::default());
    // A run that contradicts itself is neither drawn nor counted.
    if dir.check().is_err() {
        assert!(build("title", &[dir]).is_err());
        return;
    }
    let page = build("title", &[dir.clone(), dir.clone()]).expect("the page of a sound run");
    let _ = serde_json::to_vec(&page).expect("a document");
    for index in 0..dir.run().phases.len() {
        count(dir.run(), &dir.rows(index).expect("they were read before"));
    }
}

/// Every figure and sentence that is made of rows.
fn count(run: &Run, rows: &PhaseRows) {
    for steady_from_s in [0, 1_400] {
        let figures =
            Consistency::of(rows, steady_from_s).with_busy_shares(rows, &run.target.details);
        let _ = findings::consistency(run, rows, &figures);
    }
    let _ = Notice::of(rows, is_paced(run)).finding();
    let _ = power::drawn(&rows.seconds);
}

/// Each file of each run, behind the byte that chooses it.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let files = SOUND.iter().flatten().zip(0_u8..);
    files.map(|(content, choice)| [&[choice], content.as_slice()].concat()).collect()
}

fn sound_run(test: &str, phase_name: &str) -> [Vec<u8>; 3] {
    let library = tempfile::tempdir().expect("a place for files");
    let template = include_str!("../../crates/result/tests/compat/v1/run.json");
    let mut run: Run = serde_json::from_str(template).expect("a run");
    run.test = test.to_owned();
    let rows = rows(30, test == "trim");
    run.phases = vec![phase(phase_name, &rows)];
    let mut writer = RunWriter::create(library.path(), &run).expect("a new directory");
    writer.write_phase(&run, phase_name, &rows).expect("room for a run");
    let dir = writer.path();
    let mut json: serde_json::Value =
        serde_json::from_slice(&fs::read(dir.join(RUN_FILE)).expect("written")).expect("JSON");
    json.as_object_mut().expect("a run").remove("checksums");
    fs::write(dir.join(RUN_FILE), json.to_string()).expect("room for a file");
    FILES.map(|name| fs::read(dir.join(name)).expect("written"))
}

fn phase(name: &str, rows: &PhaseRows) -> Phase {
    Phase {
        name: name.to_owned(),
        what: "example".to_owned(),
        duration_ns: rows.seconds.iter().map(|row| row.duration_ns).sum(),
        ios: rows.seconds.iter().flat_map(|row| row.ios).sum(),
        bytes: rows.seconds.iter().flat_map(|row| row.bytes).sum(),
        complete: true,
        ..Phase::default()
    }
}

/// A load that falls to a third half way.
fn rows(seconds: u32, are_zones: bool) -> PhaseRows {
    let mut rows = PhaseRows::default();
    for second in 0..seconds {
        let ios = if second < seconds / 2 { 300 } else { 100 };
        rows.seconds.push(SecondRow {
            second,
            start_ns: u64::from(second) * 1_000_000_000,
            duration_ns: 1_000_000_000,
            ios: [0, ios, 0, 0],
            bytes: [0, ios * 4096, 0, 0],
            latency_ns_max: Some(5_000_000),
            offset_bytes: are_zones.then_some(u64::from(second) << 20),
            power_uw_mean: Some(2_000_000),
            power_uw_max: Some(3_000_000),
            telemetry: Some(TelemetryRow { host_pages: ios, ..TelemetryRow::default() }),
            ..SecondRow::default()
        });
        let bin = |lower_ns, count| LatencyRow { second, op: OpKind::Write, lower_ns, count };
        rows.latencies.extend([bin(200, ios - 1), bin(4_980_736, 1)]);
    }
    rows
}
