//! A loop device over a file, which stands in for a drive; needs root.

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
        let made = std::fs::File::create(&backing).expect("a backing file");
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

/// Runs a program of the system that must succeed; not every PATH contains /usr/sbin.
pub(crate) fn tool(program: &str, args: &[&str]) -> String {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(program).args(args).env("PATH", path).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}
