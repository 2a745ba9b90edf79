//! Does each check refuse by itself, also what changes between two looks? A report is taken first, the device then
//! changed, and only then claimed with the report of before. Most need root and loop devices.

use std::cell::RefCell;
use std::os::unix::fs::{FileExt, symlink};

use rustix::fs::flock;
use target::Refusal;

use super::*;
use crate::describe::Protocol;
use crate::describe::thing::FileId;
use crate::host::machine::Machine;

#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the engines")]
#[path = "../../../io/tests/support/loops.rs"]
mod loops;

use loops::{LoopDevice, Undo, attach, is_in_namespace, must, require_or_skip};

const SIZE_BYTES: u64 = 4 << 20;

thread_local! {
    /// The work of a test between the looks at a file and its opening.
    static CHANGE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// Does the work of a test.
pub(super) fn meanwhile() {
    if let Some(work) = CHANGE.take() {
        work();
    }
}

/// A device as it was when it was looked at.
struct Look {
    system: System,
    tables: Tables,
    report: DeviceReport,
}

impl Look {
    fn at(path: &Path) -> Self {
        let system = System::live();
        let (node, device) = resolve(&system, path).unwrap();
        let tables = Tables::read(&system);
        let report = report(&system, &tables, &device, node);
        Self { system, tables, report }
    }

    /// Claims the device now, with its first confirmation.
    fn claim(&self) -> Result<Claim, TargetError> {
        let erase = self.report.confirmations[..1].to_vec();
        let consent =
            Consent { write: true, erase: &erase, erase_signatures: false, dry_run: false };
        claim_for_writing(&self.system, &self.tables, self.report.clone(), consent)
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, TargetError>) -> &'static str {
    match result {
        Err(TargetError::Refused { code, .. }) => code,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn words<T: std::fmt::Debug>(result: Result<T, TargetError>) -> String {
    result.unwrap_err().to_string()
}

/// A block device node of one's own that leads to the device.
fn make_node(path: &Path, device: &LoopDevice) {
    let number = Look::at(&device.node).report.number;
    let (major, minor) = (number.major.to_string(), number.minor.to_string());
    must("mknod", &[path.to_str().unwrap(), "b", &major, &minor]);
}

#[test]
fn the_findings_of_a_report_refuse() {
    if !require_or_skip("the_findings_of_a_report_refuse", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let look = Look::at(&device.node);
    drop(look.claim().unwrap());
    let mut read_only = Look::at(&device.node);
    read_only.report.read_only = true;
    assert_eq!(code(read_only.claim()), "read-only");
    let mut used = Look::at(&device.node);
    used.report.in_use.push(Refusal { code: "mounted", message: String::new() });
    assert_eq!(code(used.claim()), "mounted");
    let none: [String; 0] = [];
    let consent = Consent { write: true, erase: &none, erase_signatures: false, dry_run: false };
    assert_eq!(code(claim(&device.node, consent)), "needs-erase");
}

#[test]
fn a_device_without_a_medium_is_refused() {
    if !require_or_skip("a_device_without_a_medium_is_refused", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(0);
    let erase = [device.word().to_owned()];
    let consent = Consent { write: true, erase: &erase, erase_signatures: false, dry_run: false };
    assert!(words(claim(&device.node, consent)).contains("no medium"));
}

/// A drive with serial S123 and a world-wide name.
fn drive(machine: &Machine) -> DeviceReport {
    let names = [("device/serial", "S123"), ("wwid", "eui.0025")];
    let device = machine.device("nvme0n1", "250:0", &names);
    report(&machine.system, &Tables::read(&machine.system), &device, device.node())
}

#[test]
fn only_the_whole_name_of_the_drive_confirms() {
    let machine = Machine::new();
    let report = drive(&machine);
    let erase = |words: &[&str]| {
        require_erase(&report, &words.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    for word in ["S123", "eui.0025", " S123\n"] {
        erase(&[word]).unwrap();
        erase(&["/dev/sda", word]).unwrap();
    }
    for word in
        ["", " ", "s123", "S12", "S1234", "123", "S 123", "EUI.0025", "/dev/nvme0n1", "S123,S124"]
    {
        assert_eq!(code(erase(&[word])), "wrong-serial", "{word:?}");
    }
    assert_eq!(code(erase(&[])), "needs-erase");
    let nameless = DeviceReport { confirmations: Vec::new(), ..report.clone() };
    assert_eq!(code(require_erase(&nameless, &["".to_owned()])), "wrong-serial");
    let deleted = DeviceReport { backing_file: Some("/gone (deleted)".into()), ..report.clone() };
    assert_eq!(code(require_erase(&deleted, &["S123".to_owned()])), "wrong-serial");
}

#[test]
fn a_file_that_took_the_name_of_the_one_behind_is_not_it() {
    if !require_or_skip("a_file_that_took_the_name_of_the_one_behind_is_not_it", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let look = Look::at(&device.node);
    fs::rename(&device.image, device.beside("moved")).unwrap();
    fs::File::create(&device.image).unwrap().set_len(SIZE_BYTES).unwrap();
    assert_eq!(code(look.claim()), "wrong-serial");
}

#[test]
fn the_devices_below_are_held_as_well() {
    if !require_or_skip("the_devices_below_are_held_as_well", &["losetup"]) {
        return;
    }
    let below = LoopDevice::new(SIZE_BYTES);
    let top = attach(&below.node, &[]);
    let look = Look::at(&top);
    let exclusively = || {
        let flags = OFlags::EXCL.bits() as i32;
        File::options().read(true).custom_flags(flags).open(&below.node)
    };
    let held = look.claim().unwrap();
    assert!(exclusively().is_err(), "nobody else may have it");
    drop(held);
    let theirs = patiently(exclusively).unwrap();
    assert_eq!(code(look.claim()), "busy");
    drop(theirs);
    let locked = File::open(&below.node).unwrap();
    flock(&locked, FlockOperation::NonBlockingLockExclusive).unwrap();
    assert!(words(look.claim()).contains("holds a lock on it"));
    drop(locked);
    drop(look.claim().unwrap());
}

/// Another process that holds a lock on a file until its input ends.
fn locker(path: &Path) -> std::process::Child {
    use std::io::BufRead as _;
    use std::process::{Command, Stdio};
    let mut command = Command::new("flock");
    command.arg(path).args(["sh", "-c", "echo ready && read wait"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}

#[test]
fn a_lock_on_the_file_behind_refuses() {
    if !require_or_skip("a_lock_on_the_file_behind_refuses", &["losetup", "flock"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let look = Look::at(&device.node);
    // A lock of this process would be that of another target of the call.
    let mut locker = locker(&device.image);
    assert_eq!(code(look.claim()), "busy");
    drop(locker.stdin.take());
    locker.wait().unwrap();
    drop(look.claim().unwrap());
}

#[test]
fn a_lock_on_the_disk_of_a_partition_refuses() {
    if !require_or_skip("a_lock_on_the_disk_of_a_partition_refuses", &["losetup", "addpart"]) {
        return;
    }
    let device = LoopDevice::with(SIZE_BYTES, &["--partscan"]);
    must("addpart", &[device.node(), "1", "2048", "4096"]);
    let look = Look::at(Path::new(&format!("{}p1", device.node())));
    let locked = File::open(&device.node).unwrap();
    flock(&locked, FlockOperation::NonBlockingLockExclusive).unwrap();
    assert!(words(look.claim()).contains("holds a lock on it"));
    drop(locked);
    drop(look.claim().unwrap());
}

#[test]
fn a_use_that_began_after_the_look_is_found() {
    if !require_or_skip("a_use_that_began_after_the_look_is_found", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let look = Look::at(&device.node);
    let second = attach(&device.image, &[]);
    assert_eq!(code(look.claim()), "held");
    // Another program that reads all devices keeps this one for a moment.
    let reader = File::open(&*second).unwrap();
    let reads = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(reader);
    });
    drop(second);
    drop(look.claim().unwrap());
    reads.join().unwrap();
}

#[test]
fn whoever_has_the_device_keeps_it() {
    if !require_or_skip("whoever_has_the_device_keeps_it", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let look = Look::at(&device.node);
    let flags = OFlags::EXCL.bits() as i32;
    let claimed = File::options().read(true).custom_flags(flags).open(&device.node).unwrap();
    assert!(words(look.claim()).contains("refuses an exclusive claim"));
    drop(claimed);
    let locked = File::open(&device.node).unwrap();
    flock(&locked, FlockOperation::NonBlockingLockExclusive).unwrap();
    assert!(words(look.claim()).contains("holds a lock on it"));
    drop(locked);
    drop(look.claim().unwrap());
}

#[test]
fn a_signature_refuses_without_the_second_consent() {
    if !require_or_skip("a_signature_refuses_without_the_second_consent", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let look = Look::at(&device.node);
    // It came after the look: the contents are read once the device is held.
    let image = File::options().write(true).open(&device.image).unwrap();
    image.write_all_at(b"XFSB", 0).unwrap();
    assert_eq!(code(look.claim()), "signature");
    let other = DeviceReport { number: DeviceNumber { major: 250, minor: 0 }, ..look.report };
    assert!(probe(&other).unwrap_err().to_string().contains("the node changed"));
}

#[test]
fn a_device_that_changed_after_the_look_is_not_claimed() {
    if !require_or_skip("a_device_that_changed_after_the_look_is_not_claimed", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let look = Look::at(&device.node);
    let image = File::options().write(true).open(&device.image).unwrap();
    image.set_len(2 * SIZE_BYTES).unwrap();
    must("losetup", &["-c", device.node()]);
    assert_eq!(code(look.claim()), "identity-changed");
}

#[test]
fn a_node_that_became_a_link_is_not_followed() {
    if !require_or_skip("a_node_that_became_a_link_is_not_followed", &["losetup", "mknod"]) {
        return;
    }
    let (own, other) = (LoopDevice::new(SIZE_BYTES), LoopDevice::new(SIZE_BYTES));
    let node = own.beside("node");
    make_node(&node, &own);
    let look = Look::at(&node);
    drop(look.claim().unwrap());
    fs::remove_file(&node).unwrap();
    symlink(&other.node, &node).unwrap();
    let refused = look.claim();
    assert!(matches!(refused, Err(TargetError::Device { .. })), "{refused:?}");
}

#[test]
fn every_part_of_the_identity_is_looked_at_again() {
    if !require_or_skip("every_part_of_the_identity_is_looked_at_again", &["losetup"]) {
        return;
    }
    let (device, other) = (LoopDevice::new(SIZE_BYTES), LoopDevice::new(SIZE_BYTES));
    let file = File::open(&device.node).unwrap();
    let same = Look::at(&device.node).report;
    let recheck = |report: DeviceReport, file: &File| {
        Claim { report, file: None, _below: Vec::new(), warnings: Vec::new() }.recheck(file)
    };
    recheck(same.clone(), &file).unwrap();
    let changed = |report: DeviceReport, file: &File, what: &str| {
        let answer = recheck(report, file);
        assert!(words(answer).contains(&format!("the {what} of ")), "{what}");
    };
    changed(same.clone(), &File::open(&other.node).unwrap(), "device number");
    changed(DeviceReport { node: other.node.clone(), ..same.clone() }, &file, "device number");
    changed(DeviceReport { node: "/dev/nothing".into(), ..same.clone() }, &file, "device number");
    let capacity_bytes = SIZE_BYTES + 512;
    changed(DeviceReport { capacity_bytes, ..same.clone() }, &file, "size in bytes");
    changed(DeviceReport { serial: Some("S1".into()), ..same.clone() }, &file, "serial");
    changed(DeviceReport { wwid: Some("eui.1".into()), ..same }, &file, "world-wide name");
}

/// The loop device plays a namespace: sysfs, which is made up, shows another one of the same controller that is
/// mounted.
#[test]
fn a_mounted_namespace_of_the_same_controller_refuses() {
    if !require_or_skip("a_mounted_namespace_of_the_same_controller_refuses", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let machine = Machine::new();
    let mut look = Look::at(&device.node);
    look.report.protocol = Protocol::Nvme;
    let controller = machine.dir.path().join("controller");
    fs::create_dir(&controller).unwrap();
    for (name, number) in [("nvme0n1", &*look.report.number.to_string()), ("nvme0n2", "250:2")] {
        machine.device(name, number, &[]);
        let link = machine.system.sys.join("devices").join(name).join("device");
        symlink(&controller, link).unwrap();
    }
    look.system = machine.system.clone();
    drop(look.claim().unwrap());
    machine.table("self/mountinfo", "30 1 250:2 / /home rw - xfs /dev/none rw\n");
    assert_eq!(code(look.claim()), "shared-controller");
    look.report.protocol = Protocol::Other;
    drop(look.claim().unwrap());
}

#[test]
fn a_path_that_leads_elsewhere_is_no_name() {
    let dir = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| dir.path().join(name));
    fs::write(&one, "1").unwrap();
    fs::write(&other, "2").unwrap();
    check_replaceable(&one, &one).unwrap();
    assert_eq!(code(check_replaceable(&one, &other)), "other-namespace");
    assert_eq!(code(check_replaceable(&one, &dir.path().join("none"))), "other-namespace");
}

/// Whoever resolves `/proc/PID/root/x` gets `/x`, which is another device here.
#[test]
fn a_device_of_another_namespace_is_not_the_one_of_this_path() {
    let name = "a_device_of_another_namespace_is_not_the_one_of_this_path";
    if !require_or_skip(name, &["losetup", "mknod", "unshare", "mount"]) {
        return;
    }
    let (ours, theirs) = (LoopDevice::new(SIZE_BYTES), LoopDevice::new(SIZE_BYTES));
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let node = dir.join("node");
    make_node(&node, &ours);
    let number = Look::at(&theirs.node).report.number;
    let script = format!(
        "mount -t tmpfs none {0} && mknod {0}/node b {1} {2} && echo ready && read wait",
        dir.display(),
        number.major,
        number.minor
    );
    let mut inside = std::process::Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut lines = io::BufReader::new(inside.stdout.take().unwrap());
    io::BufRead::read_line(&mut lines, &mut line).unwrap();
    let path = format!("/proc/{}/root{}", inside.id(), node.display());
    let resolved = resolve(&System::live(), Path::new(&path));
    drop(inside.stdin.take());
    inside.wait().unwrap();
    assert_eq!(line, "ready\n");
    assert_eq!(code(resolved), "other-namespace");
}

/// A table may be covered before the first look or between two.
#[test]
fn a_covered_table_refuses_at_every_look() {
    let name = "a_covered_table_refuses_at_every_look";
    if !require_or_skip(name, &["losetup", "unshare", "mount"]) || !is_in_namespace(name) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let [file, new] = ["file", "new"].map(|name| device.beside(name));
    fs::write(&file, "words").unwrap();
    let look = Look::at(&device.node);
    let held = look.claim().unwrap();
    held.require_unused().unwrap();
    must("mount", &["--bind", "/dev/null", "/proc/locks"]);
    let _uncover = Undo::new("umount", "/proc/locks");
    let must_refuse = |answer: Result<(), TargetError>, look: &str| {
        assert!(matches!(answer, Err(TargetError::Unsupported(_))), "{look}: {answer:?}");
    };
    must_refuse(held.require_unused(), "after the claim");
    drop(held);
    let erase = [device.word().to_owned()];
    let consent = Consent { write: true, erase: &erase, erase_signatures: false, dry_run: false };
    must_refuse(claim(&device.node, consent).map(drop), "before the claim");
    must_refuse(file::require_unused(&file, &fs::metadata(&file).unwrap()), "of a file");
    must_refuse(file::open(&new).map(drop), "before a new file");
    assert!(!new.exists());
}

#[test]
fn only_a_plain_file_that_nobody_uses_is_opened_for_contents() {
    let name = "only_a_plain_file_that_nobody_uses_is_opened_for_contents";
    if !require_or_skip(name, &["losetup", "mkfifo"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let [new, fifo, nowhere] = ["new", "fifo", "nowhere"].map(|name| device.beside(name));
    for _ in ["new", "existing"] {
        drop(file::open(&new).unwrap());
    }
    must("mkfifo", &[fifo.to_str().unwrap()]);
    symlink("missing", &nowhere).unwrap();
    let mistyped = Path::new("/dev/ssdlab-no-device");
    for path in [&*fifo, &*nowhere, mistyped, Path::new("/proc/self/comm")] {
        let opened = file::open(path).map(drop);
        let _ = fs::remove_file(mistyped);
        assert!(matches!(opened, Err(TargetError::Usage(_))), "{}: {opened:?}", path.display());
    }
    assert!(!device.beside("missing").exists());
    assert_eq!(code(file::open(&device.image)), "held");
}

#[test]
fn a_file_that_changes_at_the_last_moment_is_not_opened_for_contents() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let [path, other, moved] = ["file", "other", "moved"].map(|name| dir.join(name));
    let open_after = |work: Box<dyn FnOnce()>| {
        CHANGE.set(Some(work));
        let opened = file::open(&path).map(drop);
        assert!(CHANGE.take().is_none(), "nothing happened");
        opened
    };
    let new = path.clone();
    let opened = open_after(Box::new(move || fs::write(new, "somebody's").unwrap()));
    assert!(matches!(opened, Err(TargetError::Device { .. })), "a file came: {opened:?}");
    fs::write(&other, "other").unwrap();
    let (from, to) = (other.clone(), path.clone());
    let opened = open_after(Box::new(move || fs::rename(from, to).unwrap()));
    assert_eq!(code(opened), "identity-changed");
    let (from, to) = (path.clone(), moved.clone());
    let opened = open_after(Box::new(move || {
        fs::rename(&from, &to).unwrap();
        symlink(to, from).unwrap();
    }));
    assert!(matches!(opened, Err(TargetError::Device { .. })), "a link came: {opened:?}");
    assert_eq!(fs::read_to_string(moved).unwrap(), "other");
}

#[test]
fn the_file_behind_is_held_as_itself_and_from_others() {
    let name = "the_file_behind_is_held_as_itself_and_from_others";
    if !require_or_skip(name, &["losetup", "flock"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let [path, other] = ["file", "other"].map(|name| dir.path().join(name));
    fs::write(&path, "1").unwrap();
    fs::write(&other, "2").unwrap();
    let id = FileId::of(&fs::metadata(&path).unwrap());
    let hold = |path: &Path| file::hold_backing(path, id, "it");
    drop(hold(&path).unwrap());
    assert_eq!(code(hold(&other)), "unreadable");
    assert_eq!(code(hold(&dir.path().join("none"))), "unreadable");
    let mut theirs = std::process::Command::new("flock")
        .arg(&path)
        .args(["sh", "-c", "echo ready && read wait"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut lines = io::BufReader::new(theirs.stdout.take().unwrap());
    io::BufRead::read_line(&mut lines, &mut line).unwrap();
    let locked = hold(&path);
    drop(theirs.stdin.take());
    theirs.wait().unwrap();
    assert_eq!((&*line, code(locked)), ("ready\n", "busy"));
}
