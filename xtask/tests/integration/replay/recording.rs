//! A trace replayed during a recording: the recording shows the same operations. A loop device
//! stands in for a drive; needs root and the block tracer of the kernel.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lab::{Answer, Lab};
use crate::loop_device::LoopDevice;

const TRACING: &str = "/sys/kernel/tracing";

/// Serialises the tests: a kernel has one tracer.
static TRACER: Mutex<()> = Mutex::new(());

/// Operations a millisecond apart: reads and writes of many sizes.
fn trace() -> String {
    let line = |i: u64| {
        let op = if i.is_multiple_of(3) { "W" } else { "R" };
        let (offset, len) = (i * 7919 % 1000 * 65_536, 4096 * (1 + i % 16));
        format!("1,{op},{offset},{len},{}\n", 1000 * i)
    };
    (0..300).map(line).collect()
}

/// Operation, sector and number of sectors, in the form of blkparse.
type Operation = (String, String, String);

/// The operations of a trace, without read-ahead. Programs that inspect a new device read ahead; a
/// replay never does.
fn operations(lab: &Lab, name: &str, trace: &Path) -> Vec<Operation> {
    let text = lab.path(name);
    let mut command = lab.command(&["trace", "convert", "--to", "blkparse", "-o"]);
    Answer::of(command.arg(&text).arg(trace)).must_exit_with(0);
    let text = std::fs::read_to_string(text).expect("a trace as text");
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let ours = lines.filter(|words| !words[6].contains('A'));
    let operation =
        |words: Vec<&str>| (words[6][..1].to_owned(), words[7].to_owned(), words[9].to_owned());
    ours.map(operation).collect()
}

/// The files of the tracer, which systemd mounts and a container may lack.
fn mount_tracer() {
    if !Path::new(TRACING).join("current_tracer").exists() {
        let mut mount = Command::new("mount");
        let status = mount.args(["-t", "tracefs", "nodev", TRACING]).status().expect("mount runs");
        assert!(status.success(), "{mount:?} ended with {status}");
    }
}

fn selected_tracer() -> String {
    let tracer = std::fs::read_to_string(format!("{TRACING}/current_tracer"));
    tracer.unwrap_or_default().trim().to_owned()
}

fn wait_for_tracer(child: &mut Child) {
    let start = Instant::now();
    while selected_tracer() != "blk" {
        assert!(start.elapsed() < Duration::from_secs(30), "the tracer does not start");
        assert!(child.try_wait().expect("a child").is_none(), "the recorder ended early");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Selected first, enabled on the device a moment later.
    std::thread::sleep(Duration::from_millis(500));
}

/// The present values of the settings that a recording changes.
fn tracing_settings() -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(format!("{TRACING}/{name}"));
    let names = ["current_tracer", "options/bin", "options/context-info", "buffer_size_kb"];
    let settings = names.map(|name| read(name).expect("a setting"));
    // Until its first use the kernel adds the size that the buffer will have: "7 (expanded: 1408)".
    let value =
        |text: String| text.split(" (expanded").next().unwrap_or_default().trim().to_owned();
    settings.map(value).to_vec()
}

fn killed_recording(lab: &Lab, device: &str) {
    let mut record = lab.command(&["trace", "record", device, "-o", "killed.parquet"]);
    let mut child = record.stderr(Stdio::null()).spawn().expect("the binary starts");
    wait_for_tracer(&mut child);
    child.kill().expect("SIGKILL is sent");
    child.wait().expect("ends");
    assert_eq!(selected_tracer(), "blk", "it had no time to put it back");
}

/// One test, since there is one tracer: restored by `restore`, then by the next recording.
#[test]
fn a_recording_that_was_killed_is_put_back() {
    mount_tracer();
    let _alone = TRACER.lock();
    let lab = Lab::new();
    let attached = LoopDevice::attach(&lab);
    let device = attached.name();
    let before = tracing_settings();
    killed_recording(&lab, &device);
    let restored = Answer::of(&mut lab.command(&["restore-settings", "--format", "json"]));
    restored.must_exit_with(0);
    assert!(restored.stdout.contains("block tracer of the kernel"), "{restored:#?}");
    assert_eq!(tracing_settings(), before);
    killed_recording(&lab, &device);
    let words = ["trace", "record", &device, "--duration", "1s", "-o", "next.parquet"];
    let next = Answer::of(&mut lab.command(&words));
    next.must_exit_with(0);
    assert!(next.stderr.contains("restored: block tracer"), "{next:#?}");
    assert_eq!(tracing_settings(), before);
}

#[test]
fn a_replay_that_is_recorded_shows_the_same_operations() {
    mount_tracer();
    let _alone = TRACER.lock();
    let lab = Lab::new();
    let attached = LoopDevice::attach(&lab);
    let device = attached.name();
    let original = lab.path("original.csv");
    std::fs::write(&original, trace()).expect("a trace");
    let recorded: PathBuf = lab.path("recorded.trace.parquet");
    let mut record = lab.command(&["trace", "record", &device, "--format", "json", "-o"]);
    record.arg(&recorded).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = record.spawn().expect("the binary starts");
    wait_for_tracer(&mut child);
    let word = attached.word();
    let args = ["trace", "replay", "original.csv", &device, "--erase", &word];
    let mut replay = lab.command(&args);
    replay.args(["--form", "open", "--idle", "real", "--quiet", "--format", "json"]);
    replay.args(["--set", "purge=false", "--set", "fill=false"]);
    let answer = Answer::of(&mut replay);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    let output = child.wait_with_output().expect("the recorder ends");
    answer.must_exit_with(0);
    let metrics = answer.document()["runs"][0]["metrics"].clone();
    // 300 commands are too few for a 99th percentile.
    for name in ["issue_lateness_ns_p50", "issue_lateness_ns_mean", "issue_lateness_ns_max"] {
        assert!(metrics[name].is_number(), "{name}: {metrics}");
    }
    let answer = Answer::new(&record, output);
    answer.must_exit_with(0);
    let document: Value = answer.document();
    assert_eq!(document["lost_events"], 0);
    assert_eq!(document["trace"]["origin"], "recorded");
    let wanted = operations(&lab, "original.txt", &original);
    assert_eq!(wanted.len(), 300);
    let found = operations(&lab, "recorded.txt", &recorded);
    let in_any_order = |all: &[Operation]| {
        let mut all = all.to_vec();
        all.sort();
        all
    };
    assert_eq!(in_any_order(&found), in_any_order(&wanted));
    // The kernel may hand a write over to a worker of its own: reads overtake it, and at a busy moment the next write.
    for kind in ["R", "W"] {
        let of_kind =
            |all: &[Operation]| all.iter().filter(|o| o.0 == kind).cloned().collect::<Vec<_>>();
        let (found, wanted) = (of_kind(&found), of_kind(&wanted));
        let is_near = |(place, one): (usize, &Operation)| {
            wanted[place.saturating_sub(1)..wanted.len().min(place + 2)].contains(one)
        };
        assert!(found.iter().enumerate().all(is_near), "in the order of issue: {found:?}");
    }
    assert_eq!(selected_tracer(), "nop", "the tracer is put back");
}
