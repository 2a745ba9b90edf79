//! A site is whole or not there, and replaces nothing but a site.

mod common;

use std::fs;
use std::path::Path;

use flate2::read::ZlibDecoder;
use result::bench::{Digest, Library, SITE_MARKER, SiteError, SiteForm, SiteReport, scan, site};
use result::report::BenchPage;
use result::store::RunWriter;

fn page() -> BenchPage {
    BenchPage { html: "<html>".to_owned(), policy: String::new() }
}

/// A library of one run, and its packed file.
fn library(dir: &Path) -> (Library, Vec<u8>) {
    let (mut run, rows) = (common::run_named("run-1"), common::load_rows(20, 5));
    let mut writer = RunWriter::create(dir, &run).unwrap();
    common::add_phase(&mut writer, &mut run, "load", &rows);
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
fn a_site_has_its_files_and_replaces_its_predecessor_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (library, packed) = library(&dir.path().join("library"));
    let to = dir.path().join("new/site");
    let report = written(&to, &library, &packed).unwrap();
    assert_eq!(report.files, 4);
    assert_eq!(names(&to), ["index.html", "library.json", "runs", SITE_MARKER]);
    let rows: Library =
        serde_json::from_slice(&fs::read(to.join("library.json")).unwrap()).unwrap();
    let run = &rows.runs[0].name;
    assert_eq!(fs::read(to.join(format!("runs/{run}.zz"))).unwrap(), packed);
    fs::write(to.join("runs/gone.zz"), "").unwrap();
    written(&to, &library, &packed).unwrap();
    assert_eq!(names(&to.join("runs")), [format!("{run}.zz")]);
    assert_eq!(names(&dir.path().join("new")), ["site"]);
}

#[test]
fn a_directory_with_other_content_is_refused_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (library, packed) = library(&dir.path().join("library"));
    let other = dir.path().join("photos");
    fs::create_dir(&other).unwrap();
    written(&other, &library, &packed).expect("an empty directory");
    fs::remove_file(other.join(SITE_MARKER)).unwrap();
    let error = written(&other, &library, &packed).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("photos is no site"), "{error}");
    let file = other.join("index.html");
    let error = written(&file, &library, &packed).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("no directory"), "{error}");
    assert!(written(Path::new("/"), &library, &packed).unwrap_err().is_usage());
    assert_eq!(names(dir.path()), ["library", "photos"]);
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
