//! Are the files of fingerprints sound, does the page list their claims, and do some of them hold at a
//! small scale?

use std::path::{Path, PathBuf};

use validation::claim::{Fingerprint, Theme};
use validation::page::claim_lines;
use validation::role::Role;
use validation::store::Store;
use validation::verdict::{Verdict, judge};

/// The claims that are tried here: seconds in all.
const TRIED: [&str; 1] = ["extreme-ii-spare-mean"];

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn fingerprints() -> Vec<Fingerprint> {
    let themes = Theme::read_all(&top().join("drives/fingerprints")).expect("sound files");
    themes.into_iter().flat_map(|theme| theme.fingerprints).collect()
}

#[test]
fn the_page_lists_every_claim_and_the_inputs_that_are_missed() {
    let page = std::fs::read_to_string(top().join("docs/evidence/drives.md"))
        .expect("docs/evidence/drives.md");
    let (inputs, claims): (Vec<_>, Vec<_>) =
        fingerprints().into_iter().partition(|fingerprint| fingerprint.role == Role::Input);
    let mut missing: Vec<_> = claims.iter().map(claim_lines).collect();
    missing.retain(|lines| !page.contains(lines));
    assert!(missing.is_empty(), "`cargo xtask fingerprints` writes these:\n{}", missing.concat());
    let listed = page.lines().filter(|line| line.starts_with("- `"));
    assert_eq!(listed.count(), claims.len(), "the page has claims that no file has");
    let inputs: Vec<_> = inputs.iter().map(claim_lines).collect();
    let is_known = |line: &str| {
        line.starts_with("| `rated-") || inputs.iter().any(|input| line.starts_with(input))
    };
    let unknown: Vec<_> =
        page.lines().filter(|line| line.starts_with("| `") && !is_known(line)).collect();
    assert!(unknown.is_empty(), "inputs that no file has: {unknown:?}");
}

#[test]
fn every_drive_has_a_model() {
    let mut unknown: Vec<_> = fingerprints()
        .iter()
        .flat_map(|fingerprint| fingerprint.figures.values().map(|found| found.cell.drive.clone()))
        .filter(|drive| sim::model::built_in(drive).is_none())
        .collect();
    unknown.dedup();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn claims_that_permit_scale_hold_below_full_size() {
    let runs = tempfile::tempdir().unwrap();
    let store = Store::new(runs.path().to_owned());
    let all = fingerprints();
    for id in TRIED {
        let fingerprint = all.iter().find(|one| one.id == id).expect(id);
        let cells: Vec<_> = fingerprint.figures.values().map(|found| found.cell.clone()).collect();
        let judged = judge(fingerprint, &store.run_all(&cells, 2, &|_, _| ()));
        assert_eq!(judged.verdict, Verdict::Holds, "{id}: {:?} {:?}", judged.values, judged.failed);
    }
}
