//! Locks and holds reach every thing that shares bytes with the target, up and down. Needs root and
//! loop devices.

mod support;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use device::guard::inspect;
use io::{OpenOptions, RealTarget, open_block, open_file};
use target::Target as _;
use target::TargetError;

use support::loops::{LoopDevice, Undo, attach, must, require_or_skip};
use support::writing;

const MIB: u64 = 1 << 20;
const SIZE_BYTES: u64 = 16 * MIB;

fn agreed(word: &str) -> OpenOptions {
    OpenOptions { erase: vec![word.to_owned()], erase_signatures: true, ..writing(8) }
}

fn open_image(path: &Path) -> Result<RealTarget, TargetError> {
    open_file(path, None, false, &agreed(path.to_str().unwrap()))
}

fn open_node(node: &Path) -> Result<RealTarget, TargetError> {
    let word = inspect(node).unwrap().confirmations[0].clone();
    open_block(node, &agreed(&word))
}

fn code(result: Result<RealTarget, TargetError>) -> (&'static str, String) {
    match result {
        Err(TargetError::Refused { code, message }) => (code, message),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

/// A program that holds a lock until it is dropped.
struct Holder(Child);

impl Holder {
    /// Locks with `statement`, in which `f` is the open file.
    fn new(path: &Path, statement: &str) -> Self {
        let program = format!(
            "import fcntl, struct, signal\n\
             signal.signal(signal.SIGIO, signal.SIG_IGN)\n\
             f = open({path:?}, 'rb')\n\
             w = None\n{statement}\nprint('ready', flush=True)\ninput()"
        );
        let mut child = Command::new("python3")
            .args(["-c", &program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        assert_eq!(line, "ready\n", "{statement}");
        Self(child)
    }

    /// Every kind of lock that Linux knows.
    const STATEMENTS: [&str; 5] = [
        "fcntl.flock(f, fcntl.LOCK_EX)",
        "fcntl.flock(f, fcntl.LOCK_SH)",
        "w = open(f.name, 'r+b'); fcntl.lockf(w, fcntl.LOCK_EX, 1, 1 << 30)",
        // F_OFD_SETLK with F_RDLCK of bytes 100 to 102, as virtual machines take it.
        "fcntl.fcntl(f, 37, struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, 100, 3, 0))",
        // A read lease.
        "fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_RDLCK)",
    ];
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.stdin.as_mut().map(|stdin| stdin.write_all(b"\n"));
        let _ = self.0.wait();
    }
}

#[test]
fn every_kind_of_lock_on_a_file_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("image");
    fs::write(&path, vec![0; MIB as usize]).unwrap();
    for statement in Holder::STATEMENTS {
        let holder = Holder::new(&path, statement);
        let (code, message) = code(open_image(&path));
        assert_eq!(code, "busy", "{statement}: {message}");
        drop(holder);
        drop(open_image(&path).unwrap());
    }
}

#[test]
fn a_lock_on_the_image_below_loop_devices_is_seen() {
    if !require_or_skip("a_lock_on_the_image_below_loop_devices_is_seen", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let upper = attach(&device.node, &[]);
    // Nobody gets a lease on a file that a loop device has open for writing.
    for statement in &Holder::STATEMENTS[..4] {
        let holder = Holder::new(&device.image, statement);
        let (code, message) = code(open_node(&upper));
        assert_eq!(code, "busy", "{statement}: {message}");
        assert!(message.contains(device.image.to_str().unwrap()), "{message}");
        drop(holder);
    }
    drop(open_node(&upper).unwrap());
}

#[test]
fn a_file_and_a_loop_device_over_it_are_held_together() {
    if !require_or_skip("a_file_and_a_loop_device_over_it_are_held_together", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let upper = attach(&device.node, &[]);
    let held = open_node(&upper).unwrap();
    let lock = File::open(&device.image).unwrap();
    assert!(lock.try_lock().is_err(), "the image, two levels below, is locked");
    assert_eq!(code(open_image(&device.image)).0, "held");
    drop((held, upper));

    // The loop device comes later than the run on the file, which is another process.
    let image = device.beside("other");
    fs::write(&image, vec![0; MIB as usize]).unwrap();
    let held = Holder::new(&image, Holder::STATEMENTS[0]);
    let later = attach(&image, &[]);
    let (code, message) = code(open_node(&later));
    assert_eq!(code, "busy", "{message}");
    drop(held);
    drop(open_node(&later).unwrap());
}

#[test]
fn a_second_loop_device_is_found_during_a_run() {
    if !require_or_skip("a_second_loop_device_is_found_during_a_run", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let image = device.beside("other");
    fs::write(&image, vec![0; MIB as usize]).unwrap();
    let targets =
        [(open_node(&device.node).unwrap(), &device.image), (open_image(&image).unwrap(), &image)];
    for (target, image) in targets {
        let probe = target.use_probe().expect("others can use it");
        probe.require_unused().unwrap();
        let node = attach(image, &[]);
        let found = probe.require_unused();
        let Err(TargetError::Refused { code: "held", message }) = found else {
            panic!("{found:?}")
        };
        assert!(message.contains(node.to_str().unwrap()), "{message}");
        drop(node);
        probe.require_unused().unwrap();
        let _holder = Holder::new(image, Holder::STATEMENTS[3]);
        assert!(matches!(probe.require_unused(), Err(TargetError::Refused { code: "busy", .. })));
    }
}

/// A file that was copied up keeps the inode number of the lower layer for readers of the overlay.
#[test]
fn a_file_copied_up_in_an_overlay_is_the_one_in_the_upper_layer() {
    let name = "a_file_copied_up_in_an_overlay_is_the_one_in_the_upper_layer";
    if !require_or_skip(name, &["losetup", "mount", "mkfs.ext4"]) {
        return;
    }
    let device = LoopDevice::new(8 * SIZE_BYTES);
    must("mkfs.ext4", &["-q", device.node()]);
    let at = device.beside("layers");
    fs::create_dir(&at).unwrap();
    must("mount", &[device.node(), at.to_str().unwrap()]);
    let _unmount = Undo::new("umount", at.to_str().unwrap());
    let [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map(|name| {
        let dir = at.join(name);
        fs::create_dir(&dir).unwrap();
        dir
    });
    fs::write(lower.join("image"), vec![0; MIB as usize]).unwrap();
    let layers = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.display(),
        work.display()
    );
    must("mount", &["-t", "overlay", "-o", &layers, "overlay", merged.to_str().unwrap()]);
    let _unmount_overlay = Undo::new("umount", merged.to_str().unwrap());
    let (shown, below) = (merged.join("image"), upper.join("image"));
    File::options().append(true).open(&shown).unwrap().write_all(&[0; 4096]).unwrap();
    assert!(below.exists(), "it was copied up");
    let link = at.join("link");
    fs::hard_link(&below, &link).unwrap();
    let node = attach(&shown, &[]);
    for path in [&below, &link, &shown] {
        assert_eq!(code(open_image(path)).0, "held", "{}", path.display());
    }
    drop(node);
    let node = attach(&below, &[]);
    assert_eq!(code(open_image(&shown)).0, "held");
    drop(node);
    let node = attach(&shown, &[]);
    let holder = Holder::new(&below, Holder::STATEMENTS[0]);
    assert_eq!(code(open_node(&node)).0, "busy");
    drop(holder);
    drop(open_node(&node).unwrap());
}
