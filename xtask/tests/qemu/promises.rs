//! Does `ssdlab verify` find every write that a drive acknowledged and dropped, and no other? And is an exposed simulated
//! drive a disk that keeps its promises?

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::machine::{EXPOSED_DRIVE, Record, STEADY_SLOWDOWN, binary};

fn number(document: &Value, key: &str) -> u64 {
    document[key].as_u64().unwrap_or_else(|| panic!("no {key} in {document:#}"))
}

#[test]
fn an_honest_drive_is_believed() {
    Record::of("honest").must_exit_with(0);
    let document = Record::of("honest").document();
    assert_eq!(number(&document, "writes"), 4096);
    assert_eq!(document["counts"]["kept"], document["promised_blocks"]);
    assert_eq!(number(&document, "broken_blocks"), 0);
}

/// Blocks that a journal promises: each line after the first is a checksum and pairs of block and generation.
fn promised_blocks(journal: &str) -> BTreeSet<u64> {
    let batches = journal.lines().skip(1).filter_map(|line| line.split_once(' '));
    let pairs = |json: &str| serde_json::from_str::<Vec<(u64, u64)>>(json).expect("a batch");
    batches.flat_map(|(_, json)| pairs(json)).map(|(block, _)| block).collect()
}

#[test]
fn what_the_drive_cannot_read_is_told_and_the_rest_is_judged() {
    const BLOCK_BYTES: u64 = 4096;
    let worn = (32 << 20) / BLOCK_BYTES..(33 << 20) / BLOCK_BYTES;
    let promised = promised_blocks(&Record::of("honest-journal").stdout);
    let unreadable = promised.iter().filter(|block| worn.contains(block)).count() as u64;
    assert!(unreadable > 10, "{unreadable} of {} blocks", promised.len());
    Record::of("worn").must_exit_with(1);
    let document = Record::of("worn").document();
    let counts = &document["counts"];
    assert_eq!(number(counts, "unreadable"), unreadable, "{document:#}");
    assert_eq!(number(counts, "kept"), promised.len() as u64 - unreadable, "{document:#}");
    for broken in document["broken"].as_array().expect("a list") {
        assert_eq!(broken["finding"], "unreadable", "{broken:#}");
        let block = number(broken, "offset_bytes") / BLOCK_BYTES;
        assert!(worn.contains(&block) && promised.contains(&block), "{broken:#}");
    }
}

/// The data of an earlier run is still there, and does not count as data of this one.
#[test]
fn a_drive_that_drops_everything_keeps_nothing() {
    Record::of("forgetful").must_exit_with(1);
    let document = Record::of("forgetful").document();
    assert_eq!(number(&document, "writes"), 2048);
    assert_eq!(document["counts"]["lost"], document["promised_blocks"]);
}

#[test]
fn just_the_writes_that_the_kernel_dropped_are_found() {
    Record::of("turncoat").must_exit_with(1);
    let document = Record::of("turncoat").document();
    let dropped: BTreeSet<u64> = Record::of("turncoat-dropped")
        .stdout
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect();
    assert!(dropped.len() > 100, "{} blocks dropped: {document:#}", dropped.len());
    assert!(number(&document["counts"], "kept") > 100, "{document:#}");
    assert_eq!(number(&document, "broken_blocks"), dropped.len() as u64, "{document:#}");
    let told = document["broken"].as_array().expect("a list");
    assert!(!told.is_empty());
    for broken in told {
        let offset_bytes = number(broken, "offset_bytes");
        assert!(dropped.contains(&offset_bytes), "{offset_bytes} was not dropped");
    }
}

#[test]
fn a_later_look_finds_the_same() {
    Record::of("turncoat-again").must_exit_with(1);
    let (first, again) =
        (Record::of("turncoat").document(), Record::of("turncoat-again").document());
    for key in ["promised_blocks", "counts", "broken"] {
        assert_eq!(first[key], again[key], "{key}");
    }
}

#[test]
fn another_drive_is_not_judged_by_this_journal() {
    Record::of("wrong-drive").must_be_refused_as("wrong-serial");
}

/// 256 GB / 1024, as `nbdinfo --size` tells it.
const CAPACITY_BYTES: u64 = 250_056_704;

#[test]
fn the_machine_has_an_exposed_drive_as_its_disk() {
    let record = Record::of("exposed-size");
    let sectors: u64 = record.stdout.trim().parse().expect("a number of sectors");
    assert_eq!(sectors * 512, CAPACITY_BYTES, "the kernel and the server agree");
    let written = Record::of("exposed-written");
    written.must_exit_with(0);
    let read = Record::of("exposed-read");
    read.must_exit_with(0);
    let run = Record::of("exposed.json").document();
    assert_eq!(run["status"], "complete", "{run:#}");
    assert_eq!(run["target"]["kind"], "block", "for the machine it is a block device");
}

