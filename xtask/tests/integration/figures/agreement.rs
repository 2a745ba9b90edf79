//! The I/O engine against fio on the same file. Only gross disagreement fails, because a shared
//! machine is noisy; `cargo xtask bench engine` measures precisely.

mod job_files;

use std::process::Command;

use serde_json::Value;

#[test]
fn the_engine_is_about_as_fast_as_fio() {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_xtask"));
    bench.args([
        "bench",
        "engine",
        "--quick",
        "--media",
        "null,file",
        "--rates",
        "1k,poisson:100k",
    ]);
    bench.arg("--ssdlab").arg(crate::lab::binary());
    let output = bench.output().expect("xtask starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    let cells = document["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 6, "two media at three queue depths: {document:#}");
    for cell in cells {
        let ratio = cell["iops_ratio"].as_f64().expect("a ratio");
        // Short turns on a busy machine jump about by half; an engine that loses two thirds is broken.
        assert!(ratio > 1.0 / 3.0, "ssdlab/fio is {ratio:.2}: {cell:#}");
        assert!(cell["median"]["ssdlab"]["cpu_ns_per_io"].as_f64().is_some_and(|ns| ns > 0.0));
    }
    assert_eq!(document["open_loop"].as_array().map(Vec::len), Some(2));
}
