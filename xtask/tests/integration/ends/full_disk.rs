//! A library on a full disk: exit code 4, and the data are safe.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::lab::{Answer, Lab, phase, read_run};

/// A tiny file system in memory, unmounted on drop. Needs root.
pub(super) struct TinyDisk(PathBuf);

impl TinyDisk {
    pub(super) fn mount(point: PathBuf, size: &str) -> Self {
        std::fs::create_dir(&point).expect("a mount point");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]);
        assert!(mount.arg(&point).status().expect("mount starts").success());
        Self(point)
    }

    /// Fills the remaining room.
    pub(super) fn fill(&self) {
        let mut junk = std::fs::File::create(self.0.join("junk")).expect("room for a name");
        while junk.write_all(&[0; 4096]).is_ok() {}
    }

    /// Fills the room but for so many bytes.
    pub(super) fn fill_but(&self, bytes: u64) {
        self.fill();
        let junk = std::fs::File::options().write(true).open(self.0.join("junk"));
        let junk = junk.expect("it fills the disk");
        let length = junk.metadata().expect("a file").len();
        junk.set_len(length.saturating_sub(bytes)).expect("a shorter file");
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_library_without_room_is_refused_before_anything_is_measured() {
    let lab = Lab::new();
    let _disk = TinyDisk::mount(lab.library(), "16k");
    let target = "sim:sandisk-extreme-ii-480gb?scale=1/64";
    let answer = Answer::of(&mut lab.consistency(&[target, "--set", "duration=40s"]));
    answer.must_exit_with(4);
    assert!(answer.stderr.contains("--library"), "the message names the fix: {answer:#?}");
}

#[test]
fn results_that_do_not_fit_any_more_are_rescued() {
    let lab = Lab::new();
    let disk = TinyDisk::mount(lab.library(), "8m");
    let (target, rescue) = (lab.path("disk.bin"), lab.path("rescue"));
    std::fs::create_dir(&rescue).expect("a place for the rescue");
    let target = format!("file:{}?size=64MiB", target.display());
    let mut command = lab.consistency(&[&target, "--set", "duration=4s"]);
    command.env("TMPDIR", &rescue).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("starts");
    // Purge and fill take well under a second; the load is under way after two.
    std::thread::sleep(Duration::from_secs(2));
    disk.fill();
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(4);
    let rescued = &lab.run_dirs(&answer.document())[0];
    assert!(!rescued.starts_with(&disk.0), "{answer:#?}");
    assert!(answer.stderr.contains(&*rescued.to_string_lossy()), "says where: {answer:#?}");
    let load_ios = phase(&read_run(rescued), "load")["ios"].as_u64();
    assert!(load_ios.is_some_and(|ios| ios > 0), "{answer:#?}");
    assert!(rescued.join("series.parquet").is_file());
}
