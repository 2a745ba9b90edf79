//! `ssdlab sim fit`: does it find a hidden value, take results of fio, and name what is missing?

use serde_json::{Value, json};

use crate::lab::{Answer, Lab};

const BASE: &str = "intel-ssd-750-400gb";
const SCALE: &str = "1/1024";

fn fit(lab: &Lab, args: &[&str]) -> Answer {
    let mut command =
        lab.command(&["sim", "fit", "--base", BASE, "--scale", SCALE, "--format", "json"]);
    Answer::of(command.arg("--library").arg(lab.library()).args(args))
}

fn measured(lab: &Lab, more: &[&str]) -> String {
    let target = format!("sim:{BASE}?scale={SCALE}&nand.program_ns=1200000");
    let mut args = vec![target.as_str(), "--set", "duration=2s", "--set", "steady_from=1s"];
    args.extend(more);
    let [dir] = &lab.run(&args)[..] else { panic!("one run") };
    dir.display().to_string()
}

#[test]
fn a_hidden_program_time_is_found_and_written_as_a_model() {
    let lab = Lab::new();
    let (whole, part) = (measured(&lab, &[]), measured(&lab, &["--spare", "35%"]));
    let model = lab.path("fitted.toml");
    let answer = fit(&lab, &[&whole, &part, "-o", &model.display().to_string()]);
    answer.must_exit_with(0);
    let document = answer.document();
    let estimates = document["estimates"].as_array().expect("estimates");
    let is_program = |it: &&Value| it["name"] == "program_ns";
    let program = estimates.iter().find(is_program).expect("it is estimated");
    let value = program["value"].as_f64().expect("a number");
    assert!((value / 1_200_000.0 - 1.0).abs() < 0.05, "{program:#}");
    let text = std::fs::read_to_string(&model).expect("a model");
    assert!(text.contains("fitted: 2 runs (consistency)"), "{text}");
    Answer::of(&mut lab.command(&["sim", "check", "fitted.toml"])).must_exit_with(0);
}

/// A document of fio with one job for each pair of options and rate.
fn fio(lab: &Lab, jobs: &[(&str, &str, f64)]) -> String {
    let job = |(group, (rw, depth, iops)): (usize, &(&str, &str, f64))| {
        let kind = if rw.contains("read") { "read" } else { "write" };
        let mut job = json!({
            "jobname": format!("{rw}{depth}"), "groupid": group, "error": 0,
            "job options": { "rw": rw, "bs": "4k", "iodepth": depth, "direct": "1" },
            "read": {}, "write": {}, "trim": {},
        });
        job[kind] = json!({
            "io_bytes": 4096 * 1000, "total_ios": 1000, "runtime": 1000,
            "iops": iops, "bw_bytes": (iops * 4096.0) as u64, "bw": (iops * 4.0) as u64,
            "lat_ns": { "min": 1000, "max": 200_000, "mean": 60_000.0, "stddev": 1.0, "N": 1000 },
        });
        job
    };
    let jobs: Vec<_> = jobs.iter().enumerate().map(job).collect();
    let document = json!({ "fio version": "fio-3.36", "timestamp": 1_700_000_000, "jobs": jobs });
    std::fs::write(lab.path("fio.json"), document.to_string()).expect("room for a file");
    let mut command = lab.command(&["library", "import", "fio", "fio.json", "--drive", "A drive"]);
    let answer = Answer::of(command.args(["--format", "json", "--library"]).arg(lab.library()));
    answer.must_exit_with(0);
    lab.run_dirs(&answer.document())[0].display().to_string()
}

#[test]
fn reads_of_fio_at_several_depths_are_explained() {
    let lab = Lab::new();
    let run = fio(&lab, &[("randread", "1", 16_261.0), ("randread", "4", 62_546.0)]);
    let answer = fit(&lab, &[&run]);
    answer.must_exit_with(0);
    let document = answer.document();
    let figures = document["residuals"].as_array().expect("residuals");
    let names: Vec<_> = figures.iter().map(|it| it["figure"].as_str()).collect();
    assert_eq!(names, [Some("qd-sweep.read_qd1.iops"), Some("qd-sweep.read_qd4.iops")]);
}

#[test]
fn a_result_of_fio_without_a_usable_load_is_refused_with_the_missing_condition() {
    let lab = Lab::new();
    let run = fio(&lab, &[("randwrite", "32", 30_000.0)]);
    let answer = fit(&lab, &[&run]);
    answer.must_exit_with(2);
    let message = answer.document()["error"]["message"].to_string();
    assert!(message.contains("log_avg_msec"), "{message}");
}
