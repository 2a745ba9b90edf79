//! Ctrl-C in the middle of a run: the data are kept, the status tells it, and the call can be
//! continued.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lab::{Answer, Lab, phase, read_run};

#[test]
fn an_interrupted_run_keeps_what_it_measured() {
    let lab = Lab::new();
    let target = format!("file:{}?size=64MiB", lab.path("disk.bin").display());
    let mut command = lab.consistency(&[&target, "--set", "duration=60s"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    // Time for purge and fill of 64 MiB, and a few seconds of load.
    std::thread::sleep(Duration::from_secs(6));
    let asked = Instant::now();
    interrupt(child.id());
    let output = child.wait_with_output().expect("ends");
    assert!(asked.elapsed() < Duration::from_secs(10), "took {:?} to stop", asked.elapsed());

    let answer = Answer::new(&command, output);
    answer.must_exit_with(130);
    let dirs = lab.run_dirs(&answer.document());
    let run = read_run(&dirs[0]);
    assert_eq!(run["status"], "interrupted");
    let load = phase(&run, "load");
    assert_eq!(load["complete"], false);
    assert!(load["ios"].as_u64().is_some_and(|ios| ios > 0), "{load:#}");
    assert!(dirs[0].join("series.parquet").is_file());
    // The printed command can be pasted: its path is the end of the line.
    let shown = Answer::of(lab.command(&["show", "--library"]).arg(lab.library()));
    let told = shown.stdout.lines().find_map(|line| line.split_once(": ssdlab run --resume "));
    let (why, path) = told.expect("the command that finishes it");
    assert!(why.ends_with("with the --erase of the first call"), "{why}");
    assert_eq!(lab.path(path), dirs[0]);
}

#[test]
fn an_interrupted_overwrite_says_in_which_state_it_leaves_the_target() {
    let lab = Lab::new();
    let target = format!("file:{}?size=1GiB", lab.path("disk.bin").display());
    let mut command = lab.consistency(&[&target, "--purge", "overwrite", "--set", "duration=60s"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut talk = BufReader::new(child.stderr.take().expect("piped"));
    let mut told = String::new();
    while !told.contains(" purge: ") {
        let length = talk.read_line(&mut told).expect("text");
        assert!(length > 0, "the purge is announced: {told}");
    }
    // It is announced before the stop button is looked at for the last time.
    std::thread::sleep(Duration::from_millis(100));
    interrupt(child.id());
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(130);
    let run = read_run(&lab.run_dirs(&answer.document())[0]);
    assert_eq!(run["status"], "interrupted");
    assert_eq!(phase(&run, "purge")["complete"], false);
    let warnings = run["warnings"].to_string();
    assert!(
        warnings.contains("1073741824 bytes hold random data, the others what they held"),
        "{warnings}"
    );
}

fn interrupt(pid: u32) {
    let status = Command::new("kill").args(["-INT", &pid.to_string()]).status();
    assert!(status.expect("kill starts").success());
}

/// Three writes, two seconds apart.
const SLOW_TRACE: &str = "128166372000000000,host,0,Write,0,4096,100\n\
    128166372020000000,host,0,Write,8192,4096,100\n\
    128166372040000000,host,0,Write,16384,4096,100\n";

/// A replay on two files, stopped in the middle of the first; returns its document, and the content
/// of run.json.
fn interrupted_replay(lab: &Lab) -> (Value, Value) {
    let trace = "a trace of 'Jürgen' \"§1\" $(reboot) 雪.csv";
    std::fs::write(lab.path(trace), SLOW_TRACE).expect("a trace");
    let target = |name: &str| format!("file:{}?size=16MiB", lab.path(name).display());
    let [first, second] = ["it's a disk", "Platte 2"].map(target);
    let mut command = lab.command(&["trace", "replay", trace, &first, &second, "--idle", "real"]);
    command.args(["--set", "purge=false", "--seed", "7", "--format", "json", "--library"]);
    command.arg(lab.library()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("starts");
    while lab.library().read_dir().map_or(0, Iterator::count) == 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs(1));
    interrupt(child.id());
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(130);
    let document = answer.document();
    let run = read_run(&lab.run_dirs(&document)[0]);
    assert_eq!(run["status"], "interrupted", "{answer:#?}");
    (document, run)
}

#[test]
fn a_call_is_continued_from_its_request_wherever_the_library_has_gone() {
    let lab = Lab::new();
    let (_, first) = interrupted_replay(&lab);
    let elsewhere = lab.path("moved to «здесь»");
    std::fs::rename(lab.library(), &elsewhere).expect("moved");
    let mut resume = lab.command(&["run", "--format", "json", "--quiet", "--resume"]);
    let named = elsewhere.join(first["run_id"].as_str().expect("a name"));
    let answer = Answer::of(resume.arg(named));
    answer.must_exit_with(0);
    let dirs = lab.run_dirs(&answer.document());
    let runs: Vec<_> = dirs.iter().map(|dir| read_run(dir)).collect();
    assert_eq!(runs.len(), 2, "the second one never began: {answer:#?}");
    assert_eq!(runs[0]["resumed"]["run_id"], first["run_id"]);
    for (index, run) in runs.iter().enumerate() {
        assert_eq!(run["status"], "complete", "{run:#}");
        assert_eq!(run["request"], first["invocation"]["requests"][index]);
        assert_eq!(run["command"], first["invocation"]["commands"][index]);
        assert_eq!(run["config"], first["config"]);
    }
    assert!(dirs.iter().all(|dir| dir.parent() == Some(&elsewhere)), "{dirs:?}");
    assert!(!lab.library().exists(), "nothing is where the library was");
}

#[test]
fn a_run_that_stored_no_request_is_not_continued_but_repeated() {
    let lab = Lab::new();
    let (document, mut run) = interrupted_replay(&lab);
    for member in ["request", "checksums"] {
        run.as_object_mut().expect("an object").remove(member).expect("it was there");
    }
    let run_json = lab.run_dirs(&document)[0].join("run.json");
    std::fs::write(run_json, run.to_string()).expect("changed");
    let mut resume = lab.command(&["run", "--format", "json", "--resume", "--library"]);
    let answer = Answer::of(resume.arg(lab.library()));
    answer.must_exit_with(2);
    let command = run["command"].as_str().expect("a command");
    let told = format!("stored no request; run it anew: {command}");
    assert!(answer.stderr.contains(&told), "{answer:#?}");
}
