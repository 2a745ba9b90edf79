//! Exports hold the data of the run, and their readers agree.

use crate::common::{add_phase, load_rows, run_named};
use base::OpKind;
use result::export::{ExportError, csv, fio, markdown, png, svg};
use result::import;
use result::rows::{PhaseRows, SecondRow};
use result::schema::{Load, RunStatus};
use result::stats::latency::Latencies;
use result::store::{RunDir, RunWriter};
use tempfile::TempDir;

const SECONDS: u32 = 30;

fn random_writes() -> Load {
    Load {
        block_bytes: 4096,
        order: "uniform".to_owned(),
        queue_depth: 32,
        span_bytes: 480_000_000_000,
        ..Load::default()
    }
}

/// A run of one phase named `load` with these rows.
fn run_of(rows: &PhaseRows) -> (TempDir, RunDir) {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("exported");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    add_phase(&mut writer, &mut run, "load", rows);
    run.phases[0].load = Some(random_writes());
    run.metrics.insert("iops_mean".to_owned(), Some(123.456));
    run.status = RunStatus::Complete;
    writer.finish(&run).unwrap();
    let dir = RunDir::open(writer.path()).unwrap();
    (library, dir)
}

#[test]
fn an_import_of_the_export_has_the_figures_of_the_run() {
    let rows = load_rows(SECONDS, 10);
    let (_library, dir) = run_of(&rows);
    let there = tempfile::tempdir().unwrap();
    let file = there.path().join("fio.json");
    std::fs::write(&file, serde_json::to_vec(&fio(&dir).unwrap()).unwrap()).unwrap();
    let sheet = import::fio::read(&[file], &[]).unwrap().remove(0);
    let call = import::Call { tool_version: "ssdlab test".to_owned(), ..import::Call::default() };
    let imported = RunDir::open(&import::write(there.path(), sheet, &call).unwrap()).unwrap();
    let metric = |name: &str| {
        let name = format!("imported.randwrite_4KiB_qd32.{name}");
        imported.run().metrics[&name].unwrap_or_else(|| panic!("{name}"))
    };
    let ios: u64 = rows.seconds.iter().flat_map(|row| row.ios).sum();
    let rate = ios as f64 / f64::from(SECONDS);
    assert!((metric("iops") / rate - 1.0).abs() < 1e-12);
    assert!((metric("mb_per_s") / (rate * 4096.0 / 1e6) - 1.0).abs() < 1e-4);
    let latencies = Latencies::of_kind(&rows, OpKind::Write);
    let mean = latencies.mean_ns().unwrap();
    assert!((metric("latency_ns_mean") / mean - 1.0).abs() < 1e-9);
    assert_eq!(Some(metric("latency_ns_max")), latencies.max_ns());
    for (name, share) in [("p50", (1, 2)), ("p99", (99, 100))] {
        let share = base::Ratio::new(share.0, share.1).unwrap();
        let own = latencies.percentile_ns(share);
        assert_eq!(Some(metric(&format!("latency_ns_{name}"))), own, "{name}");
    }
}

#[test]
fn classes_of_latencies_add_up_to_all_commands() {
    let (_library, dir) = run_of(&load_rows(SECONDS, 10));
    let document = serde_json::to_value(fio(&dir).unwrap()).unwrap();
    let job = &document["jobs"][0];
    let shares = ["latency_ns", "latency_us", "latency_ms"];
    let shares = shares.iter().flat_map(|unit| job[*unit].as_object().unwrap().values());
    let sum: f64 = shares.map(|share| share.as_f64().unwrap()).sum();
    assert!((sum - 100.0).abs() < 1e-9, "{sum}");
    assert_eq!(job["job options"]["rw"], "randwrite");
    assert_eq!(job["job options"]["bs"], "4KiB");
}

#[test]
fn every_second_is_a_line_with_its_numbers() {
    let rows = load_rows(SECONDS, 10);
    let (_library, dir) = run_of(&rows);
    let text = String::from_utf8(csv(&dir).unwrap()).unwrap();
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|own| *own == name).unwrap();
    for row in &rows.seconds {
        let cells: Vec<_> = lines.next().unwrap().split(',').collect();
        assert_eq!(cells[place("second")], row.second.to_string());
        assert_eq!(cells[place("write_ios")], row.ios[1].to_string());
        assert_eq!(cells[place("latency_ns_max")], row.latency_ns_max.unwrap().to_string());
        assert_eq!(cells[place("host_pages")], row.telemetry.unwrap().host_pages.to_string());
    }
    assert_eq!(lines.next(), None);
    assert!(!names.contains(&"power_uw_mean"), "nobody measured power");
}

#[test]
fn a_graph_has_a_point_for_each_second_in_both_forms() {
    let (_library, dir) = run_of(&load_rows(SECONDS, 10));
    let drawn = svg(&dir).unwrap();
    assert_eq!(drawn.matches("<circle").count(), SECONDS as usize);
    assert!(drawn.contains("Example 480 (simulated): consistency"));
    let decoder = png_of(&png(&dir).unwrap());
    let is_point = |pixel: &[u8]| pixel[2] > pixel[0].saturating_add(60);
    let points = decoder.chunks(3).filter(|pixel| is_point(pixel)).count();
    assert!(points > 5 * SECONDS as usize, "{points} pixels of points");
}

fn png_of(file: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

#[test]
fn tables_hold_every_figure_with_its_unit() {
    let (_library, dir) = run_of(&load_rows(SECONDS, 10));
    let text = markdown(dir.run());
    assert!(text.contains("| iops_mean | 123.456 | IOPS |"), "{text}");
    assert!(text.contains(&dir.run().command));
}

#[test]
fn a_run_without_rows_says_what_it_has_instead() {
    let idle = SecondRow { duration_ns: 1_000_000_000, ..SecondRow::default() };
    let rows = PhaseRows { seconds: vec![idle], latencies: Vec::new() };
    let (_library, dir) = run_of(&rows);
    let error = fio(&dir).unwrap_err();
    assert!(matches!(error, ExportError::Nothing { .. }) && error.is_usage(), "{error}");
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("empty");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    run.status = RunStatus::Complete;
    writer.finish(&run).unwrap();
    let dir = RunDir::open(writer.path()).unwrap();
    assert!(svg(&dir).unwrap_err().to_string().contains("--as csv"));
}
