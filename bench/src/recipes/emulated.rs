//! A recipe in the emulated machine, for a file system that this kernel does not have: server, file system and program
//! run there, and the kernel's own client of NBD stands between them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::accounting::{check_life, settled};
use super::disk::FRESH;
use super::file_system::FileSystem;
use super::work::{UNCHECKED, files_prepared, files_written};
use super::{Bench, Outcome, cut_row};
use crate::scratch::ScratchDir;
use xtask::guest::initramfs::{self, Content, Kernel};
use xtask::guest::records::{DONE, Record, parse};
use xtask::kernel;
use xtask::log::Log;
use xtask::proc;

/// Longest time of the machine, in seconds; an emulated processor is slow.
const TIME_MAX_S: &str = "3600";
/// The disk in the machine.
const DISK: &str = "/dev/nbd0";
/// The mounted file system in the machine.
const ROOT: &str = "/mnt";

/// fio on files, as in the recipes of this machine.
pub(super) fn files(bench: &Bench<'_>, drive: &str, file_system: FileSystem) -> Result<Outcome> {
    kernel::unpack(bench.workspace, Log::stderr("bench"))?;
    let scratch = ScratchDir::make(None)?;
    let kernel = Kernel::find(bench.workspace.kernel_dir())?;
    let (disk, script) = (Path::new(DISK), script(bench, drive, file_system));
    let (make, check) = (file_system.make(disk), file_system.check(disk));
    let content = Content {
        programs: &["busybox", "nbd-client", "fio", &make[0], &check[0]],
        ssdlab: &bench.program,
        modules: &["nbd", file_system.name()],
        scripts: &[("guest.sh", &script)],
    };
    let archive = scratch.0.join("initramfs");
    initramfs::pack(&kernel, &content, &scratch.0, &archive)?;
    let records = boot(&kernel, &archive, &scratch.0)?;
    outcome(&records)
}

/// The commands in the machine.
fn script(bench: &Bench<'_>, drive: &str, file_system: FileSystem) -> String {
    let (root, disk) = (Path::new(ROOT), Path::new(DISK));
    let name = file_system.name();
    let (make, check) = (file_system.make(disk).join(" "), file_system.check(disk).join(" "));
    let prepare = files_prepared(root).join(" ");
    let (work, cut_after) = (files_written(root, bench.size).join(" "), bench.cut_after());
    format!(
        "ssdlab sim expose '{drive}' --no-run --power-cuts --format json --nbd /tmp/nbd --control /tmp/control \\
    > /tmp/served 2> /tmp/said &
server=$!
must() {{ run \"$@\" || {{ echo '{DONE}'; poweroff -f; }}; }}
order() {{ ssdlab sim control /tmp/control \"$@\" --format json; }}
must server await /tmp/nbd $server /tmp/said
must mark order mark {FRESH}
must attach nbd-client -unix /tmp/nbd {DISK} -name ''
must make {make}
must mount mount -t {name} {DISK} {ROOT}
must prepare {prepare}
sync
must idle order idle 1
must reset order reset
must work {work}
sync
must end order status
must settle order idle 1
must life order waf --since {FRESH}
must settled order status
must cut order cut --after-commands {cut_after}
run cut-work {work}
run cuts order cuts
run cut-unmount umount {ROOT}
run cut-mount mount -t {name} {DISK} {ROOT}
run cut-unmount-again umount {ROOT}
run cut-check {check}
"
    )
}

fn boot(kernel: &Kernel, archive: &Path, work: &Path) -> Result<BTreeMap<String, Record>> {
    let (written, console) = (work.join("written"), work.join("console"));
    let mut qemu = Command::new("timeout");
    qemu.arg(TIME_MAX_S).arg(initramfs::program("qemu-system-x86_64")?);
    qemu.args(["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"]);
    qemu.args(["-m", "2600", "-M", "q35", "-nodefaults", "-display", "none", "-no-reboot"]);
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
    ensure!(written.contains(DONE), "the machine did not end its script:\n{console}\n{written}");
    Ok(parse(&written))
}

fn outcome(records: &BTreeMap<String, Record>) -> Result<Outcome> {
    let record = |name: &str| records.get(name).with_context(|| format!("no record of {name}"));
    let lost = records.iter().find(|(name, record)| record.code != 0 && !name.starts_with("cut"));
    if let Some((name, Record { code, stdout, stderr })) = lost {
        bail!("{name} in the emulated machine ended with {code}: {stdout}{stderr}");
    }
    let document = |name: &str| -> Result<Value> {
        let record = record(name)?;
        serde_json::from_str(&record.stdout).with_context(|| format!("{name}: {record:?}"))
    };
    let (mut file_system, is_noticed) = ("clean".to_owned(), record("cut-work")?.code != 0);
    for name in ["cut-unmount", "cut-mount", "cut-unmount-again", "cut-check"] {
        let record = record(name)?;
        if record.code != 0 {
            file_system = format!("{name}: {}{}", record.stdout, record.stderr);
        }
    }
    let power_cut = cut_row(is_noticed, &document("cuts")?, &file_system, UNCHECKED)?;
    check_life(&document("life")?)?;
    let account = settled(&document("end")?, document("settled")?);
    Ok(Outcome { account, power_cut })
}
