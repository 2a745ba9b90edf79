//! A site replaces nothing but its own files, and is completed by the next call where one was cut off.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use result::bench::{Digest, Library, SITE_MARKER, SiteError, SiteForm, SiteReport, scan, site};
use result::report::BenchPage;
use result::store::RunWriter;

fn page() -> BenchPage {
    BenchPage { html: "<html>".to_owned(), policy: String::new() }
}

/// A library of one run, and its packed file.
fn library(dir: &Path) -> (Library, Vec<u8>) {
    let (mut run, rows) = (crate::common::run_named("run-1"), crate::common::load_rows(20, 5));
    let mut writer = RunWriter::create(dir, &run).unwrap();
    crate::common::add_phase(&mut writer, &mut run, "load", &rows);
    let digest = Digest::of(&scan(dir).unwrap()[0]).unwrap();
    (Library::of("title", vec![digest.row], Vec::new()), digest.packed)
}

fn written(to: &Path, library: &Library, packed: &[u8]) -> Result<SiteReport, SiteError> {
    site(to, &page(), library, SiteForm::Whole, |_| Ok(packed.to_vec()))
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_site_has_its_files_and_replaces_those_of_its_predecessor() {
    let dir = tempfile::tempdir().unwrap();
    let (library, packed) = library(&dir.path().join("library"));
    let to = dir.path().join("new/site");
    let report = written(&to, &library, &packed).unwrap();
    assert_eq!((report.files, report.removed, report.left), (4, 0, Vec::new()));
    assert_eq!(names(&to), ["index.html", "library.json", "runs", SITE_MARKER]);
    let rows: Library =
        serde_json::from_slice(&fs::read(to.join("library.json")).unwrap()).unwrap();
    let run = &rows.runs[0].name;
    assert_eq!(fs::read(to.join(format!("runs/{run}.zz"))).unwrap(), packed);
    // The same library under another heading, and then without its run.
    let other = Library { title: "other".to_owned(), ..library.clone() };
    written(&to, &other, &packed).unwrap();
    assert!(fs::read_to_string(to.join("library.json")).unwrap().contains("other"));
    let empty = Library { runs: Vec::new(), ..other };
    assert_eq!(written(&to, &empty, &packed).unwrap().removed, 1);
    assert_eq!(names(&to.join("runs")), [""; 0]);
    assert_eq!(names(&dir.path().join("new")), ["site"]);
}

/// All files below a directory with their content, links as what they lead to.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(tree(&path));
        } else if kind.is_symlink() {
            found.insert(path.clone(), fs::read_link(&path).unwrap().into_os_string().into_vec());
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn what_is_no_file_of_the_site_stays_and_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (library, packed) = library(&dir.path().join("library"));
    let to = dir.path().join("web");
    fs::create_dir_all(to.join(".git/objects")).unwrap();
    fs::create_dir_all(to.join("runs/2019")).unwrap();
    for name in
        [".git/HEAD", "CNAME", "photo.raw", "thesis.tex", "runs/2019/marathon.gpx", "runs/own.zz"]
    {
        fs::write(to.join(name), name).unwrap();
    }
    symlink("../library", to.join("link")).unwrap();
    let before = tree(dir.path());
    for _ in 0..3 {
        let report = written(&to, &library, &packed).unwrap();
        let left = [".git", "CNAME", "link", "photo.raw", "thesis.tex", "runs/2019", "runs/own.zz"];
        assert_eq!(report.left, left);
        let after = tree(dir.path());
        let kept = |(path, content): (&PathBuf, &Vec<u8>)| after.get(path) == Some(content);
        assert!(before.iter().all(kept), "{after:?}");
        assert_eq!(after.len(), before.len() + 4);
    }
}

