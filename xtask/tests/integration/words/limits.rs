//! Limits of the process: the program ends with an exit code, and keeps earlier data.

use std::process::Command;

use crate::lab::{Answer, Lab, read_run};

/// `ssdlab ARGS...` under a limit of the shell.
fn limited(lab: &Lab, limit: &str, args: &[&str]) -> Answer {
    let program = lab.command::<&str>(&[]);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -c 0; ulimit {limit}; exec \"$0\" \"$@\"")]);
    command.arg(program.get_program()).args(args).args(["--format", "json"]);
    command.current_dir(program.get_current_dir().expect("a directory"));
    Answer::of(&mut command)
}

/// A library whose files may not grow beyond 8 KiB takes the first phases and not the last.
#[test]
fn a_limit_of_file_size_is_a_full_disk_and_no_signal() {
    let lab = Lab::new();
    let target = "sim:sandisk-extreme-ii-480gb?scale=1/128";
    let run = ["run", "consistency", target, "--set", "duration=60s", "--library", "runs"];
    let answer = limited(&lab, "-f 16", &[&run[..], &["--quiet"]].concat());
    answer.must_exit_with(4);
    assert!(answer.stderr.contains("File too large"), "{answer:#?}");
    let dir = &lab.run_dirs(&answer.document())[0];
    assert!(
        answer.stderr.contains(&*dir.file_name().expect("a name").to_string_lossy()),
        "{answer:#?}"
    );
    let phases = read_run(dir)["phases"].as_array().map_or(0, Vec::len);
    assert!(phases > 0, "what was written before is kept: {answer:#?}");
    let shown = Answer::of(&mut lab.command(&["show", &dir.display().to_string()]));
    shown.must_exit_with(0);
}

#[test]
fn a_drive_that_does_not_fit_into_the_limit_is_refused() {
    let lab = Lab::new();
    let target = "sim:sandisk-extreme-ii-480gb?scale=1/2";
    let answer = limited(&lab, "-v 400000", &["run", "consistency", target, "--library", "runs"]);
    answer.must_exit_with(5);
    assert_eq!(answer.reason(), "unsupported");
    assert!(answer.stderr.contains("scale=1/64"), "the message names the fix: {answer:#?}");
    assert!(!lab.library().exists(), "nothing was begun");
}

/// Rising limits, until the work fits.
#[test]
fn memory_that_cannot_be_had_is_an_end_with_a_document() {
    let lab = Lab::new();
    let trace = ["trace", "info", "synth:destroyer-2013?scale=1/100"];
    let mut ends = (10..100).map(|step| limited(&lab, &format!("-v {}", 2000 * step), &trace));
    // Below that neither the system's loader nor the start of the program gets through: memory ends
    // before the arguments are read, or before there is a thread for signals.
    let has_begun = |answer: &Answer| answer.code == Some(5) && !answer.stdout.is_empty();
    let first = ends.find(has_begun).expect("some limit is reached");
    let further = ends.take_while(|answer| answer.code != Some(0));
    for answer in std::iter::once(first).chain(further) {
        answer.must_exit_with(5);
        assert_eq!(answer.reason(), "memory", "{answer:#?}");
    }
}
