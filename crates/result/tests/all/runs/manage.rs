//! Runs that have ended: new words, and removal.

use std::fs;
use std::path::PathBuf;

use crate::common::{add_phase, load_rows, run_named};
use result::schema::{About, RunStatus};
use result::store::{RunDir, RunWriter, StoreError};
use tempfile::TempDir;

fn complete_run() -> (TempDir, PathBuf) {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("managed");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    add_phase(&mut writer, &mut run, "load", &load_rows(10, 5));
    run.status = RunStatus::Complete;
    writer.finish(&run).unwrap();
    let path = writer.path().to_owned();
    (library, path)
}

fn about() -> About {
    About {
        label: Some("before".to_owned()),
        note: Some("a \"remark\"\nof two lines".to_owned()),
        tags: vec!["lab".to_owned()],
    }
}

#[test]
fn new_words_change_nothing_else_and_damage_is_still_found() {
    let (_library, path) = complete_run();
    let before = RunDir::open(&path).unwrap();
    let mut dir = before.clone();
    dir.set_about(about()).unwrap();
    let after = RunDir::open(&path).unwrap();
    after.check().unwrap();
    assert_eq!(after.run().about, about());
    let mut same = after.run().clone();
    same.about = About::default();
    assert_eq!(&same, before.run());
    assert_eq!(after.rows(0).unwrap().seconds, before.rows(0).unwrap().seconds);
    let file = path.join("run.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("two lines", "two limes")).unwrap();
    assert!(matches!(RunDir::open(&path), Err(StoreError::RunChanged { .. })));
}

#[test]
fn a_removed_run_leaves_nothing() {
    let (library, path) = complete_run();
    RunDir::open(&path).unwrap().remove().unwrap();
    assert_eq!(fs::read_dir(library.path()).unwrap().count(), 0);
}

#[test]
fn files_of_others_keep_a_run() {
    let (_library, path) = complete_run();
    fs::write(path.join("thesis.txt"), "years of work").unwrap();
    let dir = RunDir::open(&path).unwrap();
    let error = dir.check_removable().unwrap_err();
    assert!(
        matches!(&error, StoreError::OtherFiles { name, .. } if name == "thesis.txt"),
        "{error}"
    );
    assert!(dir.remove().is_err());
    RunDir::open(&path).unwrap().check().unwrap();
}

#[test]
fn a_run_in_progress_is_left_alone() {
    let library = tempfile::tempdir().unwrap();
    let writer = RunWriter::create(library.path(), &run_named("running")).unwrap();
    let mut dir = RunDir::open(writer.path()).unwrap();
    assert!(matches!(dir.set_about(about()), Err(StoreError::InProgress { .. })));
    assert!(matches!(dir.remove(), Err(StoreError::InProgress { .. })));
    assert!(RunDir::open(writer.path()).is_ok());
}
