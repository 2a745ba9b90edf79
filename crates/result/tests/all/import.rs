//! Results of other programs: their figures are those that the program printed, and every run says
//! where it comes from.

use std::fs;
use std::path::{Path, PathBuf};

use base::OpKind;
use result::import::{Call, ImportError, Sheet, fio, write, write_all};
use result::report::build;
use result::schema::Run;
use result::stats::consistency::configured_from_s;
use result::store::RunDir;
use serde_json::{Value, json};
use tempfile::TempDir;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import").join(name)
}

fn call() -> Call {
    Call {
        command: "ssdlab library import fio x".to_owned(),
        tool_version: "ssdlab test".to_owned(),
        now_unix_ns: 1_795_230_900_123_456_789,
        ..Call::default()
    }
}

/// The only sheet of files of fio.
fn one(paths: &[PathBuf]) -> Sheet {
    let mut sheets = fio::read(paths, &[]).unwrap();
    assert_eq!(sheets.len(), 1);
    sheets.remove(0)
}

/// The run directory of a sheet, beside the library that it stands in.
fn written(sheet: Sheet) -> (TempDir, RunDir) {
    let library = tempfile::tempdir().unwrap();
    let dir = RunDir::open(&write(library.path(), sheet, &call()).unwrap()).unwrap();
    (library, dir)
}

fn metric(run: &Run, name: &str) -> f64 {
    let found = run.metrics.get(name).copied().flatten();
    found.unwrap_or_else(|| panic!("no {name} in {:#?}", run.metrics))
}

/// The document of fio behind a fixture, without the words before it.
fn document(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str(&text[text.find("\n{").map_or(0, |at| at + 1)..]).unwrap()
}

/// Every figure of a kind equals fio's own.
fn assert_same(run: &Run, step: &str, direction: &Value) {
    let own = |name: &str| metric(run, &format!("imported.{step}.{name}"));
    assert_eq!(own("iops"), direction["iops"].as_f64().unwrap());
    assert_eq!(own("mb_per_s"), direction["bw_bytes"].as_f64().unwrap() / 1e6);
    let mean = direction["lat_ns"]["mean"].as_f64().unwrap();
    assert!((own("latency_ns_mean") / mean - 1.0).abs() < 1e-12, "{mean}");
    assert_eq!(own("latency_ns_max"), direction["lat_ns"]["max"].as_f64().unwrap());
    for (end, percent) in [("p50", "50"), ("p99", "99"), ("p999", "99.9"), ("p9999", "99.99")] {
        let percentiles = direction["clat_ns"]["percentile"].as_object().unwrap();
        let (_, ns) = percentiles
            .iter()
            .find(|(name, _)| name.trim_end_matches('0').trim_end_matches('.') == percent)
            .unwrap();
        assert_eq!(own(&format!("latency_ns_{end}")), ns.as_f64().unwrap(), "{end}");
    }
}

#[test]
fn figures_of_three_versions_are_those_that_fio_printed() {
    for (name, job, steps) in [
        ("fio-3.28.json", 0, &[("randread_4KiB_qd32", "read")][..]),
        ("fio-3.33.json", 0, &[("randwrite_4KiB_qd1", "write")]),
        (
            "fio-3.42.json",
            0,
            &[("randrw50_4KiB_qd1_read", "read"), ("randrw50_4KiB_qd1_write", "write")],
        ),
    ] {
        let path = fixture(name);
        let (_library, dir) = written(one(std::slice::from_ref(&path)));
        let document = document(&path);
        for (step, kind) in steps {
            assert_same(dir.run(), step, &document["jobs"][job][kind]);
        }
        let origin = dir.run().origin.clone().unwrap();
        assert_eq!(origin.tool, document["fio version"].as_str().unwrap());
        assert_eq!(origin.files, [path.display().to_string()]);
        assert!(origin.unknown.contains(&"purge".to_owned()));
        assert_eq!(dir.run().target.kind, base::TargetKind::Imported);
        dir.check().unwrap();
    }
}

