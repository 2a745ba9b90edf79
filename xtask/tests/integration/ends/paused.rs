//! A run whose program is stopped and goes on: that time is not the drive's.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::lab::{Answer, Lab, phase};

#[test]
fn a_stopped_program_is_told_and_its_figures_are_marked() {
    let lab = Lab::new();
    let target = format!("file:{}?size=64MiB", lab.path("disk.bin").display());
    let settings = ["purge=false", "fill=false", "duration=8s", "steady_from=0s"];
    let settings: Vec<_> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let mut command = lab.consistency(&[&[target.as_str(), "--quiet"], &settings[..]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    while lab.library().read_dir().map_or(0, Iterator::count) == 0 {
        sleep(Duration::from_millis(20));
    }
    sleep(Duration::from_secs(2));
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
        assert!(sent.expect("kill starts").success());
    };
    signal("-STOP");
    let begin = Instant::now();
    sleep(Duration::from_secs(3));
    let stopped_ns = begin.elapsed().as_nanos() as f64;
    signal("-CONT");
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(0);
    let run = crate::lab::read_run(&lab.run_dirs(&answer.document())[0]);
    let stops = phase(&run, "load")["stops"].as_array().cloned().unwrap_or_default();
    let longest = stops.iter().filter_map(|stop| stop["duration_ns"].as_f64()).fold(0.0, f64::max);
    assert!(longest >= 0.95 * stopped_ns, "{longest} of {stopped_ns}: {stops:?}");
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("the program itself did not run for"), "{warnings}");
    let marks = run["marks"].as_array().expect("marks");
    let is_marked = |metric: &str| {
        marks.iter().any(|mark| mark["metric"] == metric && mark["kind"] == "stopped")
    };
    // Whether the rest of the seconds is steady is no question here.
    let mean = ["iops_steady_mean", "iops_fresh_mean"].into_iter().any(is_marked);
    assert!(is_marked("latency_ns_max") && mean, "{marks:#?}");
}
