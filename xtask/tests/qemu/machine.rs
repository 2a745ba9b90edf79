//! Boots the machine once for all tests and decodes its records.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use xtask::guest::initramfs::{self, Content, Kernel};
use xtask::guest::records::{self, DONE, parse};

/// Programs of the host for the machine.
const PROGRAMS: [&str; 10] = [
    "busybox",
    "nvme",
    "sg_sat_identify",
    "smartctl",
    "dmsetup",
    "nbd-client",
    "fio",
    "blkzone",
    "mkfs.f2fs",
    "fsck.f2fs",
];

/// Drivers of the drives, in a valid order of loading.
const MODULES: [&str; 16] = [
    "nvme",
    "crc32c_generic",
    "nvme-tcp",
    "ahci",
    "sd_mod",
    "dm-delay",
    "dm-flakey",
    "null_blk",
    "zram",
    "ext4",
    "f2fs",
    "zonefs",
    "nbd",
    "i2c-dev",
    "i2c-stub",
    "ltc4151",
];

const SCRIPTS: [(&str, &str); 10] = [
    ("guest.sh", include_str!("guest.sh")),
    ("scenarios.sh", include_str!("scenarios.sh")),
    ("nvme_server.sh", include_str!("nvme_server.sh")),
    ("nvme_tcp.sh", include_str!("nvme_tcp.sh")),
    ("nvme_review.sh", include_str!("nvme_review.sh")),
    ("nvme_zones.sh", include_str!("nvme_zones.sh")),
    ("nvme_zones_lab.sh", include_str!("nvme_zones_lab.sh")),
    ("nvme_files.sh", include_str!("nvme_files.sh")),
    ("nvme_placement.sh", include_str!("nvme_placement.sh")),
    ("nvme_placement_lab.sh", include_str!("nvme_placement_lab.sh")),
];

/// Longest time for boot and all scenarios, in seconds; on a quiet machine they take a fifth of it.
const TIME_MAX_S: &str = "2400";

/// The message of the kernel about a stopped processor. An emulated processor sometimes loses its
/// timer for good, and the others then wait for it; no user program causes that.
const STOPPED: &str = "soft lockup";

/// A command in the machine: its exit code and its output.
#[derive(Debug)]
pub(crate) struct Record(records::Record);

impl Deref for Record {
    type Target = records::Record;

    fn deref(&self) -> &records::Record {
        &self.0
    }
}

impl Record {
    /// The record of `run NAME ...`.
    pub(crate) fn of(name: &str) -> &'static Self {
        let records = records();
        records
            .get(name)
            .unwrap_or_else(|| panic!("no record {name}; there are {:?}", records.keys()))
    }

    /// Stdout as exactly one JSON document.
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not one JSON document: {error}\n{self:#?}"))
    }

    pub(crate) fn must_exit_with(&self, code: i32) {
        assert_eq!(self.code, code, "{self:#?}");
    }

    /// Fails unless the command was refused with exit code 3 and this reason.
    pub(crate) fn must_be_refused_as(&self, reason: &str) {
        self.must_exit_with(3);
        assert_eq!(self.document()["error"]["reason"], reason, "{self:#?}");
    }
}

fn records() -> &'static BTreeMap<String, Record> {
    static RECORDS: OnceLock<Option<BTreeMap<String, Record>>> = OnceLock::new();
    let records = RECORDS.get_or_init(|| {
        // One test shows why, and the others do not boot once more.
        std::panic::catch_unwind(boot_patiently).ok()
    });
    records.as_ref().expect("the machine ran to its end; the first failed test shows its console")
}

fn boot_patiently() -> BTreeMap<String, Record> {
    let (mut written, mut console) = boot();
    if console.contains(STOPPED) {
        // Not by `eprintln!`, which the harness keeps to itself where a test passes.
        let text = "a processor of the emulated machine stopped; once more from the start";
        let _ = writeln!(std::io::stderr(), "{text}:\n{console}");
        (written, console) = boot();
    }
    assert!(written.contains(DONE), "the script did not end:\n{console}\n{written}");
    parse(&written).into_iter().map(|(name, record)| (name, Record(record))).collect()
}