#[test]
fn words_before_the_result_and_the_conditions_are_reported() {
    let sheet = one(&[fixture("fio-3.28.json")]);
    assert!(sheet.warnings.iter().any(|text| text.contains("terminating on signal 2")));
    assert_eq!(sheet.drive.as_deref(), Some("/dev/nvme0n1"));
    assert_eq!(sheet.config["ioengine"], json!("libaio"));
    assert_eq!(sheet.started_unix_ns, Some((1_700_000_100_000 - 10_001) * 1_000_000));
    let buffered = one(&[fixture("fio-3.42.json")]);
    assert!(buffered.warnings.iter().any(|text| text.contains("page cache")));
}

/// Neither clone of `numjobs=2` is the load.
#[test]
fn clones_are_one_step() {
    let path = fixture("fio-3.33.json");
    let (_library, dir) = written(one(std::slice::from_ref(&path)));
    let jobs = document(&path)["jobs"].clone();
    let sum = |name: &str| {
        [1, 2].map(|job: usize| jobs[job]["write"][name].as_f64().unwrap()).iter().sum::<f64>()
    };
    let own =
        |name: &str| metric(dir.run(), &format!("imported.randrw70_4KiB_qd1_jobs2_write.{name}"));
    assert!((own("iops") - sum("iops")).abs() < 1e-6);
    assert!((own("mb_per_s") - sum("bw_bytes") / 1e6).abs() < 1e-9);
    let p99s = [1, 2].map(|job: usize| {
        jobs[job]["write"]["clat_ns"]["percentile"]["99.000000"].as_f64().unwrap()
    });
    let between = p99s[0].min(p99s[1])..=p99s[0].max(p99s[1]);
    assert!(between.contains(&own("latency_ns_p99")), "{p99s:?}");
    assert_eq!(dir.run().phases.len(), 2);
}

#[test]
fn bins_become_the_histogram() {
    let path = fixture("fio-3.42.json");
    let (_library, dir) = written(one(std::slice::from_ref(&path)));
    let rows = dir.rows(0).unwrap();
    let reads = &document(&path)["jobs"][0]["read"];
    let histogram = rows.histogram(OpKind::Read, 0..1);
    assert_eq!(histogram.count(), reads["total_ios"].as_u64().unwrap());
    let p99 = histogram.quantile(base::Ratio::new(99, 100).unwrap()).unwrap() as f64;
    let of_fio = reads["clat_ns"]["percentile"]["99.000000"].as_f64().unwrap();
    assert!((p99 / of_fio - 1.0).abs() < 0.016, "{p99} {of_fio}");
}

/// A job of random writes with its logs: `seconds` averages of 1,000 ms, and a pause without lines.
fn job_with_logs(dir: &Path, seconds: u64) -> PathBuf {
    let job = json!({
        "fio version": "fio-3.36",
        "timestamp": 1_700_000_000,
        "global options": {"filename": "/dev/x", "direct": "1"},
        "jobs": [{
            "jobname": "w", "groupid": 0,
            "job options": {"rw": "randwrite", "bs": "4k", "iodepth": "32", "write_iops_log": "out/w",
                            "write_bw_log": "out/w", "log_avg_msec": "1000"},
            "write": {"io_bytes": 4096 * 1000 * seconds, "bw_bytes": 4_096_000, "iops": 1000.0,
                      "runtime": seconds * 1000, "total_ios": 1000 * seconds,
                      "lat_ns": {"min": 1, "max": 9_000_000, "mean": 31_000.5, "N": 1000 * seconds}}
        }]
    });
    let path = dir.join("w.json");
    fs::write(&path, job.to_string()).unwrap();
    let pause = 5..8;
    let lines = |value: u64| -> String {
        let ends = (1..=seconds).filter(|second| !pause.contains(&(second - 1)));
        ends.map(|second| format!("{}, {value}, 1, 0, 0\n", second * 1000 + 13)).collect()
    };
    fs::write(dir.join("w_iops.1.log"), lines(1000)).unwrap();
    fs::write(dir.join("w_bw.1.log"), lines(4000)).unwrap();
    fs::write(dir.join("other.txt"), "not of fio").unwrap();
    path
}

