//! Results from the field with their right answers: figures by fio's own counts, or by hand.

use std::fs;
use std::path::{Path, PathBuf};

use result::import::{Call, ImportStep, Sheet, cdm, fio, name_drives, phoronix, write};
use result::schema::RunStatus;
use result::store::RunDir;

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/cases").join(name)
}

fn sheets(name: &str) -> Vec<Sheet> {
    fio::read(&[case(name)], &[]).unwrap()
}

fn one(name: &str) -> Sheet {
    let mut sheets = sheets(name);
    assert_eq!(sheets.len(), 1, "{name}");
    sheets.remove(0)
}

fn figure(step: &ImportStep, end: &str) -> f64 {
    let name = format!("{}.{end}", step.name);
    let value = step.metrics.get(&name).copied().flatten();
    value
        .or(step.metrics.get(&format!("{}{end}", step.name)).copied().flatten())
        .unwrap_or_else(|| panic!("no {name} in {:?}", step.metrics))
}

fn is_near(value: f64, want: f64) -> bool {
    (value / want - 1.0).abs() < 1e-4
}

fn has_warning(sheet: &Sheet, words: &str) -> bool {
    sheet.warnings.iter().any(|warning| warning.contains(words))
}

#[test]
fn the_sum_of_reads_and_writes_is_no_third_kind() {
    let sheet = one("unified_both.json");
    let [step] = &sheet.steps[..] else { panic!("one job") };
    assert_eq!(step.name, "randrw50_4KiB_qd8");
    assert!(is_near(figure(step, "_read.iops"), 42_432.5));
    assert!(is_near(figure(step, "_write.iops"), 42_438.5));
    assert_eq!((step.ios, step.bytes), (127_340 + 127_358, 1_043_243_008));
    assert_eq!(step.rows.seconds[0].ios[..2], [127_340, 127_358]);
    assert_eq!(step.metrics.keys().filter(|name| name.ends_with(".iops")).count(), 2);
}

