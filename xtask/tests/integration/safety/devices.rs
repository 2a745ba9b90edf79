//! Block devices in use: refused with exit code 3 and a stable reason, by any of their names. Loop
//! devices stand in for drives; needs root.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::lab::{Answer, Lab};
use crate::loop_device::{LoopDevice, tool};

/// A loop device in some use, which ends on drop.
struct UsedDevice {
    device: LoopDevice,
    /// Ends the use.
    undo: (&'static str, String),
}

impl UsedDevice {
    fn mounted(lab: &Lab) -> Self {
        let device = LoopDevice::attach(lab);
        let point = lab.path("mounted");
        std::fs::create_dir(&point).expect("a mount point");
        tool("mkfs.ext4", &["-q", &device.name()]);
        tool("mount", &[&device.name(), &point.to_string_lossy()]);
        Self { device, undo: ("umount", point.to_string_lossy().into_owned()) }
    }

    fn swapping(lab: &Lab) -> Self {
        let device = LoopDevice::attach(lab);
        tool("mkswap", &[&device.name()]);
        tool("swapon", &[&device.name()]);
        let name = device.name();
        Self { device, undo: ("swapoff", name) }
    }
}

impl Drop for UsedDevice {
    /// Dropped last: the device itself.
    fn drop(&mut self) {
        // A test that fails must still clean up as far as it can.
        let _ = Command::new(self.undo.0).arg(&self.undo.1).status();
    }
}

/// A run on `name` with a confirmation for `device`: only the use of the device can stop it.
fn run_with_erase(lab: &Lab, device: &LoopDevice, name: &str) -> Answer {
    let args = [name, "--erase", &device.word(), "--set", "duration=2s"];
    Answer::of(&mut lab.consistency(&args))
}

fn first_bytes(path: &Path) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).expect("the device opens");
    file.take(1 << 20).read_to_end(&mut bytes).expect("the device reads");
    bytes
}

#[test]
fn without_erase_nothing_is_written() {
    let lab = Lab::new();
    let device = LoopDevice::attach(&lab);
    let before = first_bytes(&device.path);
    let answer = Answer::of(&mut lab.consistency(&[&device.name(), "--set", "duration=2s"]));
    answer.must_exit_with(3);
    assert!(answer.reason().contains("erase"), "{answer:#?}");
    assert!(answer.stderr.contains("--erase"), "the message names the fix: {answer:#?}");
    assert!(before == first_bytes(&device.path), "the device was written to");
}

#[test]
fn erase_must_name_this_device() {
    let lab = Lab::new();
    let device = LoopDevice::attach(&lab);
    let answer = Answer::of(&mut lab.consistency(&[&device.name(), "--erase", "SOME-OTHER"]));
    answer.must_exit_with(3);
    assert!(answer.stderr.contains("SOME-OTHER"), "{answer:#?}");
    answer.reason();
}

#[test]
fn a_mounted_device_is_refused() {
    let lab = Lab::new();
    let device = &UsedDevice::mounted(&lab).device;
    let answer = run_with_erase(&lab, device, &device.name());
    answer.must_exit_with(3);
    assert_eq!(answer.reason(), "mounted", "{answer:#?}");
    assert!(answer.stderr.contains("mounted"), "says where: {answer:#?}");
}

#[test]
fn swap_is_refused() {
    let lab = Lab::new();
    let device = &UsedDevice::swapping(&lab).device;
    let answer = run_with_erase(&lab, device, &device.name());
    answer.must_exit_with(3);
    assert_eq!(answer.reason(), "swap", "{answer:#?}");
}

#[test]
fn a_symbolic_link_hides_nothing() {
    let lab = Lab::new();
    let device = &UsedDevice::mounted(&lab).device;
    let link = lab.path("innocent-name");
    std::os::unix::fs::symlink(&device.path, &link).expect("a link");
    let roundabout = format!("/dev/../{}", link.display());
    for name in [link.to_string_lossy().into_owned(), roundabout] {
        let answer = run_with_erase(&lab, device, &name);
        answer.must_exit_with(3);
        assert_eq!(answer.reason(), "mounted", "{answer:#?}");
    }
}

