//! Does the sweep of a site keep what is none of it?

use super::*;

#[test]
fn what_left_its_place_and_is_none_of_the_site_is_not_swept() {
    let dir = tempfile::tempdir().unwrap();
    let hidden = dir.path().join(".ssdlab-site-x");
    fs::create_dir(&hidden).unwrap();
    fs::write(hidden.join("out-0"), "somebody else's").unwrap();
    fs::write(hidden.join("1"), "half").unwrap();
    drop(SitePlace::of(dir.path()).unwrap());
    assert_eq!(fs::read(hidden.join("out-0")).unwrap(), b"somebody else's");
    assert!(!hidden.join("1").exists());
}
