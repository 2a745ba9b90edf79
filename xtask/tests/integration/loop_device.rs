//! A loop device over a file, which stands in for a drive; needs root.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab::Lab;

/// A loop device, detached on drop.
pub(crate) struct LoopDevice {
    pub(crate) path: PathBuf,
    /// The file below.
    pub(crate) backing: PathBuf,
}

impl LoopDevice {
    pub(crate) fn attach(lab: &Lab) -> Self {
        let backing = lab.path("backing.img");
        let made = File::create(&backing).expect("a backing file");
        made.set_len(64 << 20).expect("64 MiB of room");
        Self::over(&backing)
    }

    /// A loop device over an existing file.
    pub(crate) fn over(backing: &Path) -> Self {
        let backing = backing.canonicalize().expect("a backing file");
        let path = tool("losetup", &["--find", "--show", &backing.to_string_lossy()]);
        Self { path: path.trim().into(), backing }
    }

    /// The word that confirms it.
    pub(crate) fn word(&self) -> String {
        self.backing.to_string_lossy().into_owned()
    }

    pub(crate) fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // A test that fails must still clean up as far as it can.
        let _ = Command::new("losetup").args(["--detach", &self.name()]).status();
    }
}

/// A file system on a loop device, mounted for reading and unmounted on drop.
pub(crate) struct Mounted {
    pub(crate) image: PathBuf,
    pub(crate) at: PathBuf,
    pub(crate) node: LoopDevice,
}

impl Mounted {
    pub(crate) fn new(lab: &Lab, size_bytes: u64) -> Self {
        let (image, at) = (lab.path("image"), lab.path("mounted"));
        File::create(&image).expect("an image").set_len(size_bytes).expect("room");
        fs::create_dir(&at).expect("a mount point");
        let node = LoopDevice::over(&image);
        tool("mkfs.ext4", &["-q", &node.name()]);
        tool("mount", &["-o", "ro", &node.name(), &at.to_string_lossy()]);
        Self { image: node.backing.clone(), at, node }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A test that fails must still clean up as far as it can.
        let _ = Command::new("umount").arg(&self.at).status();
    }
}

/// Runs a program of the system that must succeed; not every PATH contains /usr/sbin.
pub(crate) fn tool(program: &str, args: &[&str]) -> String {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(program).args(args).env("PATH", path).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}
