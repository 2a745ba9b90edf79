//! Sample runs for tests: integers only, hence the same on every machine.

#![allow(dead_code, reason = "every test binary uses its own part")]

use base::{Histogram, Identity, OpKind, Ratio, TelemetryRow};
use result::rows::{LatencyRow, PhaseRows, SecondRow};
use result::schema::{About, MarkKind, Phase, Run, RunStatus, SCHEMA_VERSION, Span};
use result::store::RunWriter;

pub(crate) const WRITE_BYTES: u64 = 4_096;
const SUPERBLOCKS: u64 = 100;

/// A running run without phases.
pub(crate) fn run_named(run_id: &str) -> Run {
    Run {
        schema_version: SCHEMA_VERSION,
        run_id: run_id.to_owned(),
        tool_version: "ssdlab 0.1.0".to_owned(),
        suite_version: 1,
        test: "consistency".to_owned(),
        status: RunStatus::Running,
        started_unix_ns: 1_795_230_900_000_000_000,
        finished_unix_ns: 0,
        target: Identity {
            kind: base::TargetKind::Simulated,
            name: "Example 480".to_owned(),
            spec: "sim:example-480?scale=1/64".to_owned(),
            serial: None,
            firmware: Some("1.0".to_owned()),
            capacity_bytes: 480_000_000_000,
            raw_bytes: Some(549_755_813_888),
            log_bytes: None,
            engine: "simulator".to_owned(),
            facts: base::Facts::default(),
            details: [("sim.dies".to_owned(), "64".to_owned())].into(),
        },
        environment: [("kernel".to_owned(), "Linux 6.12".to_owned())].into(),
        seed: 1,
        config: [
            ("duration_s".to_owned(), 120.into()),
            ("steady_from_s".to_owned(), 80.into()),
            ("queue_depth".to_owned(), 32.into()),
        ]
        .into(),
        command: "ssdlab run consistency 'sim:example-480?scale=1/64' --seed 1".to_owned(),
        request: None,
        invocation: None,
        about: About::default(),
        repeat: None,
        resumed: None,
        span: Span {
            span_bytes: 480_000_000_000,
            variant: "default".to_owned(),
            base: "none".to_owned(),
        },
        origin: None,
        health: None,
        purge: None,
        data_sample: None,
        phases: Vec::new(),
        metrics: [].into(),
        marks: Vec::new(),
        verdict: None,
        tables: Vec::new(),
        findings: Vec::new(),
        warnings: Vec::new(),
        ios: None,
        left_out: Vec::new(),
    }
}

/// Every kind of mark.
pub(crate) const KINDS: [MarkKind; 12] = [
    MarkKind::NotSteady,
    MarkKind::PartOfDrive,
    MarkKind::Scale,
    MarkKind::Interrupted,
    MarkKind::FewSamples,
    MarkKind::TwoRegimes,
    MarkKind::HostLimited,
    MarkKind::AtLeast,
    MarkKind::LateEnd,
    MarkKind::Unsettled,
    MarkKind::Unwritten,
    MarkKind::Stopped,
];

/// A load that writes fast until the spare superblocks are used up, then slowly and unevenly.
pub(crate) fn load_rows(seconds: u32, fall_s: u32) -> PhaseRows {
    let mut rows = PhaseRows::default();
    for second in 0..seconds {
        let early = second < fall_s;
        let ios = if early { 700 } else { 100 + u64::from(second % 7) * 10 };
        let latency_ns = 32_000_000_000 / (ios * 1_000);
        let mut histogram = Histogram::new();
        for io in 0..ios {
            histogram.record(latency_ns + io * 97);
        }
        rows.latencies.extend(histogram.bins().map(|(lower_ns, count)| LatencyRow {
            second,
            op: OpKind::Write,
            lower_ns,
            count,
        }));
        rows.seconds.push(SecondRow {
            second,
            start_ns: u64::from(second) * 1_000_000_000,
            duration_ns: 1_000_000_000,
            ios: [0, ios, 0, 0],
            bytes: [0, ios * WRITE_BYTES, 0, 0],
            latency_ns_p50: histogram.quantile(Ratio::new(1, 2).unwrap()),
            latency_ns_p99: histogram.quantile(Ratio::new(99, 100).unwrap()),
            latency_ns_max: Some(latency_ns + (ios - 1) * 97),
            telemetry: Some(telemetry(second, fall_s, ios)),
            ..SecondRow::default()
        });
    }
    rows
}

fn telemetry(second: u32, fall_s: u32, ios: u64) -> TelemetryRow {
    let spare_left = u64::from(fall_s.saturating_sub(second)) * SUPERBLOCKS / u64::from(fall_s);
    let gc_moved_pages = if second < fall_s { 0 } else { ios * 4 };
    TelemetryRow {
        host_pages: ios,
        programmed_pages: ios + gc_moved_pages,
        gc_moved_pages,
        erased_superblocks: gc_moved_pages / 256,
        free_superblocks: spare_left.max(4),
        buffer_pages: 32,
        die_busy_ns: 50_000_000_000,
        channel_busy_ns: 4_000_000_000,
        ..TelemetryRow::default()
    }
}

/// The entry of `Run::phases` that fits `rows`.
pub(crate) fn phase(name: &str, rows: &PhaseRows) -> Phase {
    Phase {
        name: name.to_owned(),
        what: format!("example of {name}"),
        duration_ns: rows.seconds.iter().map(|row| row.duration_ns).sum(),
        ios: rows.seconds.iter().flat_map(|row| row.ios).sum(),
        bytes: rows.seconds.iter().flat_map(|row| row.bytes).sum(),
        complete: true,
        ..Phase::default()
    }
}

/// Adds a phase to a run and to its directory.
pub(crate) fn add_phase(writer: &mut RunWriter, run: &mut Run, name: &str, rows: &PhaseRows) {
    run.phases.push(phase(name, rows));
    writer.write_phase(run, name, rows).unwrap();
}

/// A `run.json` after an edit by a user, or of an old version.
pub(crate) fn without_checksums(text: &str) -> String {
    let mut run: serde_json::Value = serde_json::from_str(text).unwrap();
    run.as_object_mut().unwrap().remove("checksums").unwrap();
    run.to_string()
}