/// The program under test.
pub(crate) fn binary() -> PathBuf {
    let ssdlab = std::env::var_os("SSDLAB_BIN").map(PathBuf::from);
    ssdlab.expect("set SSDLAB_BIN, or use `cargo xtask test --only qemu`")
}

/// The kernel in the directory that `SSDLAB_KERNEL` names.
fn kernel() -> Kernel {
    let dir = std::env::var_os("SSDLAB_KERNEL").map(PathBuf::from);
    let dir = dir.expect("set SSDLAB_KERNEL, or use `cargo xtask test --only qemu`");
    Kernel::find(dir).expect("a kernel")
}

fn program(name: &str) -> PathBuf {
    initramfs::program(name).expect("a program")
}

/// Runs the machine to its end; returns the records of the script and the messages of the kernel.
fn boot() -> (String, String) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let work = scratch.path();
    let ssdlab = binary();
    let (kernel, archive) = (kernel(), work.join("initramfs"));
    let content =
        Content { programs: &PROGRAMS, ssdlab: &ssdlab, modules: &MODULES, scripts: &SCRIPTS };
    initramfs::pack(&kernel, &content, work, &archive).expect("the machine is packed");
    let (written, console) = (work.join("written"), work.join("console"));
    // Before other work, as far as this user may: an emulated processor that waits for a real one makes latencies. Without
    // the right, `nice` warns and starts the machine all the same.
    let mut qemu = Command::new("nice");
    qemu.args(["-n", "-10", "timeout", TIME_MAX_S]).arg(program("qemu-system-x86_64"));
    qemu.args([
        "-accel",
        "tcg,thread=multi",
        "-cpu",
        "max",
        "-smp",
        "2",
        "-m",
        "1024",
        "-M",
        "q35",
    ]);
    qemu.args(["-nodefaults", "-display", "none", "-no-reboot", "-append"]);
    // A processor that has stopped for a minute ends the machine when the kernel notices, instead of all its time.
    let watchdog = "softlockup_panic=1 watchdog_thresh=30";
    qemu.arg(format!("console=ttyS0 quiet panic=-1 mitigations=off {watchdog}"));
    qemu.arg("-kernel").arg(kernel.image()).arg("-initrd").arg(archive);
    for log in [&console, &written] {
        qemu.arg("-serial").arg(format!("file:{}", log.display()));
    }
    add_drives(&mut qemu, work);
    let exposed = Exposed::start(&ssdlab, work, "nvme-exposed", &[]);
    let steady = Exposed::start_steady(&ssdlab, work);
    exposed.add_to(&mut qemu);
    steady.add_to(&mut qemu);
    let status = qemu.status().expect("qemu starts");
    drop((exposed, steady));
    let read =
        |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    assert!(status.success(), "{qemu:?} ended with {status}:\n{}", read(&console));
    (read(&written), read(&console))
}

/// The controller takes 2 to the power of 4 pages in one command: 64 KiB.
const SHORT_COMMANDS: &str = ",mdts=4";

/// The drives of the machine; `guest.sh` finds them by their serials.
fn add_drives(qemu: &mut Command, work: &Path) {
    for id in ["nvme-one", "nvme-gone", "first", "second", "third", "sata-one", "sata-base"] {
        let path = new_image(work, id);
        let path = path.display();
        qemu.arg("-drive").arg(format!("if=none,format=raw,discard=unmap,id={id},file={path}"));
    }
    add_failing_drive(qemu, &new_image(work, "nvme-bad"));
    for (id, property) in [("nvme-one", SHORT_COMMANDS), ("nvme-gone", ""), ("nvme-bad", "")] {
        let serial = id.to_uppercase();
        qemu.arg("-device").arg(format!("nvme,drive={id},serial={serial}{property}"));
    }
    qemu.args(["-device", "nvme,id=two,serial=NVME-TWO"]);
    qemu.args(["-device", "nvme-ns,bus=two,nsid=1,drive=first"]);
    qemu.args(["-device", "nvme-ns,bus=two,nsid=2,drive=second"]);
    // With metadata beside each block.
    qemu.args(["-device", "nvme-ns,bus=two,nsid=3,drive=third,ms=8"]);
    for (port, id) in ["sata-one", "sata-base"].iter().enumerate() {
        let serial = id.to_uppercase();
        qemu.arg("-device").arg(format!("ide-hd,bus=ide.{port},drive={id},serial={serial}"));
    }
}

