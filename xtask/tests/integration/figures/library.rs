//! A library of simulated drives: built in parts, and only once.

use flate2::read::ZlibDecoder;
use serde_json::Value;

use crate::lab::{Answer, Lab};

fn build(lab: &Lab, more: &[&str]) -> Answer {
    let mut command = lab.command(&["library", "build", "--quick", "--scale", "1/256", "--tests"]);
    let command = command.args(["latency,power", "--format", "json"]).args(more);
    Answer::of(command.arg("--library").arg(lab.library()))
}

fn number(document: &Value, name: &str) -> u64 {
    document[name].as_u64().unwrap_or_else(|| panic!("no number `{name}` in {document:#}"))
}

#[test]
fn a_library_goes_on_where_it_stopped() {
    let lab = Lab::new();
    let one = build(&lab, &["--drives", "samsung-840-pro-256gb"]);
    one.must_exit_with(0);
    assert_eq!((number(&one.document(), "runs"), number(&one.document(), "runs_reused")), (2, 0));
    let all = build(&lab, &["--drives", "samsung-840-pro-256gb", "--drives", "micron-7450-pro*"]);
    all.must_exit_with(0);
    let document = all.document();
    let read = ["drives", "runs", "runs_reused"].map(|name| number(&document, name));
    assert_eq!(read, [2, 3, 2], "{document:#}");
    assert_eq!(lab.run_dirs(&document).len(), 3);
    let left_out = document["left_out"].to_string();
    assert!(left_out.contains("power") && left_out.contains("no section [power]"), "{left_out}");
    let planned = build(&lab, &["--drives", "samsung-840-pro-256gb", "--plan", "--seed", "2"]);
    planned.must_exit_with(0);
    assert_eq!(number(&planned.document(), "runs_reused"), 0, "another seed is another run");
    assert!(lab.run_dirs(&planned.document()).is_empty());
}

#[test]
fn a_pattern_without_a_drive_is_refused() {
    let lab = Lab::new();
    let answer = build(&lab, &["--drives", "no-such-*"]);
    answer.must_exit_with(2);
    assert!(
        answer.stderr.contains("--drives no-such-*") && answer.stderr.contains("ssdlab sim models")
    );
    assert!(!lab.library().exists(), "nothing was written");
}

#[test]
fn a_compact_library_is_one_file_of_complete_runs_at_full_size() {
    let lab = Lab::new();
    let file = lab.path("peers.zz");
    let compact = |more: &[&str]| {
        let mut command = lab.command(&["library", "build", "--quick", "--tests", "consistency"]);
        command.args(["--drives", "intel-x25-m-g1-80gb"]).args(more);
        Answer::of(command.arg("--library").arg(lab.library()).arg("--compact").arg(&file))
    };
    let whole = compact(&[]);
    whole.must_exit_with(0);
    assert!(whole.stderr.contains("peers.zz: 1 runs of 1 drives"), "{}", whole.stderr);
    let read = || {
        let stream = std::fs::read(&file).expect("the file");
        let value: Value = serde_json::from_reader(ZlibDecoder::new(&stream[..])).expect("JSON");
        value["runs"].as_array().expect("runs").clone()
    };
    let [run] = &read()[..] else { panic!("one run") };
    assert_eq!(run["target"]["spec"], "sim:intel-x25-m-g1-80gb");
    assert!(!run["series"]["iops"].as_array().expect("a curve").is_empty());
    assert!(run["metrics"]["iops_mean"].is_number() && run["phases"] == serde_json::json!([]));
    let small = compact(&["--scale", "1/4"]);
    small.must_exit_with(0);
    assert_eq!(read().len(), 1, "a scaled drive is none of the library, and the first one stays");
    std::fs::write(&file, "other text").expect("a file");
    let refused = compact(&[]);
    refused.must_exit_with(2);
    assert!(refused.stderr.contains("peers.zz is no reference library"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "other text");
}
