//! `ssdlab sim expose --fuse`: the file, and a loop device over it with a file system of Linux; needs root.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::server::{Server, order};
use crate::lab::Lab;
use crate::loop_device::{LoopDevice, tool};

/// A file system in use, unmounted on drop.
struct FileSystem<'a>(&'a Path);

impl FileSystem<'_> {
    fn unmount(self) {
        tool("umount", &[&self.0.to_string_lossy()]);
        std::mem::forget(self);
    }
}

impl Drop for FileSystem<'_> {
    fn drop(&mut self) {
        // A test that fails must still clean up as far as it can.
        let _ = std::process::Command::new("umount").arg(self.0).status();
    }
}

/// A served disk as the file `mnt/disk`.
fn served(lab: &Lab, args: &[&str]) -> (Server, LoopDevice) {
    fs::create_dir(lab.path("mnt")).expect("a directory");
    let server = Server::start(lab, &[&["--fuse", "mnt"], args].concat());
    let file = lab.path("mnt/disk");
    assert!(file.is_file(), "the file is there when the sockets are");
    (server, LoopDevice::over(&file))
}

/// Bytes that the kernel has sent to a block device with writes.
fn written_bytes(device: &str) -> u64 {
    let path = format!("/sys/block/{}/stat", device.trim_start_matches("/dev/"));
    let stat = fs::read_to_string(path).expect("the kernel counts");
    let sectors = stat.split_whitespace().nth(6).and_then(|sectors| sectors.parse::<u64>().ok());
    sectors.expect("a number") * 512
}

/// Fails unless the account of the requests, the counters of the drive and the kernel tell the same writes.
fn the_books_agree(status: &Value, kernel_bytes: u64) {
    let count = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("no count: {status:#}"));
    let telemetry = &status["telemetry"];
    assert!(kernel_bytes > 48 << 20, "{kernel_bytes} bytes");
    assert_eq!(count(&status["bytes"]["write"]), kernel_bytes, "{status:#}");
    let host_pages = count(&telemetry["host_pages"]);
    assert_eq!(host_pages * 4096, kernel_bytes, "ext4 writes whole pages: {status:#}");
    let waf = count(&telemetry["programmed_pages"]) as f64 / host_pages as f64;
    assert_eq!(status["waf"].as_f64(), Some(waf), "{status:#}");
}

#[test]
fn ext4_lives_on_it_and_fstrim_empties_its_pages() {
    let lab = Lab::new();
    let (server, device) = served(&lab, &[]);
    let (name, at) = (device.name(), lab.path("fs"));
    fs::create_dir(&at).expect("a directory");
    let place = at.to_string_lossy().into_owned();
    // Blocks are pages of the drive. No thread of the kernel writes tables later, when pages are counted.
    tool("mkfs.ext4", &["-q", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", &name]);
    tool("mount", &[&name, &place]);
    let mounted = FileSystem(&at);
    order(&lab, &["reset"]);
    let before = written_bytes(&name);
    let megabytes = 40;
    let bytes: Vec<u8> = (0..megabytes << 20).map(|at: usize| (at / 5 * 77) as u8).collect();
    fs::write(at.join("kept"), &bytes[..8 << 20]).expect("space");
    fs::write(at.join("gone"), &bytes).expect("space");
    let sync = || tool("sync", &["--file-system", &place]);
    sync();
    let pages = || order(&lab, &["status"])["valid_pages"].as_u64().expect("a number");
    fs::remove_file(at.join("gone")).expect("it is there");
    sync();
    // The file system has forgotten the file, and the drive has not; from here on only the trims change pages.
    let full = pages();
    let trimmed = tool("fstrim", &["--verbose", &place]);
    let trimmed_bytes: u64 = trimmed
        .split(['(', ' '])
        .filter_map(|word| word.parse().ok())
        .max()
        .unwrap_or_else(|| panic!("no number in {trimmed}"));
    let fallen = full - pages();
    // fstrim also names space that was never written; the file's own pages must all be gone.
    assert!(fallen >= (megabytes as u64) << 8, "{fallen} of {full} pages: {trimmed}");
    assert!(trimmed_bytes >= fallen * 4096, "{fallen} pages: {trimmed}");
    the_books_agree(&order(&lab, &["status"]), written_bytes(&name) - before);
    mounted.unmount();
    tool("e2fsck", &["-f", "-n", &name]);
    tool("mount", &[&name, &place]);
    let mounted = FileSystem(&at);
    assert!(fs::read(at.join("kept")).expect("it is kept") == bytes[..8 << 20], "other bytes");
    mounted.unmount();
    drop(device);
    let document = server.end();
    assert!(document["host_pages"].as_u64().expect("a number") > (megabytes as u64 + 8) << 8);
    assert!(!lab.path("mnt/disk").exists(), "it is unmounted");
}

#[test]
fn fio_verifies_its_data_on_the_file_and_on_a_loop_device() {
    let lab = Lab::new();
    let (server, device) = served(&lab, &["--clock", "real"]);
    let file = lab.path("mnt/disk").to_string_lossy().into_owned();
    for (name, engine) in [(file, "psync"), (device.name(), "libaio")] {
        let job = [
            "--name=v",
            &format!("--filename={name}"),
            &format!("--ioengine={engine}"),
            "--direct=1",
            "--iodepth=16",
            "--rw=randwrite",
            "--bsrange=4k-64k",
            "--size=16m",
            "--fsync=64",
            "--verify=crc32c",
            "--verify_state_save=0",
        ];
        tool("fio", &job);
    }
    drop(device);
    server.end();
}
