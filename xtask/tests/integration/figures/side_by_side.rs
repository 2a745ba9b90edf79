//! Runs of simulated drives side by side: the number of threads changes no figure.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::lab::{Answer, Lab, read_run};

/// The members of a run that tell its time and its name.
const OF_THE_CALL: [&str; 4] = ["run_id", "started_unix_ns", "finished_unix_ns", "checksums"];

/// The runs of a quick review by their commands: `run.json` without times and names, and the bytes
/// of the rows.
fn review(jobs: &str) -> BTreeMap<String, (Value, Vec<u8>, Vec<u8>)> {
    let lab = Lab::new();
    let drives =
        ["sim:samsung-840-pro-256gb?scale=1/256", "sim:sandisk-extreme-ii-480gb?scale=1/256"];
    let mut command = lab.command(&["review", "--quick", "--only", "consistency,latency,pslc"]);
    command.args(drives).args(["--jobs", jobs, "--format", "json", "--quiet"]);
    let answer = Answer::of(command.arg("--library").arg(lab.library()));
    answer.must_exit_with(0);
    let dirs = lab.run_dirs(&answer.document());
    let read = |dir: &std::path::PathBuf| {
        let mut run = read_run(dir);
        let members = run.as_object_mut().expect("an object");
        members.retain(|name, _| !OF_THE_CALL.contains(&name.as_str()));
        let bytes = |name| std::fs::read(dir.join(name)).expect("the rows");
        let command = run["command"].as_str().expect("a command").to_owned();
        (command, (run, bytes("series.parquet"), bytes("latency.parquet")))
    };
    dirs.iter().map(read).collect()
}

#[test]
fn all_processors_measure_what_one_does() {
    let (one, four) = (review("1"), review("4"));
    assert!(one.len() >= 6, "{} runs", one.len());
    assert!(one.keys().eq(four.keys()));
    for (command, run) in &one {
        assert_eq!(run.0, four[command].0, "{command}");
        assert!(run == &four[command], "the rows of {command} differ");
    }
}
