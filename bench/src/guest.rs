//! The emulated machine of a bench: boots, runs a script, and returns what each of its commands said.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail, ensure};

use super::scratch::ScratchDir;
use xtask::guest::initramfs::{self, Content, Kernel};
use xtask::guest::records::{DONE, Record, parse};
use xtask::kernel;
use xtask::log::Log;
use xtask::proc;
use xtask::workspace::Workspace;

/// Longest time of the machine, in seconds; an emulated processor is slow.
const TIME_MAX_S: &str = "3600";

/// The content of the machine, and its size.
pub(super) struct Machine<'a> {
    /// Programs of this machine beside busybox.
    pub(super) programs: &'a [&'a str],
    /// Kernel modules, in a valid order of loading.
    pub(super) modules: &'a [&'a str],
    /// The program under test.
    pub(super) ssdlab: &'a Path,
    pub(super) memory_mib: u32,
}

impl Machine<'_> {
    /// Boots, runs the commands to their end, and returns their records. In the script, `must NAME COMMAND...` is `run`
    /// that ends the machine if the command fails.
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        script: &str,
    ) -> Result<BTreeMap<String, Record>> {
        kernel::unpack(workspace, Log::stderr("bench"))?;
        let scratch = ScratchDir::make(None)?;
        let kernel = Kernel::find(workspace.kernel_dir())?;
        let programs: Vec<_> = ["busybox"].iter().chain(self.programs).copied().collect();
        let script =
            format!("must() {{ run \"$@\" || {{ echo '{DONE}'; poweroff -f; }}; }}\n{script}");
        let content = Content {
            programs: &programs,
            ssdlab: self.ssdlab,
            modules: self.modules,
            scripts: &[("guest.sh", &script)],
        };
        let archive = scratch.0.join("initramfs");
        initramfs::pack(&kernel, &content, &scratch.0, &archive)?;
        self.boot(&kernel, &archive, &scratch.0)
    }

    fn boot(
        &self,
        kernel: &Kernel,
        archive: &Path,
        work: &Path,
    ) -> Result<BTreeMap<String, Record>> {
        let (written, console) = (work.join("written"), work.join("console"));
        let mut qemu = Command::new("timeout");
        qemu.arg(TIME_MAX_S).arg(initramfs::program("qemu-system-x86_64")?);
        qemu.args(["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-M", "q35"]);
        qemu.args(["-m", &self.memory_mib.to_string()]);
        qemu.args(["-nodefaults", "-display", "none", "-no-reboot"]);
        qemu.args(["-append", "console=ttyS0 quiet panic=-1 mitigations=off"]);
        qemu.arg("-kernel").arg(kernel.image()).arg("-initrd").arg(archive);
        for log in [&console, &written] {
            qemu.arg("-serial").arg(format!("file:{}", log.display()));
        }
        let ended = proc::capture(&mut qemu);
        let read =
            |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let (written, console) = (read(&written), read(&console));
        if let Err(error) = ended {
            bail!("{error:#}:\n{console}\n{written}");
        }
        ensure!(
            written.contains(DONE),
            "the machine did not end its script:\n{console}\n{written}"
        );
        Ok(parse(&written))
    }
}

/// Fails if one of the commands that `is_needed` failed.
pub(super) fn check(records: &BTreeMap<String, Record>, is_needed: fn(&str) -> bool) -> Result<()> {
    let lost = records.iter().find(|(name, record)| record.code != 0 && is_needed(name));
    if let Some((name, Record { code, stdout, stderr })) = lost {
        bail!("{name} in the emulated machine ended with {code}: {stdout}{stderr}");
    }
    Ok(())
}