/// The simulated drive behind the exposed disks; its capacity, as the server tells it: 256 GB / 1024, in whole pages.
pub(crate) const EXPOSED_DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/1024";

/// Slowness of the clock of the disk in its steady state: the time of the emulated machine is then a few percent of
/// that of the drive.
pub(crate) const STEADY_SLOWDOWN: u32 = 80;

/// Longest time for a server of this machine to begin.
const SERVER_PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A simulated drive that the machine has as an NVMe disk; its server ends with it.
struct Exposed {
    server: std::process::Child,
    socket: PathBuf,
    id: &'static str,
}

impl Exposed {
    fn start(ssdlab: &Path, work: &Path, id: &'static str, args: &[&str]) -> Self {
        let socket = work.join(format!("{id}.nbd"));
        let mut command = Command::new(ssdlab);
        command.args(["sim", "expose", EXPOSED_DRIVE, "--no-run", "--format", "json"]).args(args);
        command.arg("--nbd").arg(&socket).stdout(std::process::Stdio::null());
        let mut server = command.spawn().expect("the binary");
        let end = std::time::Instant::now() + SERVER_PATIENCE;
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            assert_eq!(server.try_wait().expect("a child"), None, "the server ended");
            assert!(std::time::Instant::now() < end, "{command:?} serves nothing");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        Self { server, socket, id }
    }

    /// A drive that was filled, then overwritten once at random, and goes on from there on a slow clock.
    fn start_steady(ssdlab: &Path, work: &Path) -> Self {
        let (id, state) = ("nvme-steady", work.join("state").display().to_string());
        let mut fresh = Self::start(ssdlab, work, id, &["--state", &state]);
        for load in [["--rw=write", "--bs=128k"], ["--rw=randwrite", "--bs=4k"]] {
            let mut fio = Command::new(program("fio"));
            fio.args(["--name=load", "--ioengine=nbd", "--iodepth=32", "--norandommap"]);
            let output = fio.arg(format!("--uri={}", fresh.uri())).args(load).output();
            let output = output.expect("fio starts");
            assert!(output.status.success(), "{fio:?}: {output:?}");
        }
        let pid = fresh.server.id().to_string();
        assert!(Command::new("kill").arg(pid).status().is_ok_and(|status| status.success()));
        assert!(fresh.server.wait().expect("a child").success(), "it saves its state");
        let clock = format!("real*{STEADY_SLOWDOWN}");
        Self::start(ssdlab, work, id, &["--state", &state, "--clock", &clock])
    }

    fn uri(&self) -> String {
        format!("nbd+unix:///?socket={}", self.socket.display())
    }

    fn add_to(&self, qemu: &mut Command) {
        let (id, uri, serial) = (self.id, self.uri(), self.id.to_uppercase());
        qemu.arg("-drive").arg(format!("if=none,format=raw,discard=unmap,id={id},file={uri}"));
        qemu.arg("-device").arg(format!("nvme,drive={id},serial={serial}"));
    }
}

impl Drop for Exposed {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.server.kill().and_then(|()| self.server.wait());
    }
}

/// The file behind a drive.
fn new_image(work: &Path, id: &str) -> PathBuf {
    const SIZE_BYTES: u64 = 64 << 20;
    let path = work.join(id);
    File::create(&path).and_then(|file| file.set_len(SIZE_BYTES)).expect("an image");
    path
}

/// A device that serves reads and fails each write with a write fault.
fn add_failing_drive(qemu: &mut Command, image: &Path) {
    let failing = serde_json::json!({
        "driver": "raw",
        "node-name": "nvme-bad",
        "file": {
            "driver": "blkdebug",
            "image": {"driver": "file", "filename": image},
            "inject-error": [{"event": "none", "iotype": "write", "errno": 5}],
        },
    });
    qemu.arg("-blockdev").arg(failing.to_string());
}