#[test]
fn logs_of_random_writes_are_drawn_second_by_second() {
    let dir = tempfile::tempdir().unwrap();
    job_with_logs(dir.path(), 40);
    let (_library, run) = written(one(&[dir.path().to_owned()]));
    assert_eq!(run.run().phases[0].name, "load");
    let rows = run.phase_rows("load").unwrap();
    assert_eq!(rows.seconds.len(), 40);
    let ios: Vec<_> = rows.seconds.iter().map(|row| row.ios[1]).collect();
    assert_eq!(&ios[4..9], [1000, 0, 0, 0, 1000]);
    assert_eq!(rows.seconds[20].bytes[1], 4_096_000);
    let page = build("title", std::slice::from_ref(&run)).unwrap();
    assert_eq!(page.runs[0].series.iops[20], 1000.0);
    assert!(page.runs[0].origin.is_some());
    assert_eq!(metric(run.run(), "iops_fresh_mean"), 1000.0);
    assert_eq!(metric(run.run(), "latency_ns_max"), 9_000_000.0);
}

#[test]
fn a_steady_rate_is_still_there_when_the_run_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = job_with_logs(dir.path(), 2_000);
    let mut job = document(&path);
    job["jobs"][0]["job options"]["size"] = json!("1g");
    fs::write(&path, job.to_string()).unwrap();
    let (_library, run) = written(one(&[dir.path().to_owned()]));
    assert_eq!(metric(run.run(), "iops_steady_mean"), 1000.0);
    assert_eq!(run.run().metrics.get("iops_fresh_mean"), Some(&None), "judged");
}

#[test]
fn a_long_load_is_judged_by_its_last_three_tenths() {
    let dir = tempfile::tempdir().unwrap();
    let path = job_with_logs(dir.path(), 4_000);
    let mut job = document(&path);
    // 1,400 s write 1.8 times this span, 2,800 s 3.6 times.
    job["jobs"][0]["job options"]["size"] = json!("3g");
    fs::write(&path, job.to_string()).unwrap();
    let (_library, run) = written(one(&[dir.path().to_owned()]));
    assert_eq!(configured_from_s(run.run()), 2_800);
    assert_eq!(metric(run.run(), "iops_steady_mean"), 1000.0);
}

#[test]
fn a_log_of_every_command_has_its_latencies() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("y_lat.1.log");
    let line = |ms: u64| format!("{ms}, {}, {}, 4096, {}, 0x0000\n", 1000 + ms, ms % 2, ms * 4096);
    fs::write(&log, (0..2_500).map(line).collect::<String>()).unwrap();
    let mut sheet = one(&[log]);
    sheet.drive = Some("y".to_owned());
    let (_library, run) = written(sheet);
    let rows = run.rows(0).unwrap();
    let ios: Vec<_> = rows.seconds.iter().map(|row| row.ios).collect();
    assert_eq!(ios, [[500, 500, 0, 0], [500, 500, 0, 0], [250, 250, 0, 0]]);
    assert_eq!(rows.seconds[2].latency_ns_max, Some(3_499));
    assert_eq!(rows.histogram(OpKind::Read, 0..3).count(), 1_250);
    assert_eq!(metric(run.run(), "imported.y_write.latency_ns_max"), 3_499.0);
}

/// The layout of bench-fio: `out/DEVICE/BLOCK/RW-DEPTH-JOBS.json`.
#[test]
fn a_folder_of_bench_fio_becomes_curves() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("out/nvme0n1/4k");
    fs::create_dir_all(&folder).unwrap();
    for (rw, kind) in [("randread", "read"), ("randwrite", "write")] {
        for depth in [1_u64, 8, 64] {
            let mut job = json!({
                "jobname": "iotest", "groupid": 0,
                "job options": {"rw": rw, "bs": "4k", "iodepth": depth.to_string(), "numjobs": "1"},
            });
            job[kind] = json!({"iops": depth as f64 * 1000.5, "bw_bytes": 1, "io_bytes": 4096, "runtime": 1000,
                "total_ios": 1, "clat_ns": {"mean": 5.0, "N": 1, "percentile": {"99.000000": depth * 10}}});
            let document = json!({"fio version": "fio-3.39", "global options": {"filename": "/dev/nvme0n1"}, "jobs": [job]});
            fs::write(folder.join(format!("{rw}-{depth}-1.json")), document.to_string()).unwrap();
        }
    }
    let (_library, run) = written(one(&[dir.path().to_owned()]));
    let table = run.run().tables.iter().find(|table| table.name == "depths").unwrap();
    let of = |label: &str| table.rows.iter().find(|row| row.label == label).unwrap().values.clone();
    assert_eq!(of("8"), [Some(8_004.0), Some(8_004.0), Some(80.0), Some(80.0)]);
    assert_eq!(of("2"), [None; 4]);
    assert_eq!(run.run().target.name, "/dev/nvme0n1");
}

