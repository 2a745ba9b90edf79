//! The suite from outside: verdicts as exit codes, and a review that ends in one page.

use crate::lab::{Answer, Lab};

const DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/256";

fn trim(lab: &Lab, key: &str) -> Answer {
    let target = format!("{DRIVE}{key}");
    let settings = ["--set", "torture=30s", "--set", "idle=0s", "--format", "json", "--quiet"];
    let mut command = lab.command(&["run", "trim", &target]);
    Answer::of(command.args(settings).arg("--library").arg(lab.library()))
}

#[test]
fn the_verdict_on_trim_is_the_exit_code() {
    let lab = Lab::new();
    let works = trim(&lab, "");
    works.must_exit_with(0);
    assert_eq!(works.document()["runs"][0]["verdict"]["outcome"], "pass");
    let ignored = trim(&lab, "&interface.deallocate=ignored");
    ignored.must_exit_with(1);
    let text = ignored.document()["runs"][0]["verdict"]["text"].to_string();
    assert!(text.contains("TRIM does not work"), "{text}");
    let absent = trim(&lab, "&interface.deallocate=absent");
    absent.must_exit_with(5);
    assert_eq!(absent.reason(), "unsupported");
}

#[test]
fn a_review_is_one_page_and_goes_on_where_it_stopped() {
    let lab = Lab::new();
    let review = |more: &[&str]| {
        let page = lab.path("review.html");
        let mut command = lab.command(&["review", DRIVE, "--quick", "--format", "json"]);
        command.args(more).arg("--library").arg(lab.library()).arg("--output").arg(page);
        Answer::of(&mut command)
    };
    let first = review(&[]);
    first.must_exit_with(0);
    let page = std::fs::read_to_string(lab.path("review.html")).expect("the page");
    let dirs = lab.run_dirs(&first.document());
    let announced = format!("{} runs, up to about", dirs.len());
    assert!(first.stderr.contains(&announced), "not {announced}:\n{}", first.stderr);
    assert!(dirs.len() >= 10, "the suite is longer: {dirs:?}");
    for dir in &dirs {
        let run_id = dir.file_name().expect("a name").to_string_lossy();
        assert!(page.contains(&*run_id), "the page does not show {run_id}");
    }
    let (last, done) = dirs.split_last().expect("runs");
    std::fs::remove_dir_all(last).expect("the last run goes");
    let second = review(&["--resume"]);
    second.must_exit_with(0);
    let again = lab.run_dirs(&second.document());
    assert_eq!(again[..done.len()], *done, "what was done is not done again");
    assert_eq!(again.len(), dirs.len());
}