#[test]
fn a_name_that_somebody_else_has_is_refused_before_anything_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (library, packed) = library(&dir.path().join("library"));
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    type Obstacle = fn(&Path, &Path);
    let obstacles: [(&str, Obstacle); 9] = [
        ("index.html", |to, _| fs::write(to.join("index.html"), "mine").unwrap()),
        ("library.json", |to, _| fs::create_dir(to.join("library.json")).unwrap()),
        ("runs", |to, _| fs::write(to.join("runs"), "mine").unwrap()),
        ("runs", |to, elsewhere| symlink(elsewhere, to.join("runs")).unwrap()),
        ("index.html", |to, elsewhere| {
            symlink(elsewhere.join("x"), to.join("index.html")).unwrap();
        }),
        ("runs/run-1.zz", |to, _| {
            fs::create_dir(to.join("runs")).unwrap();
            fs::write(to.join("runs/run-1.zz"), "mine").unwrap();
        }),
        (SITE_MARKER, |to, elsewhere| symlink(elsewhere.join("x"), to.join(SITE_MARKER)).unwrap()),
        (SITE_MARKER, |to, _| fs::write(to.join(SITE_MARKER), "{\"name\":\"a package\"}").unwrap()),
        // A site of an earlier version: which files are its own is not known.
        ("index.html", |to, _| {
            fs::write(to.join(SITE_MARKER), "{\"written_by\":\"ssdlab 0.1.0\"}").unwrap();
            fs::write(to.join("index.html"), "old").unwrap();
        }),
    ];
    for (number, (name, obstacle)) in obstacles.into_iter().enumerate() {
        let to = dir.path().join(number.to_string());
        fs::create_dir(&to).unwrap();
        fs::write(to.join("thesis.tex"), "years").unwrap();
        obstacle(&to, &elsewhere);
        let before = tree(dir.path());
        let error = written(&to, &library, &packed).unwrap_err();
        assert!(error.is_refused() && error.to_string().contains(name), "{number}: {error}");
        assert_eq!(tree(dir.path()), before, "{number} {name}");
    }
    let file = dir.path().join("0/thesis.tex");
    let error = written(&file, &library, &packed).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("no directory"), "{error}");
    assert!(written(Path::new("/"), &library, &packed).unwrap_err().is_usage());
}

#[test]
fn a_file_of_the_site_that_was_edited_is_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let (library, packed) = library(&dir.path().join("library"));
    let to = dir.path().join("site");
    written(&to, &library, &packed).unwrap();
    let run = to.join("runs/run-1.zz");
    fs::write(&run, "my notes").unwrap();
    let before = tree(&to);
    let error = written(&to, &library, &packed).unwrap_err();
    assert!(error.is_refused() && error.to_string().contains("was changed"), "{error}");
    assert_eq!(tree(&to), before);
    // The new site has no such file: it stays, and is told.
    let empty = Library { runs: Vec::new(), ..library.clone() };
    let report = written(&to, &empty, &packed).unwrap();
    assert_eq!((report.removed, report.left), (0, vec!["runs/run-1.zz".to_owned()]));
    assert_eq!(fs::read_to_string(&run).unwrap(), "my notes");
    // And it is nobody's but its author's from now on.
    assert!(written(&to, &library, &packed).unwrap_err().is_refused());
}

#[test]
fn a_forged_manifest_reaches_no_file_outside() {
    let dir = tempfile::tempdir().unwrap();
    let (library, packed) = library(&dir.path().join("library"));
    let to = dir.path().join("site");
    written(&to, &library, &packed).unwrap();
    fs::write(dir.path().join("thesis"), "years").unwrap();
    fs::write(to.join("CNAME"), "years").unwrap();
    let content = format!("{{\"bytes\":5,\"crc32\":{}}}", crc32fast::hash(b"years"));
    let marker = fs::read_to_string(to.join(SITE_MARKER)).unwrap();
    let names = ["../thesis", "runs/../../thesis", "CNAME", "runs/../CNAME"];
    let forged = names.map(|name| format!("\"{name}\": {content},")).concat();
    let forged = marker.replace("\"files\": {", &format!("\"files\": {{{forged}"));
    assert_ne!(forged, marker);
    fs::write(to.join(SITE_MARKER), forged).unwrap();
    assert_eq!(written(&to, &library, &packed).unwrap().left, ["CNAME"]);
    assert_eq!(fs::read_to_string(dir.path().join("thesis")).unwrap(), "years");
}