/// The rate in the steady state, of a document of a run. The emulated drive tells nothing about its
/// cleaning, so that its rate of the same seconds has the name of a fresh one.
fn steady_iops(run: &Value) -> f64 {
    let of = |name: &str| run["metrics"][name].as_f64();
    let rate = of("iops_steady_mean").or_else(|| of("iops_fresh_mean"));
    rate.unwrap_or_else(|| panic!("no rate in {run:#}"))
}

/// The model alone, in virtual time: the simulated drive has no profile of a host, and the slow clock makes the time
/// of the emulated one small.
#[test]
fn the_machine_measures_the_steady_rate_of_the_model() {
    Record::of("steady").must_exit_with(0);
    let scratch = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(binary());
    command.args(["run", "consistency", EXPOSED_DRIVE, "--quiet", "--format", "json"]);
    command.args(["--set", "duration=10s", "--set", "steady_from=5s", "--library"]);
    let output = command.arg(scratch.path()).output().expect("the binary");
    assert!(output.status.success(), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let dir = document["run_dirs"][0].as_str().expect("a run directory");
    let text = std::fs::read(std::path::Path::new(dir).join("run.json")).expect("a run");
    let alone = steady_iops(&serde_json::from_slice(&text).expect("JSON"));
    let measured = steady_iops(&Record::of("steady.json").document());
    let measured = measured * f64::from(STEADY_SLOWDOWN);
    let ratio = measured / alone;
    println!("{measured:.0} IOPS in the machine, {alone:.0} of the model alone: {ratio:.3}");
    assert!((ratio - 1.0).abs() < 0.10, "{measured:.0} IOPS in the machine, {alone:.0} alone");
}

/// The flags that the kernel's client has agreed on, as debugfs names them.
fn flags_of(name: &str) -> BTreeSet<&'static str> {
    Record::of(name).stdout.lines().filter_map(|line| line.strip_prefix("NBD_FLAG_")).collect()
}

/// The checksum of the same bytes, read through the kernel and in the file of the server.
fn agreed_sum(name: &str) -> &'static str {
    Record::of(name).must_exit_with(0);
    let lines = Record::of(name).stdout.lines();
    let sums: Vec<_> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(sums.len() == 2 && sums[0] == sums[1], "{name}: {sums:?}");
    sums[0]
}

#[test]
fn the_kernel_agrees_about_size_and_flags() {
    Record::of("kernel-server").must_exit_with(0);
    Record::of("kernel-attached").must_exit_with(0);
    let sectors: u64 = Record::of("kernel-size").stdout.trim().parse().expect("a number");
    assert_eq!(sectors * 512, CAPACITY_BYTES);
    let writable = ["HAS_FLAGS", "SEND_FLUSH", "SEND_FUA", "SEND_TRIM"];
    assert_eq!(flags_of("kernel-flags"), BTreeSet::from(writable));
    assert_eq!(Record::of("kernel-cache").stdout.trim(), "write back", "so that it flushes");
    assert_eq!(Record::of("kernel-read-only").stdout.trim(), "0");
    let protected = BTreeSet::from(writable).union(&["READ_ONLY"].into()).copied().collect();
    assert_eq!(flags_of("protected-flags"), protected);
    assert_eq!(Record::of("protected-read-only").stdout.trim(), "1");
    assert_ne!(Record::of("protected-written").code, 0, "a disk that takes no changes");
}

#[test]
fn the_kernel_reads_and_discards_what_it_wrote() {
    let (written, read) = (agreed_sum("kernel-written"), agreed_sum("kernel-read"));
    assert_ne!(written, read, "a part was discarded");
    assert_eq!(read, agreed_sum("protected-read"));
    let [before, after] =
        ["kernel-filled", "kernel-discarded"].map(|name| Record::of(name).document());
    assert_eq!(number(&before["requests"], "deallocate"), 0, "{before:#}");
    assert!(number(&before["requests"], "flush") >= 2, "one for each fsync: {before:#}");
    Record::of("kernel-discard").must_exit_with(0);
    assert_eq!(number(&after["bytes"], "deallocate"), 4 << 20, "{after:#}");
    let freed_pages = number(&before, "valid_pages") - number(&after, "valid_pages");
    assert_eq!(freed_pages, (4 << 20) / 4096, "the drive's own pages: {after:#}");
    assert_eq!(Record::of("kernel-discarded.bytes").stdout.trim(), "0", "holes are zero");
    let served = Record::of("kernel-served").document();
    assert_eq!((number(&served, "connections"), number(&served, "connections_broken")), (3, 0));
}
