//! The tools of the checks beyond Rust, Node and Python: found, or installed on Debian if
//! permitted.

use std::process::Command;

use anyhow::{Context, Result};

use crate::log::Log;
use crate::proc;
use crate::workspace::Workspace;

/// A program and its Debian package.
struct Tool {
    program: &'static str,
    package: &'static str,
}

/// Programs that a Debian system can install for itself.
const TOOLS: [Tool; 24] = [
    Tool { program: "fio", package: "fio" },
    Tool { program: "chromium", package: "chromium" },
    Tool { program: "mkfs.ext4", package: "e2fsprogs" },
    Tool { program: "mkfs.f2fs", package: "f2fs-tools" },
    Tool { program: "mkswap", package: "util-linux" },
    Tool { program: "losetup", package: "mount" },
    Tool { program: "mount", package: "mount" },
    Tool { program: "swapon", package: "mount" },
    Tool { program: "qemu-system-x86_64", package: "qemu-system-x86" },
    Tool { program: "busybox", package: "busybox-static" },
    Tool { program: "cpio", package: "cpio" },
    Tool { program: "depmod", package: "kmod" },
    Tool { program: "dmsetup", package: "dmsetup" },
    Tool { program: "nvme", package: "nvme-cli" },
    Tool { program: "nbd-client", package: "nbd-client" },
    Tool { program: "nbdcopy", package: "libnbd-bin" },
    Tool { program: "nbdinfo", package: "libnbd-bin" },
    Tool { program: "qemu-img", package: "qemu-utils" },
    Tool { program: "sg_sat_identify", package: "sg3-utils" },
    Tool { program: "smartctl", package: "smartmontools" },
    Tool { program: "valgrind", package: "valgrind" },
    Tool { program: "fish", package: "fish" },
    Tool { program: "zsh", package: "zsh" },
    Tool { program: "zstd", package: "zstd" },
];

/// A requirement of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A program in PATH.
    Program(&'static str),
    /// Root, or sudo without a password.
    Root,
    /// Permission to attach loop devices.
    LoopDevices,
    /// Every Debian package, or the right to install missing ones.
    Packages,
}

impl Need {
    /// The remedy for a missing requirement in a sentence, or `None` if it is met.
    pub fn missing(self) -> Option<String> {
        match self {
            Self::Program(program) => missing_program(program),
            Self::Root => {
                let able = is_root() || can_sudo();
                (!able).then(|| "needs root: run as root or allow sudo without a password".into())
            }
            Self::LoopDevices => {
                let able = proc::succeeds(as_root("losetup").arg("--find"));
                (!able).then(|| "needs loop devices: load the kernel module `loop`".into())
            }
            Self::Packages => not_installable(&missing_packages()),
        }
    }
}

fn missing_program(program: &str) -> Option<String> {
    if proc::which(program).is_some() {
        return None;
    }
    let package = TOOLS.iter().find(|tool| tool.program == program);
    Some(match package {
        Some(tool) => format!("needs {program}: apt-get install {}", tool.package),
        None => format!("needs {program} in PATH"),
    })
}

/// A sentence with the command that installs `missing`, for a user without that right.
fn not_installable(missing: &[&str]) -> Option<String> {
    let able = proc::which("apt-get").is_some() && (is_root() || can_sudo());
    let list = missing.join(" ");
    (!missing.is_empty() && !able)
        .then(|| format!("missing: {list}; on Debian: sudo apt-get install {list}"))
}

/// The step `setup`: installs missing packages.
pub fn system_packages(log: Log) -> Result<()> {
    let missing = missing_packages();
    if missing.is_empty() {
        log.line("every program is there");
        return Ok(());
    }
    proc::stream(log, as_root("apt-get").arg("update"))?;
    let mut install = as_root("env");
    install.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "--yes"]);
    proc::stream(log, install.arg("--no-install-recommends").args(&missing))
}

fn missing_packages() -> Vec<&'static str> {
    let mut packages: Vec<_> = TOOLS
        .iter()
        .filter(|tool| proc::which(tool.program).is_none())
        .map(|tool| tool.package)
        .collect();
    let has_venv = proc::succeeds(Command::new("python3").args(["-c", "import ensurepip, venv"]));
    if !has_venv {
        packages.push("python3-venv");
    }
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// Creates `.venv` with the imports of the Python tests, if it is missing.
pub fn python_environment(workspace: &Workspace, log: Log) -> Result<()> {
    let requirements = workspace.path("tests/python/requirements.txt");
    let wanted = std::fs::read(&requirements)
        .with_context(|| format!("cannot read {}", requirements.display()))?;
    let stamp = workspace.path(".venv/installed-requirements.txt");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        log.line(".venv is as tests/python/requirements.txt wants it");
        return Ok(());
    }
    let mut venv = Command::new("python3");
    proc::stream(log, venv.args(["-m", "venv", ".venv"]).current_dir(workspace.root()))?;
    let mut pip = python(workspace);
    // Most files are never imported: to compile them all takes longer than to fetch them.
    pip.args(["-m", "pip", "install", "--quiet", "--no-compile", "--requirement"]);
    proc::stream(log, pip.arg(requirements))?;
    std::fs::write(stamp, wanted)?;
    Ok(())
}

/// The Python of `.venv`, at the top of the checkout.
pub fn python(workspace: &Workspace) -> Command {
    let mut command = Command::new(workspace.path(".venv/bin/python"));
    command.current_dir(workspace.root());
    command
}

/// A command that runs as root: itself, or through sudo.
pub fn as_root(program: &str) -> Command {
    if is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("sudo");
    command.args(["-n", program]);
    command
}

/// Whether this process is root.
pub fn is_root() -> bool {
    proc::capture(Command::new("id").arg("-u")).is_ok_and(|uid| uid.trim() == "0")
}

fn can_sudo() -> bool {
    proc::succeeds(Command::new("sudo").args(["-n", "true"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_name_the_package() {
        assert_eq!(Need::Program("sh").missing(), None);
        let unknown = Need::Program("no-such-program").missing().unwrap();
        assert_eq!(unknown, "needs no-such-program in PATH");
    }
}
