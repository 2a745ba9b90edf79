//! Does each check of a removal by name refuse by itself?

use std::fs;
use std::path::Path;

use result::schema::{Run, RunStatus};
use result::store::RunWriter;

use super::*;
use crate::args::PlaceArgs;

fn write_run(library: &Path, name: &str) {
    let example = include_str!("../../../../../result/tests/compat/v2/run.json");
    let mut run: Run = serde_json::from_str(example).unwrap();
    name.clone_into(&mut run.run_id);
    (run.phases, run.status) = (Vec::new(), RunStatus::Complete);
    RunWriter::create(library, &run).unwrap();
}

#[test]
fn runs_are_removed_by_their_whole_names_and_all_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let [library, other] = ["library", "other"].map(|name| dir.path().join(name));
    for name in ["run-1", "run-2"] {
        write_run(&library, name);
        write_run(&other, name);
    }
    write_run(&library, "run-3");
    fs::rename(library.join("run-3"), library.join("renamed")).unwrap();
    fs::write(library.join("run-2/photo.raw"), "mine").unwrap();
    let removed = |names: &[&str]| {
        let place = PlaceArgs { library: library.clone(), format: Format::Text };
        let runs = names.iter().map(|name| (*name).to_owned()).collect();
        run(&RmArgs { runs, place })
    };
    for names in [
        &["../other/run-1"][..],
        &["./run-1"],
        &["run-1/"],
        &["run"],
        &["renamed"],
        &["run-3"],
        &["run-1", "run-2"],
        &["run-1", "none"],
    ] {
        assert!(removed(names).is_err(), "{names:?}");
        for path in [library.join("run-1"), library.join("renamed"), other.join("run-1")] {
            assert!(path.join("run.json").is_file(), "{names:?}: {}", path.display());
        }
    }
    removed(&["run-1"]).unwrap();
    assert!(!library.join("run-1").exists() && other.join("run-1").exists());
}
