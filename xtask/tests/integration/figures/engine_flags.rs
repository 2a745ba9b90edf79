//! All commands that make runs accept the engine flags, and refuse them for targets without a
//! choice.

use serde_json::Value;

use crate::lab::{Answer, Lab, read_run};

const DRIVE: &str = "sim:sandisk-extreme-ii-480gb?scale=1/64";

#[test]
fn threads_and_engines_for_targets_that_have_none_are_refused_with_the_reason() {
    let lab = Lab::new();
    let verbs: [&[&str]; 4] = [
        &["run", "consistency"],
        &["review"],
        &["trace", "replay", "synth:light-2011?scale=1/1000"],
        &["advise", "spare", "--floor", "1000"],
    ];
    for verb in verbs {
        for (target, flag) in [
            (DRIVE, &["--workers", "2"][..]),
            (DRIVE, &["--cpu", "pinned"]),
            (DRIVE, &["--cpu", "free"]),
            (DRIVE, &["--engine", "sync"]),
            ("null:", &["--engine", "sync"]),
        ] {
            let args = [verb, &[target, "--format", "json"], flag].concat();
            let answer = Answer::of(&mut lab.command(&args));
            answer.must_exit_with(5);
            assert_eq!(answer.reason(), "unsupported", "{answer:#?}");
            let fix = format!("leave {} away", flag[0]);
            assert!(answer.stderr.contains(&fix), "{answer:#?}");
        }
    }
}

/// The only run of a command.
fn run_of(lab: &Lab, args: &[&str]) -> Value {
    let mut command = lab.command(args);
    command.args(["--quiet", "--format", "json", "--library"]).arg(lab.library());
    let answer = Answer::of(&mut command);
    let dirs = lab.run_dirs(&answer.document());
    assert_eq!(dirs.len(), 1, "{answer:#?}");
    read_run(&dirs[0])
}

#[test]
fn a_review_drives_a_target_as_asked() {
    let lab = Lab::new();
    let run = run_of(
        &lab,
        &[
            "review",
            "file:drive.bin?size=16MiB",
            "--only",
            "mixed",
            "--set",
            "mixed.time=1s",
            "--set",
            "mixed.read_percents=50",
            "--workers",
            "2",
            "--cpu",
            "pinned",
            "--engine",
            "sync",
        ],
    );
    assert_eq!(run["status"], "complete", "{run:#}");
    assert_eq!((&run["config"]["workers"], &run["config"]["cpu"]), (&2.into(), &"pinned".into()));
    assert!(run["target"]["engine"].as_str().is_some_and(|engine| engine.starts_with("sync")));
    let command = run["command"].as_str().expect("the command that repeats it");
    assert!(command.contains("--workers 2 --cpu pinned --engine sync"), "{command}");
}

#[test]
fn a_replay_drives_a_target_as_asked_but_with_one_thread() {
    let lab = Lab::new();
    std::fs::write(lab.path("trace.csv"), "1,R,0,4096,0\n1,W,8192,4096,1000\n").expect("a trace");
    let target = "file:drive.bin?size=16MiB";
    let flags = ["--engine", "sync", "--workers", "2", "--seed", "7", "--set", "purge=false"];
    let run = run_of(&lab, &[&["trace", "replay", "trace.csv", target], &flags[..]].concat());
    assert_eq!((&run["status"], &run["seed"]), (&"complete".into(), &7.into()), "{run:#}");
    assert!(run["target"]["engine"].as_str().is_some_and(|engine| engine.starts_with("sync")));
    assert!(run["warnings"].to_string().contains("one thread replays a trace"), "{run:#}");
}
