//! Simulated runs: does the answer have its promised form, and is it the same every time?

use std::path::PathBuf;

use crate::lab::{Answer, Lab, phase, read_run};

const DRIVE: &str = "sim:sandisk-extreme-ii-480gb?scale=1/64";
const SHORT: [&str; 2] = ["--set", "duration=40s"];

fn series_with_seed(lab: &Lab, seed: &str) -> Vec<u8> {
    let dirs = lab.run(&[DRIVE, SHORT[0], SHORT[1], "--seed", seed]);
    std::fs::read(dirs[0].join("series.parquet")).expect("series.parquet")
}

#[test]
fn json_is_one_document_that_names_the_run() {
    let lab = Lab::new();
    let dirs = lab.run(&[DRIVE, SHORT[0], SHORT[1]]);
    assert_eq!(dirs.len(), 1, "{dirs:?}");
    let run = read_run(&dirs[0]);
    assert_eq!(run["status"], "complete");
    assert_eq!(run["test"], "consistency");
    assert_eq!(run["target"]["kind"], "simulated");
    let load = phase(&run, "load");
    assert_eq!(load["duration_ns"], 40_000_000_000_u64);
    assert_eq!(load["errors"], 0);
    assert!(load["ios"].as_u64().is_some_and(|ios| ios > 0), "{load:#}");
}

#[test]
fn text_ends_with_the_run_directory() {
    let lab = Lab::new();
    let mut command = lab.command(&["run", "consistency", DRIVE, SHORT[0], SHORT[1]]);
    let answer = Answer::of(command.arg("--library").arg(lab.library()));
    answer.must_exit_with(0);
    let last = answer.stdout.lines().last().unwrap_or_default();
    assert!(lab.path(last).join("run.json").is_file(), "{answer:#?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_does_not() {
    let lab = Lab::new();
    let (first, again) = (series_with_seed(&lab, "7"), series_with_seed(&lab, "7"));
    assert!(first == again, "two runs with seed 7 differ in series.parquet");
    assert!(first != series_with_seed(&lab, "8"), "seed 8 gives the series of seed 7");
}

#[test]
fn runs_side_by_side_are_the_runs_alone() {
    let lab = Lab::new();
    let other = "sim:samsung-840-pro-256gb?scale=1/64";
    let both = lab.run(&[DRIVE, other, SHORT[0], SHORT[1], "--seed", "7"]);
    assert_eq!(both.len(), 2, "{both:?}");
    let kept: Option<&PathBuf> = both.iter().find(|dir| {
        read_run(dir)["target"]["spec"].as_str().is_some_and(|spec| spec.contains("sandisk"))
    });
    let beside = std::fs::read(kept.expect("a run of the first drive").join("series.parquet"));
    assert!(beside.expect("series.parquet") == series_with_seed(&lab, "7"));
}

#[test]
fn spare_area_makes_one_run_for_each_share() {
    let lab = Lab::new();
    let dirs = lab.run(&[DRIVE, SHORT[0], SHORT[1], "--spare", "default,25%"]);
    let spans: Vec<_> = dirs.iter().map(|dir| read_run(dir)["span"].clone()).collect();
    let variants: Vec<_> = spans.iter().map(|span| span["variant"].clone()).collect();
    assert_eq!(variants, ["default", "25%"]);
    assert!(spans[1]["span_bytes"].as_u64() < spans[0]["span_bytes"].as_u64(), "{spans:#?}");
}

#[test]
fn a_report_is_one_file_that_holds_the_run() {
    let lab = Lab::new();
    let dirs = lab.run(&[DRIVE, SHORT[0], SHORT[1]]);
    let (report, run) = (lab.path("report.html"), dirs[0].to_string_lossy());
    let mut command = lab.command(&["report", &run, "--title", "a <title> & more", "--output"]);
    Answer::of(command.arg(&report)).must_exit_with(0);
    let page = std::fs::read_to_string(report).expect("the report");
    let run_id = dirs[0].file_name().expect("a name").to_string_lossy();
    assert!(page.contains(&*run_id), "the report does not name {run_id}");
    assert!(!page.contains("<title> &"), "the title is in the page without escaping");
}
