//! A bundle for a maintainer has what explains a figure, and nothing personal.

use std::process::Command;

use crate::lab::{Answer, Lab};

#[test]
fn a_bundle_names_neither_drive_nor_paths() {
    let lab = Lab::new();
    let run = ["run", "consistency", "file:ada-backup.img?size=64MiB", "--library=runs"];
    let mut run = lab.command(&run);
    run.args(["--set", "duration=2s", "--set", "steady_from=1s", "--quiet"]);
    run.args(["--label", "customer-seven", "--note", "for Ada", "--seed", "77"]);
    Answer::of(&mut run).must_exit_with(0);
    let answer = Answer::of(&mut lab.command(&["support", "latest", "--library=runs"]));
    answer.must_exit_with(0);
    let bundle = answer.document();
    assert_eq!(bundle["runs"][0]["target"]["spec"], "file:path-2?size=64MiB");
    assert_eq!(bundle["runs"][0]["seed"], 77);
    assert!(bundle["runs"][0]["metrics"].as_object().is_some_and(|metrics| metrics.len() > 5));
    assert!(bundle["machine"]["kernel"].is_string(), "{bundle:#}");
    assert!(bundle["program"]["version"].as_str().is_some_and(|it| it.starts_with("0.")));
    let dir = lab.path("").to_string_lossy().into_owned();
    let host = Answer::of(&mut Command::new("hostname")).stdout;
    for secret in ["ada-backup", "Ada", "customer-seven", dir.trim_end_matches('/'), host.trim()] {
        assert!(!answer.stdout.contains(secret), "{secret}: {}", answer.stdout);
    }
}

#[test]
fn the_long_version_names_the_formats() {
    let lab = Lab::new();
    let short = Answer::of(&mut lab.command(&["--version"])).stdout;
    let long = Answer::of(&mut lab.command(&["--version", "--verbose"]));
    long.must_exit_with(0);
    assert!(long.stdout.starts_with(&short), "{}", long.stdout);
    for fact in ["built for: ", "c library: ", "page: ", "run directory: 2", "suite: ", "trace: "] {
        assert!(long.stdout.contains(&format!("\n{fact}")), "{fact}: {}", long.stdout);
    }
}
