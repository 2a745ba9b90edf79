//! A disk that fills up in the middle of a run. Needs root, for its own file system; under CI the
//! test must not be skipped.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{add_phase, load_rows, phase, run_named};
use result::schema::RunStatus;
use result::store::{RunDir, RunWriter, StoreError, preflight};

/// A RAM file system of a few pages, gone when dropped.
struct TinyDisk {
    path: PathBuf,
    _parent: tempfile::TempDir,
}

impl TinyDisk {
    fn mount(size: &str) -> Result<Self, String> {
        let parent = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = parent.path().join("disk");
        fs::create_dir(&path).map_err(|error| error.to_string())?;
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(&path)
            .output()
            .map_err(|error| format!("cannot start mount: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(Self { path, _parent: parent })
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.path).status();
    }
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn a_full_disk_costs_only_the_phase_in_flight() {
    let disk = match TinyDisk::mount("64k") {
        Ok(disk) => disk,
        Err(why) => {
            assert!(std::env::var("CI").is_err(), "cannot make a tiny disk under CI: {why}");
            // The test harness hides what the print macros write, but not this.
            let _ = writeln!(std::io::stderr(), "SKIPPED the test of a full disk: {why}");
            return;
        }
    };
    let error = preflight(&disk.path, 2_000).unwrap_err().to_string();
    assert!(
        error.contains(" free and the results may need 6.") && error.contains("--library"),
        "{error}"
    );

    let mut run = run_named("full");
    let mut writer = RunWriter::create(&disk.path, &run).unwrap();
    add_phase(&mut writer, &mut run, "fill", &load_rows(5, 5));
    let before = files(writer.path());
    let rows = load_rows(2_000, 300);
    run.phases.push(phase("load", &rows));
    let error = writer.write_phase(&run, "load", &rows).unwrap_err();
    assert!(error.is_storage_full(), "{error}");
    assert!(error.to_string().contains("--library"), "{error}");
    assert!(files(writer.path()) == before, "the full disk changed or left files");
    assert_eq!(RunDir::open(writer.path()).unwrap().rows(0).unwrap().seconds.len(), 5);

    assert!(matches!(writer.rescue(&disk.path.join("below"), &run), Err(StoreError::Io { .. })));
    run.status = RunStatus::Failed;
    let refuge = tempfile::tempdir().unwrap();
    let rescued = RunDir::open(&writer.rescue(refuge.path(), &run).unwrap()).unwrap();
    assert_eq!(*rescued.run(), run);
    assert_eq!(rescued.phase_rows("load").unwrap().seconds, rows.seconds);
    assert_eq!(rescued.rows(0).unwrap().seconds.len(), 5);
}
