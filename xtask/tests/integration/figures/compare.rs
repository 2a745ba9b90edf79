//! Repetitions, expectations and comparisons, by their exit codes.

use serde_json::Value;

use crate::lab::{Answer, Lab, read_run};

const DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/256";

fn run(lab: &Lab, targets: &[&str], more: &[&str]) -> Answer {
    let mut command = lab.command(&["run", "consistency"]);
    command.args(targets).args(["--set", "duration=10s", "--format", "json", "--quiet"]).args(more);
    Answer::of(command.arg("--library").arg(lab.library()))
}

fn compare(lab: &Lab, words: &[&str]) -> Answer {
    let mut command = lab.command(&["compare"]);
    Answer::of(command.args(words).args(["--format", "json"]).arg("--library").arg(lab.library()))
}

fn outcome(document: &Value, metric: &str) -> String {
    let figures = document["comparisons"][0]["figures"].as_array().expect("figures");
    let figure = figures.iter().find(|figure| figure["metric"] == metric);
    figure.expect("the metric")["outcome"].as_str().expect("a word").to_owned()
}

#[test]
fn a_slower_drive_is_a_regression_and_the_same_one_is_not() {
    let lab = Lab::new();
    let slower = format!("{DRIVE}&gc.policy=fifo");
    run(&lab, &[DRIVE], &["--repeat", "3", "--label", "plain"]).must_exit_with(0);
    run(&lab, &[DRIVE], &["--repeat", "3", "--label", "again", "--seed", "9"]).must_exit_with(0);
    run(&lab, &[&slower], &["--repeat", "3", "--label", "fifo"]).must_exit_with(0);
    let worse = compare(&lab, &["label:plain", "label:fifo"]);
    worse.must_exit_with(1);
    assert_eq!(outcome(&worse.document(), "iops_steady_mean"), "worse");
    let conditions = worse.document()["comparisons"][0]["conditions"].to_string();
    assert!(conditions.contains("sim.gc_policy") && !conditions.contains("kernel"), "{conditions}");
    let better = compare(&lab, &["label:fifo", "label:plain", "--metric", "waf_steady"]);
    better.must_exit_with(0);
    assert_eq!(outcome(&better.document(), "waf_steady"), "better");
    let same = compare(&lab, &["label:plain", "label:again", "--metric", "iops_steady_mean"]);
    same.must_exit_with(0);
    assert_eq!(outcome(&same.document(), "iops_steady_mean"), "same");
    compare(&lab, &["label:plain", "label:fifo", "--threshold", "90%"]).must_exit_with(0);
    let unknown = compare(&lab, &["label:plain", "label:nobody"]);
    unknown.must_exit_with(2);
    assert!(unknown.stderr.contains("`nobody`"), "{}", unknown.stderr);
}

#[test]
fn repetitions_have_seeds_of_their_own_and_take_turns_if_asked() {
    let lab = Lab::new();
    let other = "sim:samsung-840-pro-128gb?scale=1/128";
    let more = ["--repeat", "2", "--seed", "5", "--interleave", "--jobs", "1"];
    let answer = run(&lab, &[DRIVE, other], &more);
    answer.must_exit_with(0);
    let document = answer.document();
    let runs: Vec<Value> = lab.run_dirs(&document).iter().map(|dir| read_run(dir)).collect();
    let told = |run: &Value| {
        let number = |value: &Value| value.as_u64().expect("a number");
        let is_first = run["target"]["spec"] == DRIVE;
        (
            is_first,
            number(&run["seed"]),
            number(&run["repeat"]["number"]),
            number(&run["repeat"]["of"]),
        )
    };
    let told: Vec<_> = runs.iter().map(told).collect();
    assert_eq!(told, [(true, 5, 1, 2), (false, 5, 1, 2), (true, 6, 2, 2), (false, 6, 2, 2)]);
    let groups = document["repeated"].as_array().expect("groups");
    assert_eq!(groups.len(), 2);
    let figure = &groups[0]["figures"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let (low, high) = (number(&figure["interval"]["low"]), number(&figure["interval"]["high"]));
    assert!((low..=high).contains(&number(&figure["values"]["mean"])), "{figure:#}");
    let command = runs[3]["command"].as_str().expect("a command");
    assert!(command.ends_with("--seed 6"), "one command repeats one run: {command}");
}

#[test]
fn an_expectation_that_is_not_met_is_exit_code_1() {
    let lab = Lab::new();
    let met = run(&lab, &[DRIVE], &["--expect", "iops_steady_mean >= 1"]);
    met.must_exit_with(0);
    assert_eq!(met.document()["expectations"][0]["answer"]["is_met"], true);
    run(&lab, &[DRIVE], &["--expect", "latency_ns_p99 < 1us"]).must_exit_with(1);
    let unknown = run(&lab, &[DRIVE], &["--expect", "iops_stedy_mean >= 1"]);
    unknown.must_exit_with(2);
    assert!(unknown.stderr.contains("no metric `iops_stedy_mean`"), "{}", unknown.stderr);
}
