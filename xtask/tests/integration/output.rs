//! Readers that leave early, output for which there is no room, and files that are whole or not there.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::lab::{Answer, Lab, read_run};

const TARGET: &str = "sim:sandisk-extreme-ii-480gb?scale=1/128";

/// A pipe whose reader has left.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

/// The only run in the library of a lab.
fn only_run(lab: &Lab) -> serde_json::Value {
    let entries = lab.library().read_dir().expect("a library");
    let dirs: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    let [dir] = dirs.as_slice() else { panic!("not one run: {dirs:?}") };
    read_run(dir)
}

/// As in `ssdlab list | head -1`.
#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let lab = Lab::new();
    let mut command = lab.command(&["list"]);
    let child = command.stdout(unread()).stderr(Stdio::piped()).spawn().expect("starts");
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(0);
    assert_eq!(answer.stderr, "");
}

#[test]
fn a_run_that_nobody_listens_to_is_complete() {
    let lab = Lab::new();
    let mut command = lab.consistency(&[TARGET, "--set", "duration=20s"]);
    let child = command.stdout(unread()).stderr(unread()).spawn().expect("starts");
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(0);
    assert_eq!(only_run(&lab)["status"], "complete");
}

#[test]
fn data_without_room_is_told_and_the_run_is_kept() {
    let lab = Lab::new();
    let full = File::options().write(true).open("/dev/full").expect("a device without room");
    let mut command = lab.consistency(&[TARGET, "--set", "duration=20s"]);
    let child = command.stdout(full).stderr(Stdio::piped()).spawn().expect("starts");
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(4);
    assert!(answer.stderr.contains("the output is not complete"), "{answer:#?}");
    assert_eq!(only_run(&lab)["status"], "complete");
}

#[test]
fn an_interrupted_writer_of_a_trace_leaves_nothing() {
    let lab = Lab::new();
    let mut command = lab.command(&["trace", "synth", "destroyer-2013", "-o", "t.trace.parquet"]);
    let child = command.stderr(Stdio::piped()).spawn().expect("starts");
    let files = || lab.path("").read_dir().expect("a directory").count();
    let begun = Instant::now();
    while files() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is being written");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill starts").success());
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(130);
    assert_eq!(files(), 0, "{answer:#?}");
}

#[test]
fn a_review_looks_at_its_report_before_it_measures() {
    let lab = Lab::new();
    for (option, path) in [("-o", "missing/x.html"), ("-o", "/dev/null"), ("--web", "missing.html")]
    {
        let mut command = lab.command(&["review", TARGET, "--quick", option, path]);
        let answer = Answer::of(command.arg("--library").arg(lab.library()));
        assert!(matches!(answer.code, Some(2 | 4)), "{answer:#?}");
        assert!(answer.stderr.contains(path), "{answer:#?}");
        assert!(!lab.library().exists(), "{answer:#?}");
    }
}

#[test]
fn a_name_that_is_no_text_is_refused() {
    let lab = Lab::new();
    let name = OsStr::from_bytes(b"runs\xff");
    for words in [[OsStr::new("show"), name], [OsStr::new("report"), name]] {
        let answer = Answer::of(&mut lab.command(&words));
        answer.must_exit_with(2);
        assert!(answer.stderr.contains("UTF-8"), "{answer:#?}");
    }
}