#[test]
fn a_second_name_hides_nothing() {
    let lab = Lab::new();
    let victim = UsedDevice::mounted(&lab);
    let link = lab.path("second-name");
    fs::hard_link(&victim.device.backing, &link).expect("a hard link");
    tool("sync", &["-f", &lab.path("mounted").to_string_lossy()]);
    let before = fs::read(&victim.device.backing).expect("the image");
    let second = tool("losetup", &["--find", "--show", &link.to_string_lossy()]);
    let second = LoopDevice { path: second.trim().into(), backing: link.clone() };
    for target in [format!("file:{}", link.display()), second.name()] {
        let word = link.to_string_lossy().into_owned();
        let args = [&*target, "--erase", &word, "--erase-signatures", "--set", "duration=1s"];
        let answer = Answer::of(&mut lab.consistency(&args));
        answer.must_exit_with(3);
        assert_eq!(answer.reason(), "held", "{answer:#?}");
        assert!(answer.stderr.contains("mounted at"), "says why it matters: {answer:#?}");
    }
    let list = Answer::of(&mut lab.command(&["list", "--format", "json"])).document();
    let devices = list["devices"].as_array().expect("devices");
    let listed = devices.iter().find(|device| device["target"] == second.name());
    assert_eq!(listed.expect("it is listed")["in_use"][0], "held", "the list says so too");
    assert!(before == fs::read(&victim.device.backing).expect("the image"), "it was written to");
}

#[test]
fn a_file_that_holds_something_needs_a_second_consent() {
    let lab = Lab::new();
    let path = lab.path("database");
    let content = [b"SQLite format 3\0".to_vec(), vec![7; 8 << 20]].concat();
    fs::write(&path, &content).expect("a file");
    let (target, word) = (format!("file:{}", path.display()), path.to_string_lossy());
    let args = [&*target, "--erase", &word, "--set", "duration=1s"];
    let answer = Answer::of(&mut lab.consistency(&args));
    answer.must_exit_with(3);
    assert_eq!(answer.reason(), "signature", "{answer:#?}");
    assert!(answer.stderr.contains("SQLite database"), "{answer:#?}");
    assert!(content == fs::read(&path).expect("the file"), "it was written to");
}

/// The message of a refused run on `target`, with a placeholder for the loop device.
fn refusal_of(lab: &Lab, device: &LoopDevice, target: &str, more: &[&str]) -> String {
    let run = ["run", "consistency", "--set", "duration=1s", target];
    let text = lab.transcript([&[&run[..], more].concat()[..]]);
    text.replace(&device.name(), "/dev/LOOP")
}

