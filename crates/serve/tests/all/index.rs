//! The index follows the run directories, and survives bad ones.

use std::fs;
use std::path::Path;

use crate::common::{add_run, begun, run_named};
use result::bench::Library;
use result::schema::RunStatus;
use serve::{INDEX_FILE, Index, IndexChanges};

fn refreshed(library: &Path) -> (IndexChanges, Library) {
    let mut index = Index::open(library).unwrap();
    let refreshed = index.refresh().unwrap();
    (refreshed, index.library("title").unwrap())
}

fn reason(library: &Library, name: &str) -> String {
    let found = library.rejected.iter().find(|rejected| rejected.name == name);
    found.unwrap_or_else(|| panic!("{name} is not rejected: {library:?}")).reason.clone()
}

#[test]
fn only_changed_runs_are_read_again() {
    let library = tempfile::tempdir().unwrap();
    let library = library.path();
    let (first, second) = (add_run(library, "run-1"), add_run(library, "run-2"));
    let (work, rows) = refreshed(library);
    assert_eq!(work, IndexChanges { read: 2, gone: 0 });
    assert_eq!((rows.runs.len(), rows.drives.len(), rows.conditions.len()), (2, 1, 1));
    assert_eq!(rows.runs[0].figures["iops_steady_mean"], 1000.0);
    assert_eq!(refreshed(library).0, IndexChanges::default());
    fs::remove_dir_all(first).unwrap();
    fs::remove_dir_all(second).unwrap();
    add_run(library, "run-2");
    let (work, rows) = refreshed(library);
    assert_eq!((work, rows.runs.len()), (IndexChanges { read: 1, gone: 1 }, 1));
}

#[test]
fn a_bad_directory_is_rejected_with_its_reason_and_harms_no_other() {
    let library = tempfile::tempdir().unwrap();
    let library = library.path();
    for name in ["sound", "damaged", "half", "endless", "huge", "no-text", "cut"] {
        add_run(library, name);
    }
    fs::rename(library.join("no-text"), library.join("no text")).unwrap();
    fs::write(library.join("damaged/run.json"), "{}").unwrap();
    fs::remove_file(library.join("half/run.json")).unwrap();
    let pipe = library.join("endless/latency.parquet");
    fs::remove_file(&pipe).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    fs::File::options()
        .write(true)
        .open(library.join("huge/run.json"))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    fs::File::options()
        .write(true)
        .open(library.join("cut/series.parquet"))
        .unwrap()
        .set_len(99)
        .unwrap();
    fs::create_dir(library.join("facts")).unwrap();
    fs::create_dir(library.join(".ssdlab-upload-x")).unwrap();
    fs::write(library.join(".ssdlab-upload-x/run.json"), "").unwrap();
    let (_, rows) = refreshed(library);
    let sound: Vec<_> = rows.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(sound, ["sound"]);
    assert_eq!(rows.rejected.len(), 6);
    for (name, words) in [
        ("damaged", "schema_version"),
        ("half", "there is no run.json"),
        ("endless", "no regular file"),
        ("huge", "more than"),
        ("no text", "cannot be that of a run"),
        ("cut", "cut/series.parquet"),
    ] {
        let reason = reason(&rows, name);
        assert!(reason.contains(words), "{name}: {reason}");
        assert!(!reason.contains(&*library.to_string_lossy()), "{reason}");
    }
    assert_eq!(refreshed(library).0, IndexChanges::default());
}

#[test]
fn the_end_of_a_writer_is_noticed_though_no_file_changes() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("in-progress");
    let writer = begun(library.path(), &mut run, 5);
    assert_eq!(refreshed(library.path()).1.runs[0].status, RunStatus::Running);
    drop(writer);
    assert_eq!(refreshed(library.path()).1.runs[0].status, RunStatus::Interrupted);
    assert_eq!(refreshed(library.path()).0, IndexChanges::default());
}

#[test]
fn a_damaged_index_is_made_anew() {
    let library = tempfile::tempdir().unwrap();
    add_run(library.path(), "run-1");
    refreshed(library.path());
    let file = library.path().join(INDEX_FILE);
    let whole = fs::read(&file).unwrap();
    let damaged = [&whole[..100], &vec![0xa5; whole.len() - 100]].concat();
    for content in [&damaged[..], &whole[..whole.len() / 2], b""] {
        fs::write(&file, content).unwrap();
        let (work, rows) = refreshed(library.path());
        assert_eq!((work.read, rows.runs.len()), (1, 1));
    }
    let older = rusqlite::Connection::open(&file).unwrap();
    older.pragma_update(None, "user_version", 99).unwrap();
    assert_eq!(refreshed(library.path()).0.read, 1);
}

#[test]
fn what_is_no_index_is_left_as_it_is() {
    let library = tempfile::tempdir().unwrap();
    add_run(library.path(), "run-1");
    let file = library.path().join(INDEX_FILE);
    let other = tempfile::tempdir().unwrap();
    let database = other.path().join("photos.sqlite");
    let db = rusqlite::Connection::open(&database).unwrap();
    db.execute_batch(
        "CREATE TABLE photos (name); CREATE TABLE runs (day); INSERT INTO runs VALUES (7);",
    )
    .unwrap();
    drop(db);
    let theirs = fs::read(&database).unwrap();
    for content in [&b"a diary, and no database".repeat(100)[..], &theirs] {
        fs::write(&file, content).unwrap();
        assert_eq!(refreshed(library.path()).1.runs.len(), 1, "the index is in memory");
        assert!(fs::read(&file).unwrap() == content, "nothing was changed");
    }
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&database, &file).unwrap();
    assert_eq!(refreshed(library.path()).1.runs.len(), 1);
    assert!(fs::read(&database).unwrap() == theirs, "the link is not followed");
}

#[test]
fn figures_answer_questions_in_sql() {
    let library = tempfile::tempdir().unwrap();
    add_run(library.path(), "run-1");
    refreshed(library.path());
    let db = rusqlite::Connection::open(library.path().join(INDEX_FILE)).unwrap();
    let sql = "SELECT test || ' ' || value FROM figures WHERE figure = 'iops_steady_mean'";
    let found: String = db.query_row(sql, [], |line| line.get(0)).unwrap();
    assert_eq!(found, "consistency 1000.0");
}

#[test]
fn a_missing_library_is_said() {
    let error = Index::open(Path::new("no/such/library")).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("--library"), "{error}");
}
