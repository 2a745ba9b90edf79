//! A library on a full disk: the run says so, ends with exit code 4, and what it measured is safe.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab::{Answer, Lab};

/// A tiny filesystem in memory; unmounted when it goes out of scope. Needs root.
struct TinyDisk(PathBuf);

impl TinyDisk {
    fn mount(point: PathBuf) -> Self {
        std::fs::create_dir(&point).expect("a mount point");
        let options = ["-t", "tmpfs", "-o", "size=16k", "tmpfs"];
        let status = Command::new("mount").args(options).arg(&point).status();
        assert!(status.expect("mount starts").success());
        Self(point)
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn results_that_do_not_fit_are_rescued() {
    let lab = Lab::new();
    let disk = TinyDisk::mount(lab.library());
    let target = "sim:sandisk-extreme-ii-480gb?scale=1/64";
    let rescue = lab.path("rescue");
    std::fs::create_dir(&rescue).expect("a place for the rescue");
    let mut command = lab.consistency(&[target, "--set", "duration=40s"]);
    let answer = Answer::of(command.env("TMPDIR", &rescue));
    answer.must_exit_with(4);
    assert!(answer.talk().contains("No space left"), "{answer:#?}");
    let rescued = rescued_file(&answer, &disk.0);
    assert!(rescued.is_some(), "the message names no place that holds the data: {answer:#?}");
}

/// The first path in the message that is there, outside of the full disk, and holds something.
fn rescued_file(answer: &Answer, full: &Path) -> Option<PathBuf> {
    let talk = answer.talk();
    let words = talk.split(|c: char| c.is_whitespace() || "\"'`,;()".contains(c));
    words
        .map(|word| PathBuf::from(word.trim_end_matches(['.', ':'])))
        .filter(|path| path.is_absolute() && !path.starts_with(full))
        .find(|path| path.join("run.json").is_file() || (path.is_file() && not_empty(path)))
}

fn not_empty(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.len() > 0)
}