fn refusal(name: &str, content: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, content).unwrap();
    let text = fio::read(std::slice::from_ref(&path), &[]).unwrap_err().to_string();
    assert!(text.contains(name), "{text}");
    text
}

#[test]
fn files_that_are_not_of_fio_are_refused_with_the_reason() {
    for (name, content, words) in [
        ("a.json", "", "no `fio version`"),
        ("a2.json", "{\"a\": 1}", "no `fio version`"),
        ("b.json", "{\"fio version\": \"fio-2.1\", \"jobs\": []}", "expected fio 3"),
        ("c.json", "{\"fio version\": \"fio-3.1\", \"jobs\": []}", "no jobs"),
        ("d.json", "{\"fio version\": \"fio-3.1\",\n \"jobs\": 7}", "line 2"),
        (
            "e.json",
            &format!("{{\"fio version\": \"fio-3.1\", \"more\": {}", "[".repeat(100_000)),
            "EOF while parsing",
        ),
        (
            "f_iops.1.log",
            "1000, 5, 1, 0\n2000, x, 1, 0\n",
            "line 2: expected a number as value, found `x`",
        ),
        ("g_iops.1.log", "99000000000, 5, 1, 0\n", "more than a week"),
        ("g_iops.1.log", "1000, 5, 1, 0\n18446744073709551615, 5, 1, 0\n", "more than a week"),
        ("h_lat.1.log", "600000000, 5, 1, 4096\n", "no log of a measurement"),
        ("i_bw.1.log", "1000, 5, 1, 0\n", "size of a command"),
    ] {
        let text = refusal(name, content);
        assert!(text.contains(words), "{name}: {text}");
        assert!(text.len() < 1_000, "{text}");
    }
}

#[test]
fn what_cannot_be_one_run_leaves_nothing_behind() {
    let library = tempfile::tempdir().unwrap();
    let mut sheet = one(&[fixture("fio-3.28.json")]);
    sheet.drive = None;
    let error = write(library.path(), sheet.clone(), &call()).unwrap_err();
    assert!(matches!(&error, ImportError::Usage(text) if text.contains("--drive")), "{error}");
    sheet.drive = Some("x".to_owned());
    let sound = sheet.clone();
    sheet.steps[0].rows.seconds[0].bytes[0] = u64::MAX;
    let error = write(library.path(), sheet.clone(), &call()).unwrap_err().to_string();
    assert!(error.contains("2^60"), "{error}");
    let error = write_all(library.path(), vec![sound.clone(), sheet], &call()).unwrap_err();
    assert!(error.to_string().contains("2^60"), "{error}");
    assert_eq!(library.path().read_dir().unwrap().count(), 0);
    let dirs = write_all(library.path(), vec![sound.clone(), sound], &call()).unwrap();
    assert_eq!(library.path().read_dir().unwrap().count(), 2, "two names for one start: {dirs:?}");
}

#[test]
fn a_simulated_drive_stays_one() {
    let library = tempfile::tempdir().unwrap();
    let sheet = one(&[fixture("fio-3.28.json")]);
    let sheet = Sheet { drive: Some("mine".to_owned()), ..sheet };
    let call = Call { is_simulated: true, ..call() };
    let dir = RunDir::open(&write(library.path(), sheet, &call).unwrap()).unwrap();
    assert!(dir.run().target.is_simulated() && dir.run().origin.is_some());
    assert_eq!(dir.run().target.name, "mine");
}