/// Without reads and writes of their own, the sum is in no column of either.
#[test]
fn a_sum_alone_is_of_no_kind() {
    let text = fs::read_to_string(case("unified_both.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let job = document["jobs"][0].as_object_mut().unwrap();
    job.remove("read");
    job.remove("write");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mixed.json");
    fs::write(&path, document.to_string()).unwrap();
    let sheet = fio::read(&[path], &[]).unwrap().remove(0);
    assert!(is_near(figure(&sheet.steps[0], "iops"), 84_871.04));
    assert!(sheet.steps[0].rows.seconds.is_empty() && sheet.steps[0].rows.latencies.is_empty());
    let run =
        RunDir::open(&write(&dir.path().join("l"), sheet, &Call::default()).unwrap()).unwrap();
    result::report::build("title", &[run]).unwrap();
}

#[test]
fn a_group_of_two_loads_has_the_name_of_its_job() {
    let sheet = one("group_of_two_loads.json");
    let step = &sheet.steps[0];
    assert_eq!(step.name, "oltp-read");
    assert!(is_near(figure(step, "_read.iops"), 91_523.24));
    assert!(is_near(figure(step, "_write.iops"), 199.9));
    assert!(
        has_warning(&sheet, "read of 4KiB, write of 128KiB at depth 16 to 31"),
        "{:?}",
        sheet.warnings
    );
    assert!(sheet.tables.is_empty(), "no curve over a depth that is not the one of the load");
}

#[test]
fn the_last_complete_document_counts() {
    let sheet = one("status_normal_json.txt");
    let step = &sheet.steps[0];
    assert!(is_near(figure(step, "iops"), 109_591.8));
    assert_eq!((step.ios, step.duration_ns), (328_885, 3_001_000_000));
    assert!(has_warning(&sheet, "4 documents of fio"), "{:?}", sheet.warnings);
    // Killed within the fourth: the third one counts.
    let text = fs::read_to_string(case("status_normal_json.txt")).unwrap();
    let fourth = text.match_indices("\n{\n").nth(3).unwrap().0;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("killed.json");
    fs::write(&path, &text[..fourth + 3_000]).unwrap();
    let sheet = fio::read(&[path], &[]).unwrap().remove(0);
    assert_eq!(sheet.steps[0].ios, 312_809);
    assert!(has_warning(&sheet, "left out: line"), "{:?}", sheet.warnings);
}

#[test]
fn a_job_that_failed_has_no_figures() {
    let sheet = one("error28_partial.json");
    assert!(sheet.steps[0].metrics.values().all(Option::is_none), "{:?}", sheet.steps[0].metrics);
    assert!(has_warning(&sheet, "failed after 641 commands with error 28 (No space left"));
    let library = tempfile::tempdir().unwrap();
    let run = RunDir::open(&write(library.path(), sheet, &Call::default()).unwrap()).unwrap();
    assert_eq!(run.run().status, RunStatus::Failed);
    assert!(!run.run().phases[0].complete && run.run().phases[0].errors > 0);
    assert!(run.run().metrics.values().all(Option::is_none));
    result::report::build("title", &[run]).unwrap();
}

#[test]
fn conditions_in_the_data_are_told() {
    let steady = one("steady_not_attained.json");
    assert!(
        has_warning(&steady, "iops:0.010000% was not attained, 3.746753%"),
        "{:?}",
        steady.warnings
    );
    let alone = one("noengine_qd32.json");
    assert_eq!(alone.steps[0].name, "randread_4KiB_qd1");
    assert!(has_warning(&alone, "iodepth is 32, and 100% of the commands were issued at depth 1"));
    let direct = one("buffered0.json");
    assert!(!has_warning(&direct, "page cache"), "{:?}", direct.warnings);
    assert!(has_warning(&one("error28_partial.json"), "page cache"));
}

#[test]
fn a_job_without_options_is_named_as_fio_names_it() {
    let sheet = one("no_options.json");
    assert_eq!(sheet.steps[0].name, "a");
    assert!(has_warning(&sheet, "read of 4KiB at depth 8 to 15"), "{:?}", sheet.warnings);
    assert!(!has_warning(&sheet, "page cache"));
    for name in ["bom.json", "utf16_powershell.json"] {
        assert!(is_near(figure(&one(name).steps[0], "iops"), 111_176.27), "{name}");
    }
}

#[test]
fn hosts_are_runs_of_their_own() {
    let own = |sheet: &Sheet| {
        (sheet.drive.clone().unwrap(), figure(&sheet.steps[0], "iops").round() as u64)
    };
    let both: Vec<_> = sheets("client_two_hosts.json").iter().map(own).collect();
    let named = |host: &str, iops| (format!("{host}:/mnt/bench/t.bin"), iops);
    assert_eq!(both, [named("hostA", 77_998), named("hostB", 77_882)]);
    let read = |host: &str| fio::read(&[case("client_two_hosts.json")], &[host.to_owned()]);
    let [only] = &read("hostB").unwrap()[..] else { panic!("one host") };
    assert_eq!(own(only).1, 77_882);
    let error = read("hostC").unwrap_err().to_string();
    assert!(error.contains("--host hostC") && error.contains("hostA, hostB"), "{error}");
}

/// Two servers of one host write logs of the same names.
#[test]
fn logs_of_a_host_are_in_its_run() {
    let sheet = one("client_logs");
    let names: Vec<_> = sheet.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["randread_4KiB_qd4_jobs2", "randread_4KiB_qd4_jobs2_2", "cl"]);
    let ios: Vec<_> = sheet.steps[2].rows.seconds.iter().map(|row| row.ios[0]).collect();
    assert_eq!(ios, [19_470 + 19_380 + 19_393 + 19_973, 39_424]);
    assert!(has_warning(&sheet, "2 jobs write logs of this name"), "{:?}", sheet.warnings);
    assert_eq!(sheet.files.len(), 5, "{:?}", sheet.files);
}

#[test]
fn logs_of_two_folders_are_two_steps() {
    let sheet = one("two_hosts_logs");
    let own = |step: &ImportStep| (step.name.clone(), figure(step, "iops"), step.ios);
    let steps: Vec<_> = sheet.steps.iter().map(own).collect();
    let want = |name: &str| (name.to_owned(), 1_000.0, 5_000);
    assert_eq!(steps, [want("hostA_fio"), want("hostB_fio")]);
}

#[test]
fn a_cut_last_line_is_left_out() {
    let sheet = one("truncated");
    assert!(has_warning(&sheet, "last line is cut"), "{:?}", sheet.warnings);
    let step = &sheet.steps[0];
    assert_eq!((figure(step, "iops"), step.ios, step.duration_ns), (1_000.0, 5_000, 5_000_000_000));
    assert_eq!(step.metrics["l.mb_per_s"], None, "a log of commands does not tell their sizes");
}

#[test]
fn drives_of_one_document_are_runs_of_their_own() {
    let mut both = sheets("one_json_two_drives.json");
    let drives = |sheets: &[Sheet]| {
        sheets.iter().map(|sheet| sheet.drive.clone().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(drives(&both), ["/dev/nvme1n1", "/dev/nvme2n1"]);
    let name = |sheets: &mut [Sheet], names: &[&str]| {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        name_drives(sheets, &names).map_err(|error| error.to_string())
    };
    name(&mut both, &["ACME=/dev/nvme1n1", "a=b=/dev/nvme2n1"]).unwrap();
    assert_eq!(drives(&both), ["ACME", "a=b"]);
    let error = name(&mut both, &["ACME"]).unwrap_err();
    assert!(error.contains("several drives (/dev/nvme1n1, /dev/nvme2n1)"), "{error}");
    let error = name(&mut both, &["ACME=/dev/sda"]).unwrap_err();
    assert!(error.contains("nothing of `/dev/sda`"), "{error}");
}

#[test]
fn lists_wrappers_and_indentation_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let document = fs::read_to_string(case("buffered0.json")).unwrap();
    for (name, text, count) in [
        ("wrapper", format!("{{\"tool\": \"x\", \"results\": {{\"fio\": {document}}}}}"), 1),
        ("list", format!("[{document}, {document}]"), 2),
        ("deeper", format!("{{\"a\": [1, {{\"b\": [{document}]}}]}}"), 1),
        ("indented", format!("noise {{\n  {{ not JSON\n    {document}\nmore }}\n"), 1),
        ("cut-list", format!("[\n{document},\n{{\"fio version\": "), 1),
    ] {
        let path = dir.path().join(format!("{name}.json"));
        fs::write(&path, text).unwrap();
        let sheet =
            fio::read(&[path], &[]).unwrap_or_else(|error| panic!("{name}: {error}")).remove(0);
        assert_eq!(sheet.steps.len(), count, "{name}");
        assert!(is_near(figure(&sheet.steps[0], "iops"), 94_543.49), "{name}");
    }
}

#[test]
fn files_that_were_not_read_are_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(case("buffered0.json"), dir.path().join("a.json")).unwrap();
    for (name, text) in [
        ("notes.txt", "x"),
        ("package.json", "{}"),
        ("x_bw.1.log.gz", "\u{1f}"),
        ("empty.json", ""),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    std::os::unix::fs::symlink("/etc/hostname", dir.path().join("link.json")).unwrap();
    let sheet = fio::read(&[dir.path().to_owned()], &[]).unwrap().remove(0);
    for name in ["notes.txt", "package.json", "x_bw.1.log.gz", "empty.json", "link.json"] {
        assert!(has_warning(&sheet, name), "{name}: {:?}", sheet.warnings);
    }
    assert_eq!(sheet.steps.len(), 1);
}

#[test]
fn crystal_disk_mark_9_is_read_and_tests_that_were_not_run_are_absent() {
    let nine = cdm::read(&[case("cdm901.txt")]).unwrap().remove(0);
    assert_eq!(nine.steps.len(), 12);
    assert_eq!(figure(&nine.steps[0], "mb_per_s"), 7_427.749);
    assert_eq!(nine.steps[0].name, "read_1MiB_qd8");
    assert_eq!(nine.started_unix_ns, Some(1_704_519_708_000_000_000));
    let partly = cdm::read(&[case("cdm804_partly_0fill.txt")]).unwrap().remove(0);
    assert_eq!(partly.steps.len(), 4);
    assert!(partly.steps.iter().all(|step| step.metrics.values().all(|value| *value > Some(0.0))));
    assert!(has_warning(&partly, "not run (0.000): read_1MiB_qd8, read_128KiB_qd32, write_1MiB"));
    assert!(has_warning(&partly, "<0Fill>"));
}

#[test]
fn kib_that_phoronix_heads_as_mb_are_kib() {
    let sheet = phoronix::read(&[case("phoronix_fio200_kib.xml")]).unwrap().remove(0);
    let rate = sheet
        .steps
        .iter()
        .flat_map(|step| &step.metrics)
        .find(|(name, _)| name.ends_with("mb_per_s"));
    assert!(is_near(rate.unwrap().1.unwrap(), 327.683), "{rate:?}");
    let rates: Vec<_> = sheet.steps.iter().flat_map(|step| step.metrics.keys()).collect();
    assert_eq!(rates.len(), 2, "a rate without IOPS beside it stays in the tables: {rates:?}");
    assert_eq!(sheet.started_unix_ns, Some(1_691_492_400_000_000_000));
    assert!(has_warning(&sheet, "several disks (1000GB Samsung SSD 980 PRO 1TB + 4001GB"));
    assert!(
        has_warning(&sheet, "tables as printed") && has_warning(&sheet, "decimal, by the IOPS")
    );
}

/// Eight clones with reads and writes: their rows grow with the seconds, not with the lines.
#[test]
fn long_logs_become_rows_without_being_held() {
    use std::fmt::Write as _;
    let dir = tempfile::tempdir().unwrap();
    let seconds = 4_000_u64;
    let job = serde_json::json!({"fio version": "fio-3.36", "jobs": [{"jobname": "day", "job options":
        {"rw": "randrw", "bs": "4k", "numjobs": "8", "group_reporting": "", "write_iops_log": "day",
         "write_bw_log": "day", "write_lat_log": "day", "filename": "/dev/x", "direct": "1"},
        "read": {"total_ios": 8 * seconds, "io_bytes": 8 * 4096 * seconds, "runtime": seconds * 1000},
        "write": {"total_ios": 8 * seconds, "io_bytes": 8 * 4096 * seconds, "runtime": seconds * 1000}}]});
    fs::write(dir.path().join("day.json"), job.to_string()).unwrap();
    let mut logs =
        [("iops", 1), ("bw", 4), ("lat", 5_000)].map(|(kind, value)| (kind, value, String::new()));
    for (_, value, text) in &mut logs {
        for second in 1..=seconds {
            for direction in 0..2 {
                writeln!(text, "{}, {value}, {direction}, 0, 0", second * 1000).unwrap();
            }
        }
    }
    for (kind, _, text) in &logs {
        for number in 1..=8 {
            fs::write(dir.path().join(format!("day_{kind}.{number}.log")), text).unwrap();
        }
    }
    let sheet = fio::read(&[dir.path().to_owned()], &[]).unwrap().remove(0);
    let rows = &sheet.steps[0].rows.seconds;
    assert_eq!(rows.len() as u64, seconds);
    assert!(rows.iter().all(|row| row.ios[..2] == [8, 8] && row.bytes[..2] == [32_768, 32_768]));
    assert!(rows.iter().all(|row| row.duration_ns == 1_000_000_000));
}

#[test]
fn hostile_files_are_refused_within_limits() {
    let dir = tempfile::tempdir().unwrap();
    let long = "9".repeat(1 << 20);
    for (name, text, words) in [
        (
            "deep.json",
            "{\"fio version\": \"fio-3.1\", \"jobs\": ".to_owned() + &"[".repeat(1 << 20),
            "EOF",
        ),
        (
            "nested.json",
            format!(
                "{{\"a\": {}{{\"fio version\": \"fio-3.1\"}}{}}}",
                "[".repeat(200),
                "]".repeat(200)
            ),
            "recursion",
        ),
        (
            "huge.json",
            format!("{{\"fio version\": \"fio-3.1\", \"timestamp\": {long}, \"jobs\": []}}"),
            "expected",
        ),
        (
            "nan.json",
            "{\"fio version\": \"fio-3.1\", \"jobs\": [{\"read\": {\"iops\": nan}}]}".to_owned(),
            "expected",
        ),
        (
            "inf.json",
            "{\"fio version\": \"fio-3.1\", \"jobs\": [{\"read\": {\"iops\": 1e999}}]}".to_owned(),
            "range",
        ),
        ("open.json", "[\n".repeat(100_000) + "\"fio version\"", "no complete document"),
        ("lists.json", "[1,\n".repeat(50_000) + "\"fio version\"", "no complete document"),
        ("lists2.json", "[1,\n".repeat(50_000) + "\"fio version\"}", "no complete document"),
        ("braces.json", "{\n".repeat(100_000) + "\"fio version\"", "expected JSON of fio"),
        (
            "x_bw.1.log",
            "1000, ".to_owned() + &long + ", 0, 0, 0\n",
            "at most 65536 bytes in a line",
        ),
        (
            "y_bw.1.log",
            "1000, 99999999999999999999999, 0, 0, 0\n".to_owned(),
            "expected a number as value",
        ),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let error = fio::read(&[path], &[]).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
        assert!(error.len() < 1_000, "{name}: {} bytes", error.len());
    }
}
