//! The media that both programs write to: nothing, a file, a loop device over a file, compressed
//! memory.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use xtask::log::Log;
use xtask::proc;

/// Log of the setup.
const LOG: Log = Log::stderr("bench");

/// Kinds of media, by the cost of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Medium {
    /// The null target and the null engine of fio: the cost of the harness itself.
    Null,
    /// A file with all its blocks written.
    File,
    /// A loop device over such a file; needs root.
    Loop,
    /// A compressed RAM disk; needs root and the kernel's zram.
    Zram,
}

/// A medium, set up; dropping it undoes the setup.
pub(crate) struct Ready {
    pub(crate) medium: Medium,
    /// File or device; unused by [`Medium::Null`].
    pub(crate) path: PathBuf,
    /// Word for `--erase`: a loop device is named by its file.
    pub(crate) word: PathBuf,
    pub(crate) size_bytes: u64,
    /// The library for the results of ssdlab.
    pub(crate) library: PathBuf,
    undo: Option<Command>,
}

impl Medium {
    /// The word on the command line and in the document.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::File => "file",
            Self::Loop => "loop",
            Self::Zram => "zram",
        }
    }

    /// Sets it up in `dir`, with every block written once, so that no turn pays for allocation.
    pub(crate) fn prepare(self, dir: &Path, size_bytes: u64) -> Result<Ready> {
        let file = dir.join(format!("{}.bin", self.name()));
        let (path, undo) = match self {
            Self::Null | Self::File => (file.clone(), None),
            Self::Loop => attach(&file, size_bytes)?,
            Self::Zram => compressed_memory(size_bytes)?,
        };
        let word = if self == Self::Loop { file.canonicalize()? } else { path.clone() };
        let library = dir.join("runs");
        let ready = Ready { medium: self, path, word, size_bytes, library, undo };
        if self != Self::Null {
            proc::stream(LOG, &mut fill(&ready))?;
        }
        Ok(ready)
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        // Whoever looks at new devices may hold it for a moment.
        const TRIES: u32 = 50;
        let Some(undo) = &mut self.undo else { return };
        if (0..TRIES).any(|_| proc::succeeds(undo) || pause()) {
            return;
        }
        LOG.line(&format!(
            "{} could not be taken down; see losetup and zramctl",
            self.path.display()
        ));
    }
}

/// Waits a little; returns false, so that the caller tries again.
fn pause() -> bool {
    std::thread::sleep(std::time::Duration::from_millis(100));
    false
}

/// Direct I/O to the file below: otherwise the bench would measure the page cache.
fn attach(file: &Path, size_bytes: u64) -> Result<(PathBuf, Option<Command>)> {
    std::fs::File::create(file)?.set_len(size_bytes)?;
    let losetup =
        proc::which("losetup").context("losetup is not in PATH (Debian package mount)")?;
    let mut command = Command::new(&losetup);
    command.args(["--find", "--show", "--direct-io=on"]).arg(file);
    let node = node_from(&mut command)?;
    let mut undo = Command::new(losetup);
    undo.arg("--detach").arg(&node);
    Ok((node, Some(undo)))
}

fn compressed_memory(size_bytes: u64) -> Result<(PathBuf, Option<Command>)> {
    let zramctl = proc::which("zramctl").context("zramctl is not in PATH (util-linux)")?;
    let mut command = Command::new(&zramctl);
    command.args(["--find", "--size", &size_bytes.to_string()]);
    let node = node_from(&mut command)?;
    // `zramctl --reset` would also remove the device, which may have been there before.
    let mut undo = Command::new("sh");
    let name = node.file_name().unwrap_or_default().to_string_lossy();
    undo.args(["-c", &format!("echo 1 > /sys/block/{name}/reset")]);
    Ok((node, Some(undo)))
}

/// The device that a command reports as new.
fn node_from(command: &mut Command) -> Result<PathBuf> {
    let node = PathBuf::from(proc::capture(command)?.trim());
    if !node.starts_with("/dev") {
        bail!("{} is no device node", node.display());
    }
    Ok(node)
}

fn fill(ready: &Ready) -> Command {
    let mut command = Command::new("fio");
    command.args(["--name=fill", "--direct=1", "--thread", "--rw=write", "--bs=1M"]);
    command.args(["--ioengine=psync", "--end_fsync=1"]);
    command.arg(format!("--filename={}", ready.path.display()));
    command.arg(format!("--size={}", ready.size_bytes));
    command
}
