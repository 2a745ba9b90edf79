//! Where things are: the checkout, the target directory and the programs built into it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::proc;

/// The checkout that we were called in.
pub(crate) struct Workspace {
    root: PathBuf,
    target_dir: PathBuf,
}

impl Workspace {
    /// Asks cargo at run time: a path compiled in would lead to another checkout where two of them
    /// share a target directory, and the target directory itself may have been moved.
    pub(crate) fn find() -> Result<Self> {
        let mut metadata = cargo();
        metadata.args(["metadata", "--no-deps", "--format-version=1"]);
        let metadata: serde_json::Value = serde_json::from_str(&proc::capture(&mut metadata)?)?;
        let dir = |key: &str| {
            let path = metadata[key].as_str().map(PathBuf::from);
            path.with_context(|| format!("cargo metadata named no {key}"))
        };
        Ok(Self { root: dir("workspace_root")?, target_dir: dir("target_directory")? })
    }

    /// The top of the checkout.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path inside the checkout.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The release build of the command line program, built or not.
    pub(crate) fn ssdlab(&self) -> PathBuf {
        self.target_dir.join("release/ssdlab")
    }

    /// The static build of the same program, built or not.
    pub(crate) fn ssdlab_static(&self) -> PathBuf {
        self.target_dir.join(STATIC_TARGET).join("release/ssdlab")
    }

    /// Where the kernel of the emulated machine is unpacked.
    pub(crate) fn kernel_dir(&self) -> PathBuf {
        self.target_dir.join("qemu-kernel")
    }

    /// A cargo command that runs at the top of the checkout.
    pub(crate) fn cargo<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = cargo();
        command.args(args).current_dir(&self.root);
        command
    }

    /// An npm command that runs in `web/`.
    pub(crate) fn npm<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = Command::new("npm");
        command.args(args).current_dir(self.path("web"));
        command
    }

    /// The command that builds [`Self::ssdlab`].
    pub(crate) fn build_release(&self) -> Command {
        self.cargo(["build", "--release", "--package", "ssdlab-cli"])
    }

    /// The command that builds [`Self::ssdlab_static`], with the C library inside.
    pub(crate) fn build_static(&self) -> Command {
        let mut build = self.build_release();
        build.args(["--target", STATIC_TARGET]).env("RUSTFLAGS", "-C target-feature=+crt-static");
        build
    }
}

/// Naming the target, even that of the host, keeps the flags away from procedural macros.
const STATIC_TARGET: &str = "x86_64-unknown-linux-gnu";

/// The cargo that runs us, so that a toolchain chosen with `cargo +NAME` is kept.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
