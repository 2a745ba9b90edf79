//! `ssdlab verify` on a file: what it keeps, what it finds, what it refuses.

use std::os::unix::fs::FileExt;

use serde_json::Value;

use crate::lab::{Answer, Lab};

const TARGET: &str = "file:target?size=8MiB&keep=true";

fn verify(lab: &Lab, args: &[&str]) -> Answer {
    let mut command = lab.command(&["verify"]);
    Answer::of(command.args(args).args(["--format", "json"]))
}

fn offsets(document: &Value) -> Vec<u64> {
    let broken = document["broken"].as_array().expect("a list");
    broken.iter().filter_map(|broken| broken["offset_bytes"].as_u64()).collect()
}

#[test]
fn what_is_damaged_later_is_found_by_a_later_check() {
    let lab = Lab::new();
    let written = verify(&lab, &[TARGET, "--writes", "3000"]);
    written.must_exit_with(0);
    assert_eq!(written.document()["writes"], 3000);
    let check = [TARGET, "--check"];
    verify(&lab, &check).must_exit_with(0);

    let file = std::fs::File::options().write(true).open(lab.path("target")).expect("kept");
    file.write_all_at(&[0; 4096], 0).expect("written");
    file.write_all_at(b"!", (1 << 20) + 77).expect("written");
    let found = verify(&lab, &check);
    found.must_exit_with(1);
    let document = found.document();
    assert_eq!(document["writes"], Value::Null, "nothing was written: {document:#}");
    let all = [0, 1 << 20];
    assert!(offsets(&document).iter().all(|offset| all.contains(offset)), "{document:#}");
    assert_eq!(document["broken_blocks"].as_u64(), Some(offsets(&document).len() as u64));
    assert!(!offsets(&document).is_empty(), "3,000 of 2,048 blocks: both were most likely hit");
}

#[test]
fn a_journal_is_not_overwritten() {
    let lab = Lab::new();
    verify(&lab, &[TARGET, "--writes", "100"]).must_exit_with(0);
    let again = verify(&lab, &[TARGET, "--writes", "100", "--erase", "target"]);
    again.must_exit_with(2);
    assert!(again.stderr.contains("ssdlab-verify.journal exists already"), "{again:#?}");
}

#[test]
fn a_target_without_data_cannot_be_verified() {
    let lab = Lab::new();
    verify(&lab, &["null:"]).must_exit_with(5);
    let no_journal = verify(&lab, &[TARGET, "--check"]);
    no_journal.must_exit_with(2);
    assert!(no_journal.stderr.contains("ssdlab-verify.journal"), "{no_journal:#?}");
}
