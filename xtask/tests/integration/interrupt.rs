//! Ctrl-C in the middle of a run: what was measured is kept and says so.

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

fn interrupt(pid: u32) {
    let status = Command::new("kill").args(["-INT", &pid.to_string()]).status();
    assert!(status.expect("kill starts").success());
}
