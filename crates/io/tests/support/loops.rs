//! Loop devices for tests that need a real block device, cleaned up even when a test fails.

use std::fs::File;
use std::io::Write as _;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Skips a test with a message if the machine cannot run it; in CI that is a failure.
///
/// Returns true if the test can go on.
pub fn require_or_skip(test: &str, tools: &[&str]) -> bool {
    let Some(missing) = missing(tools) else { return true };
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(!ci, "{test} cannot run: {missing}");
    // Not by `eprintln!`, which the harness keeps to itself where a test passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {missing}");
    false
}

fn missing(tools: &[&str]) -> Option<String> {
    if !is_root() {
        return Some("needs root".to_owned());
    }
    let absent = |tool: &&&str| Command::new(tool).arg("--version").output().is_err();
    if let Some(tool) = tools.iter().find(absent) {
        return Some(format!("needs the program {tool}"));
    }
    let free = Command::new("losetup").arg("-f").output();
    let usable = free.is_ok_and(|output| output.status.success());
    (!usable).then(|| "needs loop devices".to_owned())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// Runs a test once more, in a mount namespace of its own, in which it may cover what all others need.
///
/// Returns true in that namespace, and false outside once the test has passed there.
pub fn is_in_namespace(test: &str) -> bool {
    const VARIABLE: &str = "SSDLAB_TEST_NAMESPACE";
    if std::env::var_os(VARIABLE).is_some() {
        return true;
    }
    let inside = Command::new("unshare")
        .args(["--mount", "--propagation", "private"])
        .arg(std::env::current_exe().unwrap())
        .args(["--nocapture", test])
        .env(VARIABLE, "1")
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&inside.stdout);
    assert!(inside.status.success() && words.contains(" 1 passed"), "{inside:?}");
    false
}

/// Runs a program that must succeed, and returns its output, trimmed.
pub fn must(program: &str, arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{program} {arguments:?}: {stderr}");
    String::from_utf8_lossy(&stdout).trim().to_owned()
}

/// Runs a program until it succeeds, for at most ten seconds. A program that another test starts has all open files of
/// the tests for a moment, so that a device is in use a little longer than its owner has it.
pub fn must_soon(program: &str, arguments: &[&str]) {
    let tries_max = 100;
    for _ in 1..tries_max {
        let output = Command::new(program).args(arguments).output();
        if output.is_ok_and(|output| output.status.success()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    must(program, arguments);
}

/// Whether a program succeeded.
fn try_to(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

/// A loop device over its own sparse image.
pub struct LoopDevice {
    pub node: PathBuf,
    pub image: PathBuf,
    _attached: Attachment,
    _dir: tempfile::TempDir,
}

impl LoopDevice {
    pub fn new(size_bytes: u64) -> Self {
        Self::with(size_bytes, &[])
    }

    /// The same with more arguments for losetup, such as `--read-only`.
    pub fn with(size_bytes: u64, arguments: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let image = dir.path().join("image");
        File::create(&image).and_then(|file| file.set_len(size_bytes)).expect("an image");
        let image = image.canonicalize().expect("the image exists");
        let attached = attach(&image, arguments);
        Self { node: attached.to_path_buf(), image, _attached: attached, _dir: dir }
    }

    pub fn node(&self) -> &str {
        self.node.to_str().expect("loop nodes are ASCII")
    }

    /// The word for `--erase`: the path of its image.
    pub fn word(&self) -> &str {
        self.image.to_str().expect("paths of tests are UTF-8")
    }

    /// A path for a link or a mount point of the test.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.image.with_file_name(name)
    }
}

/// The node of a loop device; detached on drop.
#[derive(Debug)]
pub struct Attachment(PathBuf);

impl Deref for Attachment {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Attachment {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Attachment {
    /// The file below, or `None` if it is detached.
    fn backing(&self) -> Option<String> {
        let name = self.0.file_name()?;
        std::fs::read_to_string(Path::new("/sys/block").join(name).join("loop/backing_file")).ok()
    }
}

impl Drop for Attachment {
    /// The kernel detaches a device when its last user closes it, and another test that looks at all devices is one.
    fn drop(&mut self) {
        let Some(backing) = self.backing() else { return };
        try_to("losetup", &format!("-d{}", self.0.display()));
        for _ in 0..100 {
            if self.backing().as_ref() != Some(&backing) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// Other tests search for a free device at the same time: `--show` reports the one of this test.
pub fn attach(backing: &Path, arguments: &[&str]) -> Attachment {
    let backing = backing.to_str().expect("paths of tests are ASCII");
    Attachment(must("losetup", &[arguments, &["--find", "--show", backing]].concat()).into())
}

/// Runs a command on drop, also after a failure: `umount X`, `swapoff X`.
pub struct Undo {
    program: &'static str,
    argument: String,
}

impl Undo {
    pub fn new(program: &'static str, argument: impl Into<String>) -> Self {
        Self { program, argument: argument.into() }
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        // A ring that closes keeps its file, and thereby a mount, a moment longer.
        for _ in 0..10 {
            if try_to(self.program, &self.argument) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}
