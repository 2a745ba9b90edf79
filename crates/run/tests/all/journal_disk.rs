//! The journal of promises on a disk that fills up or takes no writes. Needs root, for its own file
//! system; under CI it must not be skipped.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use run::RunError;
use run::verify::Layout;
use run::verify::journal::{Header, Journal};
use run::verify::promises::Promises;
use target::TargetError;

/// A RAM file system of a few pages, gone when dropped.
struct TinyDisk {
    path: PathBuf,
    _parent: tempfile::TempDir,
}

impl TinyDisk {
    fn mount(options: &str) -> Result<Self, String> {
        let parent = tempfile::tempdir().map_err(|error| error.to_string())?;
        let disk = Self { path: parent.path().join("disk"), _parent: parent };
        fs::create_dir(&disk.path).map_err(|error| error.to_string())?;
        mount(options, &disk.path)?;
        Ok(disk)
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.path).status();
    }
}

fn mount(options: &str, path: &Path) -> Result<(), String> {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(path);
    let output = mount.output().map_err(|error| format!("cannot start mount: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_full_disk_keeps_the_promises_before_and_a_new_journal_is_not_left_behind() {
    let disk = match TinyDisk::mount("size=64k") {
        Ok(disk) => disk,
        Err(why) => {
            assert!(std::env::var("CI").is_err(), "cannot make a tiny disk under CI: {why}");
            // The test harness hides what the print macros write, but not this.
            let _ = writeln!(std::io::stderr(), "SKIPPED the test of a full disk: {why}");
            return;
        }
    };
    let layout = Layout { span_bytes: 1 << 30, block_bytes: 4096 };
    let header = Header { serial: "S1".to_owned(), wwid: None, seed: 1, layout };
    let path = disk.path.join("journal");
    let mut journal = Journal::create(&path, &header).unwrap();
    let mut durable = BTreeMap::new();
    let error = loop {
        let writes = durable.len() as u64 + 1..;
        let batch: Vec<(u64, u64)> = writes.take(100).map(|write| (write, write)).collect();
        match journal.flushed(&batch) {
            Ok(()) => durable.extend(batch),
            Err(error) => break error,
        }
    };
    assert!(matches!(&error, RunError::Target(TargetError::Device { .. })), "{error:?}");
    assert!(durable.len() > 1000, "{}", durable.len());
    assert_eq!(Promises::read(&path).unwrap().durable, durable);

    let next = disk.path.join("next");
    let error = Journal::create(&next, &header).unwrap_err();
    assert!(matches!(&error, RunError::Target(TargetError::Device { .. })), "{error:?}");
    assert!(!next.exists());

    drop(journal);
    mount("remount,ro", &disk.path).unwrap();
    let error = Journal::create(&next, &header).unwrap_err();
    assert!(matches!(&error, RunError::Usage(_)), "{error:?}");
    assert!(error.to_string().contains("--journal"), "{error}");
    assert_eq!(Promises::read(&path).unwrap().durable, durable);
}
