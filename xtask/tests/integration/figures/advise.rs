//! `ssdlab advise spare`: does it give one answer with its setup, and refuse the impossible?

use crate::lab::{Answer, Lab, read_run};

const DRIVE: &str = "sim:sandisk-extreme-ii-480gb?scale=1/512";

fn advise(lab: &Lab, target: &str, args: &[&str]) -> Answer {
    let mut command = lab.command(&["advise", "spare", target, "--step", "4%"]);
    command
        .args(["--measure", "10s", "--format", "json", "--library"])
        .arg(lab.library())
        .args(args);
    Answer::of(&mut command)
}

#[test]
fn the_smallest_spare_area_comes_with_the_runs_behind_it() {
    let lab = Lab::new();
    let answer = advise(&lab, DRIVE, &["--floor", "20000"]);
    answer.must_exit_with(0);
    let document = answer.document();
    let found = &document["answer"];
    let share = found["spare_share"].as_f64().expect("a share");
    assert!((0.15..0.25).contains(&share), "{found:#}");
    assert_eq!(document["base"], "raw");
    let blocks = found["blocks"].as_u64().expect("blocks");
    assert_eq!(blocks * 512, found["span_bytes"].as_u64().expect("bytes"));
    assert!(found["set_up"].to_string().contains(&format!("--nsze={blocks}")), "{found:#}");
    for dir in lab.run_dirs(&document) {
        let run = read_run(&dir);
        assert_eq!((&run["status"], &run["test"]), (&"complete".into(), &"consistency".into()));
        assert_eq!(run["config"]["precondition"], "one-pass");
    }
    assert!(answer.stderr.contains("up to 6 tries"), "no estimate:\n{}", answer.stderr);
}

#[test]
fn an_impossible_floor_is_refused_with_the_best_figure() {
    let lab = Lab::new();
    let answer = advise(&lab, DRIVE, &["--floor", "1000000"]);
    answer.must_exit_with(1);
    let document = answer.document();
    assert!(document["answer"].is_null());
    assert!(
        document["best"]["figure"].as_f64().is_some_and(|iops| iops > 30_000.0),
        "{document:#}"
    );
    assert_eq!(document["tries"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_file_that_exists_needs_permission_and_a_plan_touches_nothing() {
    let lab = Lab::new();
    let path = lab.path("disk.img");
    std::fs::write(&path, vec![7; 64 << 20]).expect("a file");
    let target = format!("file:{}", path.display());
    let planned = advise(&lab, &target, &["--floor", "1000", "--plan"]);
    planned.must_exit_with(3);
    assert_eq!(planned.reason(), "existing-file");
    let plan = planned.document();
    assert_eq!(plan["destructive"], true);
    assert!(plan["bytes_written_estimate"].as_u64().is_some_and(|bytes| bytes > 64 << 20));
    let refused = advise(&lab, &target, &["--floor", "1000"]);
    refused.must_exit_with(3);
    assert_eq!(refused.reason(), "existing-file");
    assert!(std::fs::read(&path).expect("the file").iter().all(|&byte| byte == 7), "written to");
}
