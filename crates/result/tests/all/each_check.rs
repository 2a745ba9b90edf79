//! Does each check before a removal or a new name refuse by itself?

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use result::schema::{Run, RunStatus};
use result::store::dir::{Dir, Staging, sweep};
use result::store::{RunDir, RunWriter, StoreError};

fn run_named(name: &str) -> Run {
    let mut run: Run = serde_json::from_str(include_str!("../compat/v2/run.json")).unwrap();
    name.clone_into(&mut run.run_id);
    (run.phases, run.status) = (Vec::new(), RunStatus::Running);
    run
}

#[test]
fn a_run_in_progress_is_not_removed() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("run-1");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    let path = writer.path().to_owned();
    let in_progress = |removed| matches!(removed, Err(StoreError::InProgress { .. }));
    assert!(in_progress(RunDir::open(&path).unwrap().check_removable()));
    assert!(in_progress(RunDir::open(&path).unwrap().remove()));
    assert!(path.join("run.json").is_file());
    run.status = RunStatus::Complete;
    writer.finish(&run).unwrap();
    drop(writer);
    RunDir::open(&path).unwrap().remove().unwrap();
    assert!(!path.exists());
}

/// An id comes from a file of somebody, and becomes a name.
#[test]
fn no_id_leads_out_of_a_library() {
    let dir = tempfile::tempdir().unwrap();
    let library = dir.path().join("library");
    for name in ["../escaped", "latest", "index.sqlite-wal", ""] {
        assert!(RunWriter::create(&library, &run_named(name)).is_err(), "{name}");
        let path = dir.path().join("run");
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("run.json"), serde_json::to_vec(&run_named(name)).unwrap()).unwrap();
        let opened = RunDir::open(&path).map(drop).unwrap_err().to_string();
        assert!(opened.contains("run_id") || opened.contains("id"), "{name}: {opened}");
    }
    assert!(!dir.path().join("escaped").exists());
}

#[test]
fn a_directory_held_open_follows_no_link_and_takes_no_name_of_others() {
    let at = tempfile::tempdir().unwrap();
    for name in ["own", "other", "own/from", "own/taken"] {
        fs::create_dir(at.path().join(name)).unwrap();
    }
    symlink("../other", at.path().join("own/link")).unwrap();
    fs::write(at.path().join("own/file"), "mine").unwrap();
    symlink("file", at.path().join("own/soft")).unwrap();
    let dir = Dir::open(&at.path().join("own")).unwrap();
    assert!(dir.sub("link").is_err(), "a link to a directory");
    let taken = dir.rename_new("from", &dir, "taken").unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    assert_eq!(dir.create("file").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(dir.read("file", 4).unwrap(), b"mine");
    assert!(dir.read("soft", 4).is_err(), "a link to a file");
    assert_eq!(dir.read("file", 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
    let another = dir.sub("from").unwrap().thing().unwrap();
    assert_eq!(dir.remove_dir("taken", another).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(at.path().join("own/taken").is_dir());
}

/// A hidden directory of a library, last changed so long ago.
fn hidden(library: &Path, name: &str, file: &str, age: Duration) -> PathBuf {
    let path = library.join(name);
    fs::create_dir(&path).unwrap();
    fs::write(path.join(file), "half").unwrap();
    File::open(&path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    path
}

#[test]
fn only_what_a_killed_program_left_is_swept() {
    let library = tempfile::tempdir().unwrap();
    let old = Duration::from_secs(3600);
    let remains = hidden(library.path(), ".ssdlab-new-1", "run.json", old);
    let kept = [
        hidden(library.path(), ".ssdlab-new-2", "run.json", Duration::ZERO),
        hidden(library.path(), ".ssdlab-new-3", "photo.raw", old),
        hidden(library.path(), ".ssdlab-mine", "run.json", old),
        hidden(library.path(), "run-1", "run.json", old),
    ];
    let alive = Staging::new(library.path()).unwrap();
    fs::write(alive.path().join("run.json"), "half").unwrap();
    File::open(alive.path()).unwrap().set_modified(SystemTime::now() - old).unwrap();
    sweep(library.path());
    assert!(!remains.exists());
    for path in kept.iter().map(PathBuf::as_path).chain([alive.path()]) {
        assert_eq!(fs::read_dir(path).unwrap().count(), 1, "{}", path.display());
    }
}
