//! The kernel of the emulated machine: that of Debian, unpacked below the target directory. This
//! machine installs nothing of it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::log::Log;
use crate::proc;
use crate::setup;
use crate::workspace::Workspace;

/// The package that depends on Debian's current kernel.
const META_PACKAGE: &str = "linux-image-amd64";

/// Downloads and unpacks the kernel, if it is missing.
pub fn unpack(workspace: &Workspace, log: Log) -> Result<()> {
    let dir = workspace.kernel_dir();
    if dir.join("complete").exists() {
        log.line("the kernel is there");
        return Ok(());
    }
    std::fs::create_dir_all(&dir)?;
    let package = package_name(log)?;
    stream_in(&dir, log, "apt-get", &["download", &package])?;
    let archive = archive_of(&dir, &package)?;
    stream_in(&dir, log, "dpkg-deb", &["--extract", &archive, "."])?;
    std::fs::remove_file(dir.join(&archive))?;
    // Newer packages keep modules below usr/, where the tools of older ones do not look.
    if !dir.join("lib").exists() {
        std::os::unix::fs::symlink("usr/lib", dir.join("lib"))?;
    }
    let version = package.trim_start_matches("linux-image-");
    let depmod = proc::which("depmod").context("depmod is not installed")?;
    stream_in(&dir, log, &depmod.to_string_lossy(), &["--basedir", ".", version])?;
    std::fs::write(dir.join("complete"), package)?;
    Ok(())
}

fn stream_in(dir: &Path, log: Log, program: &str, args: &[&str]) -> Result<()> {
    proc::stream(log, Command::new(program).args(args).current_dir(dir))
}

/// The package of the current kernel; downloads missing package lists.
fn package_name(log: Log) -> Result<String> {
    if let Some(name) = dependency() {
        return Ok(name);
    }
    proc::stream(log, setup::as_root("apt-get").arg("update"))?;
    dependency().with_context(|| format!("apt-cache does not know {META_PACKAGE}"))
}

fn dependency() -> Option<String> {
    let listed = proc::capture(Command::new("apt-cache").args(["depends", META_PACKAGE])).ok()?;
    let names = listed.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    names.map(str::to_owned).find(|name| name.starts_with("linux-image-"))
}

fn archive_of(dir: &Path, package: &str) -> Result<String> {
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with(&format!("{package}_")) && name.ends_with(".deb") {
            return Ok(name);
        }
    }
    bail!("apt-get download {package} left no archive in {}", dir.display())
}
