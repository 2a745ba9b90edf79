//! Results of the installed fio, imported: every figure is fio's own.

use std::process::Command;

use serde_json::Value;

use crate::lab::{Answer, Lab, read_run};

const JOBS: &str = "[global]
filename=data
size=8M
bs=4k
ioengine=psync
time_based=1
runtime=2
[writes]
rw=randwrite
write_bw_log=w
write_iops_log=w
write_lat_log=w
log_avg_msec=250
[mixed]
stonewall
rw=randrw
rwmixread=70
numjobs=2
group_reporting=1
";

/// fio's own document about [`JOBS`].
fn run_fio(lab: &Lab) -> Value {
    std::fs::write(lab.path("jobs.fio"), JOBS).expect("room for a file");
    let mut fio = Command::new("fio");
    fio.args(["jobs.fio", "--output-format=json+", "--output=result.json"]);
    let output = fio.current_dir(lab.path("")).output().expect("fio is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(lab.path("result.json")).expect("fio wrote it");
    serde_json::from_str(&text).expect("JSON")
}

fn assert_same(run: &Value, step: &str, direction: &Value) {
    let own = |name: &str| {
        let value = &run["metrics"][format!("imported.{step}.{name}")];
        value.as_f64().unwrap_or_else(|| panic!("{step}: {name} is {value}"))
    };
    let near = |a: f64, b: &Value| {
        let b = b.as_f64().expect("a number");
        assert!((a - b).abs() <= 1e-9 * b, "{step}: {a} {b}");
    };
    near(own("iops"), &direction["iops"]);
    near(own("mb_per_s") * 1e6, &direction["bw_bytes"]);
    near(own("latency_ns_mean"), &direction["lat_ns"]["mean"]);
    near(own("latency_ns_max"), &direction["lat_ns"]["max"]);
    let percentiles = &direction["clat_ns"]["percentile"];
    near(own("latency_ns_p50"), &percentiles["50.000000"]);
    near(own("latency_ns_p9999"), &percentiles["99.990000"]);
}

#[test]
fn figures_of_the_installed_fio_are_its_own() {
    let lab = Lab::new();
    let document = run_fio(&lab);
    let library = lab.library();
    let words =
        ["library", "import", "fio", "result.json", "w_bw.1.log", "w_iops.1.log", "w_lat.1.log"];
    let mut command = lab.command(&words);
    let drive = ["--drive", "a file", "--format", "json", "--library"];
    let answer = Answer::of(command.args(drive).arg(&library));
    answer.must_exit_with(0);
    let [dir] = &lab.run_dirs(&answer.document())[..] else { panic!("one run: {answer:?}") };
    let run = read_run(dir);
    assert_same(&run, "randwrite_4KiB_qd1", &document["jobs"][0]["write"]);
    for kind in ["read", "write"] {
        let step = format!("randrw70_4KiB_qd1_jobs2_{kind}");
        assert_same(&run, &step, &document["jobs"][1][kind]);
    }
    assert_eq!(run["origin"]["tool"], document["fio version"]);
    assert_eq!(run["target"]["kind"], "imported");
    let page = lab.path("page.html");
    let mut report = lab.command(&["report"]);
    Answer::of(report.arg(dir).arg("-o").arg(&page)).must_exit_with(0);
}
