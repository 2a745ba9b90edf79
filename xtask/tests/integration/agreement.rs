//! The I/O engine against fio on the same file. Only gross disagreement fails: a shared machine is
//! noisy, and `cargo xtask bench engine` is there to look closer.

use std::process::Command;

use serde_json::Value;

#[test]
fn the_engine_is_about_as_fast_as_fio() {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = bench.args(["bench", "engine", "--quick"]).output().expect("xtask starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    let ratio = document["iops_ratio"].as_f64().expect("a ratio");
    assert!((0.7..=1.4).contains(&ratio), "ssdlab/fio is {ratio:.2}: {document:#}");
}
