//! Ctrl-C in the middle of a run: what was measured is kept and says so.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
}

#[test]
fn an_interrupted_overwrite_says_in_which_state_it_leaves_the_target() {
    let lab = Lab::new();
    let target = format!("file:{}?size=1GiB", lab.path("disk.bin").display());
    let mut command = lab.consistency(&[&target, "--purge", "overwrite", "--set", "duration=60s"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut talk = BufReader::new(child.stderr.take().expect("piped")).lines();
    let begins = |line: std::io::Result<String>| line.is_ok_and(|line| line.contains(" purge: "));
    assert!(talk.any(begins), "the purge is announced");
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
