//! SIGKILL at any moment: the remaining run is readable, tells its status, and can be continued.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::lab::{Answer, Lab};

const DRIVES: [&str; 2] =
    ["sim:sandisk-extreme-ii-480gb?scale=1/256", "sim:samsung-840-pro-256gb?scale=1/256"];
/// A test with two purges, so that a part remains valid.
const TEST: [&str; 8] = [
    "corners",
    "--set",
    "time=1s",
    "--set",
    "random_span=64MiB",
    "--set",
    "sequential_time=40s",
    "--quiet",
];
const KILLS: u64 = 6;

/// Moments in ms, spread over a range by a linear congruential generator; a failure names them.
pub(super) struct Moments(pub(super) u64);

impl Moments {
    pub(super) fn next_below(&mut self, end_ms: u64) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Duration::from_millis((self.0 >> 33) % end_ms)
    }
}

fn start(lab: &Lab, args: &[&str]) -> Child {
    let mut command = lab.command(&["run"]);
    command.args(args).arg("--library").arg(lab.library());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
}

fn kill_after(mut child: Child, delay: Duration) {
    std::thread::sleep(delay);
    child.kill().expect("SIGKILL is sent");
    child.wait().expect("ends");
}

fn json(lab: &Lab, args: &[&str]) -> Value {
    let answer = Answer::of(ask(lab, args).args(["--format", "json"]));
    answer.must_exit_with(0);
    answer.document()
}

fn ask(lab: &Lab, args: &[&str]) -> Command {
    let mut command = lab.command(args);
    command.arg("--library").arg(lab.library());
    command
}

/// The entries of the library with a name, readable as runs.
fn run_dirs(lab: &Lab) -> Vec<PathBuf> {
    let entries = lab.library().read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.join("run.json").exists()).collect()
}

/// Every run can be shown, tells its status, and together they make a page.
fn must_be_readable(lab: &Lab, dirs: &[PathBuf]) {
    let names: Vec<_> = dirs.iter().map(|dir| dir.to_str().expect("UTF-8")).collect();
    let shown = json(lab, &[&["show"], names.as_slice()].concat());
    for run in shown.as_array().expect("a list of runs") {
        let status = run["status"].as_str().unwrap_or_default();
        assert!(["interrupted", "complete"].contains(&status), "{run:#}");
        let says_why = run["warnings"].to_string().contains("killed");
        assert_eq!(says_why, status == "interrupted", "{run:#}");
    }
    json(lab, &[&["report"], names.as_slice()].concat());
}

/// Figures by target, of complete runs.
fn figures(document: &Value) -> BTreeMap<String, Value> {
    let runs = document["runs"].as_array().expect("runs");
    let figures = runs.iter().map(|run| {
        assert_eq!(run["status"], "complete", "{run:#}");
        (run["target"].as_str().expect("a target").to_owned(), run["metrics"].clone())
    });
    figures.collect()
}

#[test]
fn a_killed_call_can_be_read_at_any_moment_and_ends_as_if_nothing_had_happened() {
    let call = [&TEST[..], &DRIVES].concat();
    let whole = Lab::new();
    let begun = std::time::Instant::now();
    let expected = figures(&json(&whole, &[&["run"], call.as_slice()].concat()));
    let length_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
    let mut moments = Moments(1);
    for _ in 0..KILLS {
        let lab = Lab::new();
        let delay = moments.next_below(length_ms);
        kill_after(start(&lab, &call), delay);
        let dirs = run_dirs(&lab);
        if dirs.is_empty() {
            // Too early for anything to have been made.
            continue;
        }
        must_be_readable(&lab, &dirs);
        let continued = json(&lab, &["run", "--resume", "--quiet"]);
        assert_eq!(figures(&continued), expected, "killed after {delay:?}");
    }
}

#[test]
fn a_call_on_a_file_that_is_killed_again_and_again_comes_to_its_end() {
    let lab = Lab::new();
    let file = lab.path("disk.bin");
    let (target, file) =
        (format!("file:{}?size=64MiB", file.display()), file.display().to_string());
    // Eight steps, longer than all that passes before the last kill.
    let settings =
        ["--set", "random_span=16MiB", "--set", "time=2s", "--set", "sequential_time=2s"];
    let call = [&["corners", &target, "--quiet"], &settings[..]].concat();
    let resume = ["--resume", "--quiet", "--erase", &file];
    let mut moments = Moments(2);
    let child = start(&lab, &call);
    while run_dirs(&lab).is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_after(child, Duration::from_millis(500));
    for _ in 0..3 {
        kill_after(start(&lab, &resume), moments.next_below(5_000));
        must_be_readable(&lab, &run_dirs(&lab));
    }
    let answer = Answer::of(ask(&lab, &["run", "--resume", "--quiet"]).args(["--format", "json"]));
    answer.must_exit_with(3);
    assert_eq!(answer.reason(), "existing-file", "a file left behind is not taken unasked");
    let done = json(&lab, &[&["run"], &resume[..]].concat());
    let figures = figures(&done);
    let figures = figures.values().next().expect("a run").as_object().expect("figures").clone();
    // A percentile needs more commands than a short step may have.
    let mut means = figures.iter().filter(|(name, _)| !name.contains("latency_ns_p"));
    assert!(means.all(|(_, value)| value.is_number()), "all corners are measured: {figures:#?}");
    let again = json(&lab, &[&["run"], &resume[..]].concat());
    assert_eq!(again["run_dirs"], done["run_dirs"], "a complete run is not done again");
}
