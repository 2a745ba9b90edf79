//! Repetitions, expectations and comparisons, by their exit codes.

use std::fs;

use serde_json::Value;

use crate::lab::{Answer, Lab, read_run};

const DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/256";

fn run(lab: &Lab, targets: &[&str], more: &[&str]) -> Answer {
    let mut command = lab.command(&["run", "consistency"]);
    command.args(targets).args(["--set", "duration=10s", "--format", "json", "--quiet"]).args(more);
    Answer::of(command.arg("--library").arg(lab.library()))
}

/// A run that writes more than twice the span of [`DRIVE`], so that its steady state is one.
fn steady(lab: &Lab, target: &str, label: &str, more: &[&str]) {
    let mut command = lab.command(&["run", "consistency", target, "--label", label]);
    command.args(["--set", "duration=120s", "--set", "steady_from=80s", "--quiet"]).args(more);
    Answer::of(command.arg("--library").arg(lab.library())).must_exit_with(0);
}

/// The answer for people.
fn told(lab: &Lab, words: &[&str]) -> Answer {
    let mut command = lab.command(&["compare"]);
    Answer::of(command.args(words).arg("--library").arg(lab.library()))
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
    steady(&lab, DRIVE, "plain", &["--repeat", "3"]);
    steady(&lab, DRIVE, "again", &["--repeat", "3", "--seed", "9"]);
    steady(&lab, &slower, "fifo", &["--repeat", "3"]);
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
    let words = told(&lab, &["label:plain", "label:fifo"]);
    words.must_exit_with(1);
    the_words_are_those_of_people(&words.stdout);
    let unknown = compare(&lab, &["label:plain", "label:fifa"]);
    unknown.must_exit_with(2);
    assert!(unknown.stderr.contains("`fifa`; close to it: fifo"), "{}", unknown.stderr);
}

/// Labels, no keys and no checksums; the mean latency at one queue depth is not told beside the
/// IOPS.
fn the_words_are_those_of_people(text: &str) {
    assert!(text.contains("Steady state, mean") && text.contains("WORSE"), "{text}");
    assert!(text.contains("cleaning policy: greedy | fifo"), "{text}");
    for key in ["iops_", "latency_", "sim.", "setting ", "checksum", "Steady latency, mean"] {
        assert!(!text.contains(key), "`{key}` in {text}");
    }
    let verdict = text.lines().last().expect("a verdict");
    let rows = text.lines().filter(|line| line.ends_with("WORSE")).count();
    let figures = if rows == 1 { "1 figure".to_owned() } else { format!("{rows} figures") };
    assert!(verdict.starts_with(&format!("B is worse in {figures}")), "{verdict}");
}

#[test]
fn runs_of_one_test_are_compared_across_one_condition() {
    let lab = Lab::new();
    let hosted = format!("{DRIVE}&host=sata-hba-2020");
    steady(&lab, DRIVE, "whole", &[]);
    steady(&lab, DRIVE, "spare", &["--spare", "25%"]);
    steady(&lab, &hosted, "hosted", &[]);
    let plain = told(&lab, &["label:whole", "label:spare"]);
    plain.must_exit_with(2);
    let reason = &plain.stderr;
    assert!(reason.contains("different parts of the drive"), "{reason}");
    assert!(reason.contains("--across spare") && !reason.contains("compare runs of one test"));
    let better = compare(&lab, &["label:whole", "label:spare", "--across", "spare"]);
    better.must_exit_with(0);
    assert_eq!(outcome(&better.document(), "iops_steady_mean"), "better");
    let conditions = better.document()["comparisons"][0]["conditions"].to_string();
    assert!(conditions.contains("25% spare area") && !conditions.contains("sim."), "{conditions}");
    let words = told(&lab, &["label:whole", "label:spare", "--across", "spare"]);
    assert!(words.stdout.lines().all(|line| line.chars().count() <= 80), "{}", words.stdout);
    assert!(words.stdout.contains(", run ") && !words.stdout.contains("-consistency-"));
    compare(&lab, &["label:spare", "label:whole", "--across", "spare"]).must_exit_with(1);
    let only = ["--metric", "iops_steady_mean"];
    let same =
        compare(&lab, &[&["label:whole", "label:hosted", "--across", "host"], &only[..]].concat());
    same.must_exit_with(0);
    assert_eq!(outcome(&same.document(), "iops_steady_mean"), "same");
    for (b, across, word) in [
        ("label:hosted", "spare", "do not differ in it"),
        ("label:hosted", "firmware", "do not differ in it"),
        ("label:spare", "host", "different parts of the drive"),
    ] {
        let refused = told(&lab, &["label:whole", b, "--across", across]);
        refused.must_exit_with(2);
        assert!(refused.stderr.contains(word), "{across}: {}", refused.stderr);
    }
}

#[test]
fn an_interrupted_run_is_named_as_such() {
    let lab = Lab::new();
    steady(&lab, DRIVE, "whole", &[]);
    steady(&lab, DRIVE, "cut", &[]);
    let name = |label: &str| {
        let runs = fs::read_dir(lab.library()).expect("a library").flatten();
        let dirs = runs.map(|entry| entry.path()).filter(|path| path.join("run.json").is_file());
        let mut found = dirs.filter(|dir| read_run(dir)["about"]["label"] == label);
        found.next().expect("a run")
    };
    // As a run is that the user stopped; without its checksum, since that is of the other text.
    let path = name("cut").join("run.json");
    let mut run: Value = serde_json::from_slice(&fs::read(&path).expect("a run")).expect("JSON");
    run["status"] = "interrupted".into();
    run.as_object_mut().expect("an object").remove("checksums");
    fs::write(&path, run.to_string()).expect("a run");
    let refused = told(&lab, &["label:whole", "label:cut"]);
    refused.must_exit_with(2);
    let reason = &refused.stderr;
    assert!(
        reason.contains("B has no complete run") && reason.contains("was interrupted"),
        "{reason}"
    );
    let library = lab.library().to_string_lossy().into_owned();
    let both = compare(&lab, &["label:whole", &library]);
    both.must_exit_with(0);
    let others = &both.document()["left_out"];
    assert_eq!(
        (others[0]["side"].as_str(), others[0]["reason"].as_str()),
        (Some("B"), Some("was interrupted"))
    );
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
