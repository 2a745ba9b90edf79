//! One run at full size: the case the project exists for.

use std::path::Path;
use std::process::Command;

use crate::lab::{Lab, phase, read_run};

#[test]
fn a_full_size_run_has_every_second_and_its_sums_agree() {
    let lab = Lab::new();
    let dirs = lab.run(&["sim:sandisk-extreme-ii-480gb"]);
    let run = read_run(&dirs[0]);
    assert_eq!(
        run["target"]["capacity_bytes"].as_u64().map(|bytes| bytes / 1_000_000_000),
        Some(480)
    );
    let load = phase(&run, "load");
    assert_eq!(load["duration_ns"], 2_000_000_000_000_u64);
    assert_eq!(load["complete"], true);
    assert!(run["metrics"]["iops_steady_mean"].is_number(), "{:#}", run["metrics"]);
    check_sums(&dirs[0]);
}

#[test]
fn single_commands_are_readable_without_ssdlab_and_agree_with_the_rows() {
    let lab = Lab::new();
    let small = "sim:sandisk-extreme-ii-480gb?scale=1/512";
    let settings = ["--set", "duration=2s", "--set", "steady_from=1s", "--ios", "all"];
    let dirs = lab.run(&[&[small], &settings[..]].concat());
    let rows = read_run(&dirs[0])["ios"]["rows"].as_u64();
    assert!(rows > Some(10_000), "{rows:?}");
    check_sums(&dirs[0]);
}

/// 2,000 rows, and the sums over series, histogram and phases: checked by a reader that shares no
/// code with the writer.
fn check_sums(run_dir: &Path) {
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the test is from");
    let root = Path::new(&xtask).parent().expect("the checkout");
    let mut pytest = Command::new(root.join(".venv/bin/python"));
    pytest
        .args(["-m", "pytest", "-p", "no:cacheprovider", "tests/python/test_results.py"])
        .current_dir(root);
    let output = pytest.env("SSDLAB_RUN_DIR", run_dir).output().expect("the Python of .venv");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