/// A kill in the middle: the manifest lists both contents of each name, some have changed, and a hidden
/// directory has the rest.
#[test]
fn a_call_that_was_cut_off_is_completed_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let (library, packed) = library(&dir.path().join("library"));
    let to = dir.path().join("site");
    written(&to, &library, &packed).unwrap();
    let marker = |path: &Path| -> serde_json::Value {
        serde_json::from_slice(&fs::read(path.join(SITE_MARKER)).unwrap()).unwrap()
    };
    let before = marker(&to)["files"].clone();
    let other = Library { title: "other".to_owned(), runs: Vec::new(), ..library.clone() };
    let whole = dir.path().join("whole");
    written(&whole, &other, &packed).unwrap();
    let mut cut = marker(&whole);
    cut["before"] = before;
    fs::write(to.join(SITE_MARKER), cut.to_string()).unwrap();
    fs::copy(whole.join("library.json"), to.join("library.json")).unwrap();
    let hidden = to.join(".ssdlab-site-killed");
    fs::create_dir(&hidden).unwrap();
    fs::write(hidden.join("0"), "a new file that got no name").unwrap();
    fs::write(hidden.join("out-1"), fs::read(to.join("index.html")).unwrap()).unwrap();
    fs::write(hidden.join("out-2"), "the notes of somebody").unwrap();
    let report = written(&to, &other, &packed).unwrap();
    assert_eq!((report.removed, report.left), (1, vec![".ssdlab-site-killed".to_owned()]));
    assert_eq!(names(&hidden), ["out-2"], "it is no file of the site");
    fs::remove_dir_all(&hidden).unwrap();
    let relative = |root: &Path| -> Vec<_> {
        let tree = tree(root).into_iter();
        tree.map(|(path, content)| (path.strip_prefix(root).unwrap().to_owned(), content)).collect()
    };
    assert_eq!(relative(&to), relative(&whole));
}

#[test]
fn a_failure_leaves_the_old_site_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let (library, packed) = library(&dir.path().join("library"));
    let to = dir.path().join("site");
    written(&to, &library, &packed).unwrap();
    let gone = |_: &str| {
        let source = std::io::ErrorKind::NotFound.into();
        Err(SiteError::Io { action: "read", path: "run".into(), source })
    };
    assert!(site(&to, &page(), &library, SiteForm::Whole, gone).is_err());
    assert_eq!(names(dir.path()), ["library", "site"]);
    assert_eq!(names(&to), ["index.html", "library.json", "runs", SITE_MARKER]);
    assert_eq!(names(&to.join("runs")).len(), 1);
}

#[test]
fn a_small_site_has_the_rest_of_each_row_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (mut library, packed) = library(&dir.path().join("library"));
    library.runs[0].figures.insert("waf_steady".to_owned(), 4.598_454_099);
    let (whole, to) = (dir.path().join("whole"), dir.path().join("small"));
    written(&whole, &library, &packed).unwrap();
    site::<SiteError>(&to, &page(), &library, SiteForm::Small, |_| Ok(packed.clone())).unwrap();
    assert_eq!(names(&to), ["index.html", "library.zz", "runs", SITE_MARKER]);
    let read = |path: &Path| -> serde_json::Value {
        serde_json::from_reader(ZlibDecoder::new(fs::File::open(path).unwrap())).unwrap()
    };
    let mut rows = read(&to.join("library.zz"));
    assert_eq!(rows["runs"][0]["figures"]["waf_steady"], 4.598_45, "six digits of a figure");
    rows["runs"][0]["figures"] = serde_json::to_value(&library.runs[0].figures).unwrap();
    assert_eq!(rows, serde_json::to_value(&library).unwrap(), "and all else");
    let (small, row) = (read(&to.join("runs/run-1.zz")), &library.runs[0]);
    assert!(small["metrics"].is_null() && small["target"].is_null(), "its row has them");
    assert_eq!((&small["run_id"], row.name.as_str()), (&"run-1".into(), "run-1"));
    assert_eq!(small["series"]["iops"].as_array().unwrap().len(), 20);
}