#[test]
fn refusals_in_words() {
    let lab = Lab::new();
    let free = LoopDevice::attach(&lab);
    let (node, word) = (free.name(), free.word());
    let mut text = refusal_of(&lab, &free, &node, &[]);
    text += &refusal_of(&lab, &free, &node, &["--erase", &node]);
    text += &refusal_of(&lab, &free, &format!("file:{word}"), &["--erase", &word]);
    tool("mkfs.ext4", &["-q", &node]);
    text += &refusal_of(&lab, &free, &node, &["--erase", &word]);
    drop(free);
    for used in [UsedDevice::mounted, UsedDevice::swapping] {
        let lab = Lab::new();
        let used = used(&lab);
        let (node, word) = (used.device.name(), used.device.word());
        text += &refusal_of(&lab, &used.device, &node, &["--erase", &word]);
        text += &refusal_of(&lab, &used.device, &format!("file:{word}"), &["--erase", &word]);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_device_that_is_not_there_is_not_made() {
    let lab = Lab::new();
    let missing = "/dev/ssdlab-no-such-device";
    let answer = Answer::of(&mut lab.consistency(&[missing, "--erase", missing]));
    assert!(matches!(answer.code, Some(2 | 3)), "{answer:#?}");
    assert!(answer.stderr.contains(missing), "{answer:#?}");
    assert!(!Path::new(missing).exists(), "a file was made in /dev");
}

#[test]
fn a_free_device_that_may_be_erased_is_measured() {
    let lab = Lab::new();
    let device = LoopDevice::attach(&lab);
    let answer = run_with_erase(&lab, &device, &device.name());
    answer.must_exit_with(0);
    assert_eq!(lab.run_dirs(&answer.document()).len(), 1);
}

#[test]
fn a_killed_run_on_a_device_keeps_its_fill_where_only_reads_are_left() {
    let lab = Lab::new();
    let device = LoopDevice::attach(&lab);
    let run = |args: &[&str]| {
        let mut command = lab.command(&["run"]);
        command.args(args).args(["--format", "json", "--quiet", "--library"]).arg(lab.library());
        command
    };
    let (name, steps) = (device.name(), ["--set", "time=2s", "--set", "random_span=32MiB"]);
    let word = device.word();
    let args = [&["latency", &name, "--erase", &word], &steps[..]].concat();
    let mut child = run(&args).stdout(Stdio::null()).spawn().expect("starts");
    let has_filled = |text: &str| text.contains("\"prepare\"");
    let run_json = || {
        let entries = lab.library().read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path().join("run.json")).next()
    };
    while !run_json().and_then(|path| fs::read_to_string(path).ok()).is_some_and(|t| has_filled(&t))
    {
        sleep(Duration::from_millis(20));
    }
    child.kill().expect("SIGKILL is sent");
    child.wait().expect("ends");

    let asked = Answer::of(&mut run(&["--resume"]));
    asked.must_exit_with(3);
    assert_eq!(asked.reason(), "needs-erase", "what was confirmed at first counts no more");
    let answer = Answer::of(&mut run(&["--resume", "--erase", &word]));
    answer.must_exit_with(0);
    let document = answer.document();
    let run = &document["runs"][0];
    assert_eq!(run["status"], "complete", "{answer:#?}");
    assert!(run["resumed"]["phases_kept"].as_u64().is_some_and(|kept| kept >= 2), "{answer:#?}");
}

#[test]
fn a_run_is_not_continued_on_a_device_of_another_size() {
    let lab = Lab::new();
    let device = LoopDevice::attach(&lab);
    let (name, backing) = (device.name(), &device.backing);
    let long = ["--set", "duration=60s", "--set", "fill=false"];
    let mut command = lab.consistency(&[&[&*name, "--erase", &device.word()], &long[..]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    while lab.library().read_dir().map_or(0, Iterator::count) == 0 {
        sleep(Duration::from_millis(20));
    }
    sleep(Duration::from_millis(300));
    child.kill().expect("SIGKILL is sent");
    child.wait().expect("ends");
    // The driver ends the writes of a killed process in its own time.
    let in_flight = format!("/sys/block/{}/inflight", name.trim_start_matches("/dev/"));
    let counts = || fs::read_to_string(&in_flight).expect("a loop device");
    while counts().split_whitespace().any(|count| count != "0") {
        sleep(Duration::from_millis(20));
    }

    let file = fs::File::options().write(true).open(backing).expect("the backing file");
    file.set_len(96 << 20).expect("a larger drive");
    tool("losetup", &["--set-capacity", &name]);
    let before = fs::read(backing).expect("what is on it");
    let mut resume = lab.command(&["run", "--resume", "--format", "json", "--library"]);
    let answer = Answer::of(resume.arg(lab.library()));
    answer.must_exit_with(3);
    assert_eq!(answer.reason(), "other-target", "{answer:#?}");
    assert!(before == fs::read(backing).expect("what is on it"), "it was written to");
}

/// The TRIM test runs every step; `trim.rs` checks its verdict on a loop device.
#[test]
fn a_review_runs_on_a_loop_device_from_purge_to_page() {
    let lab = Lab::new();
    let device = LoopDevice::attach(&lab);
    let page = lab.path("review.html");
    let mut command = lab.command(&["review", &device.name(), "--quick", "--format", "json"]);
    command.args(["--only", "trim,linear", "--set", "trim.torture=1s", "--erase", &device.word()]);
    command.args(["--purge", "deallocate"]);
    command.arg("--library").arg(lab.library()).arg("--output").arg(&page);
    let answer = Answer::of(&mut command);
    answer.must_exit_with(0);
    let dirs = lab.run_dirs(&answer.document());
    assert_eq!(dirs.len(), 2, "trim and linear");
    let text = std::fs::read_to_string(dirs[0].join("run.json")).expect("run.json");
    let run: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let phases = run["phases"].as_array().expect("phases");
    let names: Vec<_> = phases.iter().filter_map(|phase| phase["name"].as_str()).collect();
    let round = "torture_2.r1 tortured.r1 torture_3.r1 trim.r1 after_trim.r1 torture_4.r1 purge.r1 fresh.r1";
    assert!(names.join(" ").starts_with(&format!("torture purge fresh {round}")), "{names:?}");
    assert!(phases.iter().all(|phase| phase["complete"] == true), "{phases:#?}");
    assert_eq!(run["purge"]["method"], "deallocate");
    assert_eq!(run["tables"][0]["conditions"]["purge"], "deallocate");
    assert!(run["verdict"]["text"].is_string(), "{text}");
    assert!(std::fs::read_to_string(&page).expect("the page").contains("after_trim"));
}

/// A user who may not write a device hears it from the plan, together with the confirmation that a run needs.
#[test]
fn a_plan_tells_that_a_run_needs_another_user() {
    const NOBODY: u32 = 65534;
    let lab = Lab::new();
    let device = LoopDevice::attach(&lab);
    let program = lab.path("ssdlab");
    fs::copy(crate::lab::binary(), &program).expect("a copy that everybody may start");
    fs::set_permissions(lab.path("."), fs::Permissions::from_mode(0o755)).expect("a mode");
    let mut plan = Command::new(&program);
    plan.args(["plan", "latency", &device.name()]).current_dir("/").env_clear();
    let answer = Answer::of(plan.uid(NOBODY).gid(NOBODY));
    answer.must_exit_with(3);
    for words in ["needs-erase", "raw devices need root"] {
        assert!(answer.stdout.contains(words), "{words}: {answer:#?}");
    }
}
