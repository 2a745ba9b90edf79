//! Does each check refuse by itself what changed between the look at a site and the new name?

use super::*;

/// A place with one staged file, and the folder of its runs.
fn staged(path: &Path) -> (Place, Dir) {
    let mut place = Place::of(path).unwrap();
    place.stage("index.html", b"new").unwrap();
    let runs = place.dir.make(RUNS_FOLDER).unwrap();
    (place, runs)
}

#[test]
fn a_file_that_changed_after_the_look_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (place, runs) = staged(dir.path());
    let file = dir.path().join("index.html");
    fs::write(&file, "edited").unwrap();
    let old = Some(Content::of(b"old"));
    let put = place.put(&runs, "0", "index.html", old);
    assert!(matches!(put, Err(SiteError::Changed { .. })), "{put:?}");
    assert_eq!(fs::read(&file).unwrap(), b"edited");
}

#[test]
fn a_file_that_came_after_the_look_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (place, runs) = staged(dir.path());
    let file = dir.path().join("index.html");
    fs::write(&file, "mine").unwrap();
    let put = place.put(&runs, "0", "index.html", None);
    assert!(matches!(put, Err(SiteError::Taken { .. })), "{put:?}");
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}

#[test]
fn a_file_that_changed_after_the_look_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (place, runs) = staged(dir.path());
    let file = dir.path().join("runs/run-1.zz");
    fs::write(&file, "old").unwrap();
    let old = Content::of(b"old");
    assert!(place.remove(&runs, "runs/run-1.zz", old).unwrap() && !file.exists());
    fs::write(&file, "edited").unwrap();
    assert!(!place.remove(&runs, "runs/run-1.zz", old).unwrap());
    assert_eq!(fs::read(&file).unwrap(), b"edited");
    assert!(!place.remove(&runs, "runs/none.zz", old).unwrap());
}

#[test]
fn one_writer_at_a_time_has_the_place() {
    let dir = tempfile::tempdir().unwrap();
    let first = Place::of(dir.path()).unwrap();
    assert!(matches!(Place::of(dir.path()), Err(SiteError::Unusable { .. })));
    drop(first);
    drop(Place::of(dir.path()).unwrap());
}

#[test]
fn what_left_its_place_and_is_none_of_the_site_is_not_swept() {
    let dir = tempfile::tempdir().unwrap();
    let hidden = dir.path().join(".ssdlab-site-x");
    fs::create_dir(&hidden).unwrap();
    fs::write(hidden.join("out-0"), "somebody else's").unwrap();
    fs::write(hidden.join("1"), "half").unwrap();
    drop(Place::of(dir.path()).unwrap());
    assert_eq!(fs::read(hidden.join("out-0")).unwrap(), b"somebody else's");
    assert!(!hidden.join("1").exists());
}
