//! Data in use under a second name: hard links, bind mounts, other loop devices, other mount
//! namespaces. Each is refused with its reason, and no byte changes. Needs root and loop devices.

mod support;

use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use device::guard::{check_replaceable, inspect};
use io::{OpenOptions, RealTarget, open_block, open_file};
use rustix::fs::FlockOperation;
use target::TargetError;

use support::loops::{LoopDevice, Undo, attach, must, must_soon, require_or_skip};
use support::writing;

const MIB: u64 = 1 << 20;
const SIZE_BYTES: u64 = 16 * MIB;

fn agreed(word: &Path) -> OpenOptions {
    let erase = vec![word.to_str().unwrap().to_owned()];
    OpenOptions { erase, erase_signatures: true, ..writing(8) }
}

fn refusal(result: Result<RealTarget, TargetError>) -> (&'static str, String) {
    match result {
        Err(TargetError::Refused { code, message }) => (code, message),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

/// Tries to use the file for a run, with every confirmation.
fn file_refusal(path: &Path) -> (&'static str, String) {
    refusal(open_file(path, None, false, &agreed(path)))
}

/// Tries to use the device for a run, with every confirmation.
fn device_refusal(node: &Path) -> (&'static str, String) {
    let word = inspect(node).unwrap().confirmations[0].clone();
    refusal(open_block(node, &agreed(Path::new(&word))))
}

/// An image with a file system, mounted through a loop device.
struct Mounted {
    _undo: Undo,
    at: PathBuf,
    device: LoopDevice,
}

impl Mounted {
    fn new() -> Self {
        let device = LoopDevice::new(SIZE_BYTES);
        must("mkfs.ext4", &["-q", device.node()]);
        let at = device.beside("mounted");
        fs::create_dir(&at).unwrap();
        must("mount", &[device.node(), at.to_str().unwrap()]);
        fs::write(at.join("notes"), "precious").unwrap();
        must("sync", &["-f", at.to_str().unwrap()]);
        Self { _undo: Undo::new("umount", at.to_str().unwrap()), at, device }
    }

    /// Fails if `attempt` changes the image.
    fn keeps_every_byte(&self, attempt: impl FnOnce()) {
        let before = fs::read(&self.device.image).unwrap();
        attempt();
        assert!(before == fs::read(&self.device.image).unwrap(), "the image was written to");
        assert_eq!(fs::read(self.at.join("notes")).unwrap(), b"precious");
    }
}

/// Detaches every loop device that the test attached.
#[test]
fn no_second_name_hides_a_mounted_image() {
    let tools = ["losetup", "mkfs.ext4", "mount"];
    if !require_or_skip("no_second_name_hides_a_mounted_image", &tools) {
        return;
    }
    let victim = Mounted::new();
    let image = &victim.device.image;
    let [hard, bound, whole] = ["hard", "bound", "whole"].map(|name| victim.device.beside(name));
    fs::hard_link(image, &hard).unwrap();
    fs::write(&bound, "").unwrap();
    must("mount", &["--bind", image.to_str().unwrap(), bound.to_str().unwrap()]);
    let _unbind = Undo::new("umount", bound.to_str().unwrap());
    fs::create_dir(&whole).unwrap();
    let dir = image.parent().unwrap();
    must("mount", &["--bind", dir.to_str().unwrap(), whole.to_str().unwrap()]);
    let _unbind_all = Undo::new("umount", whole.to_str().unwrap());
    let open = fs::File::open(image).unwrap();
    let descriptor = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
    let root = PathBuf::from(format!("/proc/self/root{}", image.display()));
    let names = [hard, bound, whole.join("image"), descriptor, root, image.clone()];
    victim.keeps_every_byte(|| {
        for name in &names {
            let (code, message) = file_refusal(name);
            assert_eq!(code, "held", "{}", name.display());
            assert!(message.contains(victim.device.node()), "{message}");
            assert!(message.contains("mounted at"), "{message}");
            let as_result = check_replaceable(name, &name.canonicalize().unwrap());
            assert!(matches!(as_result, Err(TargetError::Refused { code: "held", .. })));
        }
    });
}

#[test]
fn a_renamed_or_deleted_image_is_still_the_mounted_one() {
    let tools = ["losetup", "mkfs.ext4"];
    if !require_or_skip("a_renamed_or_deleted_image_is_still_the_mounted_one", &tools) {
        return;
    }
    let victim = Mounted::new();
    let image = &victim.device.image;
    let [link, renamed] = ["link", "renamed"].map(|name| victim.device.beside(name));
    fs::hard_link(image, &link).unwrap();
    fs::rename(image, &renamed).unwrap();
    // Another file under the old name is nobody's.
    fs::write(image, vec![0; MIB as usize]).unwrap();
    assert_eq!(file_refusal(&renamed).0, "held");
    drop(open_file(image, None, false, &agreed(image)).unwrap());
    fs::remove_file(&renamed).unwrap();
    let before = fs::read(&link).unwrap();
    assert_eq!(file_refusal(&link).0, "held");
    assert!(before == fs::read(&link).unwrap());
}

#[test]
fn a_second_loop_device_on_a_used_image_is_refused() {
    let tools = ["losetup", "mkfs.ext4"];
    if !require_or_skip("a_second_loop_device_on_a_used_image_is_refused", &tools) {
        return;
    }
    let victim = Mounted::new();
    let link = victim.device.beside("link");
    fs::hard_link(&victim.device.image, &link).unwrap();
    let second = attach(&link, &[]);
    victim.keeps_every_byte(|| {
        let (code, message) = device_refusal(&second);
        assert_eq!(code, "held");
        assert!(message.contains(victim.device.node()), "{message}");
        assert!(message.contains("mounted at"), "{message}");
    });
    let listed =
        device::describe::report::list().into_iter().find(|device| device.node == *second).unwrap();
    assert_eq!(listed.in_use[0].code, "held", "the list says so too");
}

#[test]
fn a_loop_device_over_a_used_device_is_refused() {
    let tools = ["losetup", "mkfs.ext4"];
    if !require_or_skip("a_loop_device_over_a_used_device_is_refused", &tools) {
        return;
    }
    let victim = Mounted::new();
    let second = attach(&victim.device.node, &[]);
    let third = attach(&second, &[]);
    victim.keeps_every_byte(|| {
        for node in [&second, &third] {
            let (code, message) = device_refusal(node);
            assert_eq!(code, "mounted", "{message}");
            let said = format!("{} (the backing device of ", victim.device.node());
            assert!(message.contains(&said), "{message}");
        }
    });
}

#[test]
fn a_loop_device_over_a_free_device_keeps_others_from_both() {
    if !require_or_skip("a_loop_device_over_a_free_device_keeps_others_from_both", &["losetup"]) {
        return;
    }
    let below = LoopDevice::new(SIZE_BYTES);
    let top = attach(&below.node, &[]);
    let word = inspect(&top).unwrap().confirmations[0].clone();
    let target = open_block(&top, &agreed(Path::new(&word))).unwrap();
    let mkfs = Command::new("mkfs.ext4").args(["-q", below.node()]).output().unwrap();
    assert!(!mkfs.status.success(), "it is held as well");
    drop(target);
    must_soon("mkfs.ext4", &["-q", below.node()]);
}

#[test]
fn loop_devices_on_two_parts_of_an_image_are_used_one_beside_the_other() {
    let name = "loop_devices_on_two_parts_of_an_image_are_used_one_beside_the_other";
    if !require_or_skip(name, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let image = dir.path().canonicalize().unwrap().join("image");
    fs::File::create(&image).unwrap().set_len(SIZE_BYTES).unwrap();
    let part = |start: &str| attach(&image, &["--offset", start, "--sizelimit", "8388608"]);
    let (first, second) = (part("0"), part("8388608"));
    must("mkfs.ext4", &["-q", first.to_str().unwrap()]);
    let at = dir.path().join("at");
    fs::create_dir(&at).unwrap();
    must("mount", &[first.to_str().unwrap(), at.to_str().unwrap()]);
    let _unmount = Undo::new("umount", at.to_str().unwrap());
    assert_eq!(device_refusal(&first).0, "mounted");
    let word = inspect(&second).unwrap().confirmations[0].clone();
    drop(open_block(&second, &agreed(Path::new(&word))).unwrap());
    assert_eq!(file_refusal(&image).0, "held");
}

#[test]
fn a_swap_file_is_refused_under_every_name() {
    let tools = ["mkswap", "swapon", "mount"];
    if !require_or_skip("a_swap_file_is_refused_under_every_name", &tools) {
        return;
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let [swap, link, bound] = ["swap file", "link", "bound"].map(|name| dir.join(name));
    fs::write(&swap, vec![0; SIZE_BYTES as usize]).unwrap();
    must("mkswap", &[swap.to_str().unwrap()]);
    fs::hard_link(&swap, &link).unwrap();
    fs::write(&bound, "").unwrap();
    must("mount", &["--bind", swap.to_str().unwrap(), bound.to_str().unwrap()]);
    let _unbind = Undo::new("umount", bound.to_str().unwrap());
    must("swapon", &[swap.to_str().unwrap()]);
    let undo = Undo::new("swapoff", swap.to_str().unwrap());
    for name in [&swap, &link, &bound] {
        let (code, message) = file_refusal(name);
        assert_eq!(code, "swap", "{message}");
        assert!(message.contains("swapoff"), "{message}");
    }
    drop(undo);
    let kept = OpenOptions { erase_signatures: false, ..agreed(&swap) };
    let (code, message) = refusal(open_file(&swap, None, false, &kept));
    assert_eq!((code, message.contains("swap space")), ("signature", true), "{message}");
}

#[test]
fn an_overlay_shows_the_same_file() {
    if !require_or_skip("an_overlay_shows_the_same_file", &["losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    must("mount", &["-t", "tmpfs", "none", at]);
    let _unmount = Undo::new("umount", at);
    let [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map(|name| {
        let dir = dir.path().join(name);
        fs::create_dir(&dir).unwrap();
        dir
    });
    let layers = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.display(),
        work.display()
    );
    must("mount", &["-t", "overlay", "-o", &layers, "overlay", merged.to_str().unwrap()]);
    let _unmount_overlay = Undo::new("umount", merged.to_str().unwrap());
    for (one, other) in [(&upper, &merged), (&merged, &upper)] {
        let image = one.join("image");
        fs::write(&image, vec![0; MIB as usize]).unwrap();
        let _node = attach(&image, &[]);
        assert_eq!(file_refusal(&other.join("image")).0, "held", "{}", other.display());
    }
}

/// A process in its own mount namespace, which ends with the test.
struct Elsewhere(Child);

impl Elsewhere {
    /// Runs `script` there, then waits.
    fn new(script: &str) -> Self {
        let script = format!("{script} && echo ready && read wait");
        let mut child = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self(child)
    }

    /// A path as that process sees it.
    fn path(&self, path: &Path) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{}", self.0.id(), path.display()))
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = self.0.stdin.as_mut().map(|stdin| stdin.write_all(b"\n"));
        let _ = self.0.wait();
    }
}

#[test]
fn a_mount_in_another_namespace_is_seen() {
    let tools = ["losetup", "mkfs.ext4", "unshare"];
    if !require_or_skip("a_mount_in_another_namespace_is_seen", &tools) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    must("mkfs.ext4", &["-q", device.node()]);
    let at = device.beside("inside");
    fs::create_dir(&at).unwrap();
    let second = attach(&device.node, &[]);
    let inside = Elsewhere::new(&format!("mount {} {}", device.node(), at.display()));
    let before = fs::read(&device.image).unwrap();
    for node in [&*device.node, &*second] {
        let (code, message) = device_refusal(node);
        assert_eq!(code, "mounted", "{message}");
        assert!(message.contains(at.to_str().unwrap()), "{message}");
    }
    let link = device.beside("link");
    fs::hard_link(&device.image, &link).unwrap();
    assert_eq!(file_refusal(&link).0, "held");
    assert!(before == fs::read(&device.image).unwrap());
    drop(inside);
}

/// `/proc/PID/root/x` is not `/x`, although a program that resolves links returns that.
#[test]
fn a_path_into_another_namespace_never_means_a_file_of_this_one() {
    let name = "a_path_into_another_namespace_never_means_a_file_of_this_one";
    if !require_or_skip(name, &["unshare", "mount"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let ours = dir.join("file");
    fs::write(&ours, vec![7; MIB as usize]).unwrap();
    let script = format!(
        "mount -t tmpfs none {0} && head -c 1048576 /dev/zero > {0}/file && mkdir {0}/sub",
        dir.display()
    );
    let inside = Elsewhere::new(&script);
    for path in ["file", "sub/new"].map(|name| inside.path(&dir.join(name))) {
        fs::create_dir_all(dir.join("sub")).unwrap();
        let opened = open_file(&path, Some(MIB), false, &agreed(&path));
        assert_eq!(refusal(opened).0, "other-namespace", "{}", path.display());
    }
    assert!(fs::read(&ours).unwrap().iter().all(|&byte| byte == 7));
    assert!(!dir.join("sub/new").exists());
}

/// Databases and virtual machines lock ranges of their files.
#[test]
fn a_file_that_a_program_has_locked_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("database");
    fs::write(&path, vec![0; MIB as usize]).unwrap();
    let program = fs::File::options().write(true).open(&path).unwrap();
    rustix::fs::fcntl_lock(&program, FlockOperation::NonBlockingLockExclusive).unwrap();
    let (code, message) = file_refusal(&path);
    assert_eq!(code, "busy", "{message}");
    assert!(message.contains("locked by another program"), "{message}");
    drop(program);
    drop(open_file(&path, None, false, &agreed(&path)).unwrap());
}

#[test]
fn partitions_that_only_the_kernel_remembers_are_looked_into() {
    let tools = ["losetup", "mkfs.ext4", "addpart"];
    if !require_or_skip("partitions_that_only_the_kernel_remembers_are_looked_into", &tools) {
        return;
    }
    let device = LoopDevice::with(SIZE_BYTES, &["--partscan"]);
    must("addpart", &[device.node(), "1", "4096", "16384"]);
    let partition = format!("{}p1", device.node());
    must("mkfs.ext4", &["-q", &partition]);
    must("sync", &[]);
    let found = inspect(&device.node).unwrap();
    let marks: Vec<_> = found.signatures.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(marks, [format!("ext4 file system (at byte 1024 of {partition})")]);
    let word = PathBuf::from(&found.confirmations[0]);
    let kept = OpenOptions { erase_signatures: false, ..agreed(&word) };
    let (code, message) = refusal(open_block(&device.node, &kept));
    assert_eq!(code, "signature");
    assert!(message.contains(&partition), "{message}");
    drop(open_block(&device.node, &agreed(&word)).unwrap());
}
