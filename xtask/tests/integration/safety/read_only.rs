//! `--read-only` on a mounted loop device and on a file: nothing is written, and no confirmation is asked for. Needs root.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::lab::{Answer, Lab, PAGE, binary, read_run};
use crate::loop_device::Mounted;

const SIZE_BYTES: u64 = 64 << 20;

const SETTINGS: [&str; 8] = [
    "--set",
    "time=1s",
    "--set",
    "random_span=32MiB",
    "--set",
    "sequential_time=1s",
    "--format",
    "json",
];

/// The calls that change a file or a device, as strace names them, and the way it opens the target.
const TRACED: &str = "trace=openat,write,pwrite64,pwritev,pwritev2,ftruncate,fallocate,ioctl,fsync,fdatasync,sync_file_range";

#[test]
fn a_mounted_device_is_read_and_stays_as_it_was() {
    let lab = Lab::new();
    let mounted = Mounted::new(&lab, SIZE_BYTES);
    let before = fs::read(&mounted.image).unwrap();
    let mut args = vec!["run", "corners", mounted.node.path.to_str().unwrap(), "--read-only"];
    args.extend(SETTINGS);
    let answer = Answer::of(&mut lab.command(&args));
    answer.must_exit_with(0);
    assert!(before == fs::read(&mounted.image).unwrap(), "the device was written to");
    let run = read_run(&lab.run_dirs(&answer.document())[0]);
    assert!(run["metrics"]["corners.random_read.mb_per_s"].as_f64().unwrap() > 0.0);
    assert!(run["metrics"]["corners.random_write.mb_per_s"].is_null());
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("mounted"), "{warnings}");
    // A new file system is nearly empty.
    for told in [
        "found no data, only one repeated byte",
        "of a sample of",
        "`ssdlab run full-write /dev/loop",
    ] {
        assert!(warnings.contains(told), "{told}: {warnings}");
    }
}

#[test]
fn a_file_is_opened_for_reading_and_nothing_is_sent_that_changes_it() {
    let lab = Lab::new();
    let file = lab.path("data");
    let content: Vec<u8> =
        (0..SIZE_BYTES / 8).flat_map(|word| (word | 1 << 60).to_le_bytes()).collect();
    fs::write(&file, &content).unwrap();
    let log = lab.path("calls");
    let target = format!("file:{}", file.display());
    for engine in ["sync", "uring"] {
        let run = lab.path("library").display().to_string();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-y", "-e", TRACED, "-o"]).arg(&log).arg(binary());
        strace.args([
            "run",
            "corners",
            &target,
            "--read-only",
            "--engine",
            engine,
            "--library",
            &run,
        ]);
        strace.args(SETTINGS).current_dir(lab.path("."));
        let answer = Answer::of(&mut strace);
        answer.must_exit_with(0);
        let document = read_run(&lab.run_dirs(&answer.document())[0]);
        let warnings = document["warnings"].to_string();
        assert!(!warnings.contains("found no data"), "{warnings}");
        let calls = fs::read_to_string(&log).unwrap();
        let opened = of_target(&calls, &file).filter(|call| call.contains("openat("));
        let opened: Vec<_> = opened.collect();
        assert!(
            !opened.is_empty() && opened.iter().all(|call| call.contains("O_RDONLY")),
            "{opened:#?}"
        );
        let changes: Vec<_> = of_target(&calls, &file)
            .filter(|call| !call.contains("openat(") && !call.contains("ioctl("))
            .collect();
        assert!(changes.is_empty(), "{engine}: {changes:#?}");
    }
    assert!(content == fs::read(&file).unwrap(), "the file was written to");
}

fn of_target<'a>(calls: &'a str, file: &Path) -> impl Iterator<Item = &'a str> + use<'a> {
    let name = format!("<{}>", file.display());
    calls.lines().filter(move |call| call.contains(&name))
}

#[test]
fn a_review_that_only_reads_leaves_out_the_tests_that_write() {
    let lab = Lab::new();
    let file = lab.path("data");
    fs::write(&file, vec![7; SIZE_BYTES as usize]).unwrap();
    fs::write(lab.path("page.html"), PAGE).unwrap();
    let target = format!("file:{}", file.display());
    let mut review = lab.command(&[
        "review",
        &target,
        "--web",
        "page.html",
        "--read-only",
        "--quick",
        "--only",
        "latency,trim,linear",
        "--set",
        "latency.time=1s",
        "--set",
        "latency.random_span=16MiB",
        "--format",
        "json",
    ]);
    let answer = Answer::of(&mut review);
    answer.must_exit_with(0);
    let document = answer.document();
    assert_eq!(document["run_dirs"].as_array().unwrap().len(), 2, "{document}");
    assert!(document["left_out"].to_string().contains("no step that only reads"), "{document}");
    assert!(fs::read(&file).unwrap().iter().all(|&byte| byte == 7), "the file was written to");
    let refused = Answer::of(&mut lab.command(&["run", "trim", &target, "--read-only"]));
    refused.must_exit_with(3);
}
