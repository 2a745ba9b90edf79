//! The suite from outside: verdicts as exit codes, and a review that ends in one page.

use crate::lab::{Answer, Lab, page_data, phase, read_run};

const DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/256";

fn trim(lab: &Lab, torture: &str, keys: &str) -> Answer {
    let target = format!("sim:sandisk-extreme-ii-480gb?{keys}");
    let settings = ["--set", torture, "--set", "idle=0s", "--format", "json", "--quiet"];
    let mut command = lab.command(&["run", "trim", &target]);
    Answer::of(command.args(settings).arg("--library").arg(lab.library()))
}

#[test]
fn the_verdict_on_trim_is_the_exit_code() {
    let lab = Lab::new();
    let works = trim(&lab, "torture=30s", "scale=1/256");
    works.must_exit_with(0);
    assert_eq!(works.document()["runs"][0]["verdict"]["outcome"], "pass");
    let ignored = trim(&lab, "torture=30s", "scale=1/256&interface.deallocate=ignored");
    ignored.must_exit_with(1);
    let text = ignored.document()["runs"][0]["verdict"]["text"].to_string();
    assert!(text.contains("TRIM does not work"), "{text}");
    // So little leaves no mark.
    let unmarked = trim(&lab, "torture=1s", "scale=1/16");
    unmarked.must_exit_with(0);
    assert_eq!(unmarked.document()["runs"][0]["verdict"]["outcome"], "inconclusive");
    let absent = trim(&lab, "torture=30s", "scale=1/256&interface.deallocate=absent");
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
    let page = page_data(&std::fs::read_to_string(lab.path("review.html")).expect("the page"));
    let dirs = lab.run_dirs(&first.document());
    let announced = format!("{} runs, about", dirs.len());
    assert!(first.stderr.contains(&announced), "not {announced}:\n{}", first.stderr);
    assert!(dirs.len() >= 10, "the suite is longer: {dirs:?}");
    let plan = first.stderr.lines().take_while(|line| !line.contains(": seed ")).count();
    assert!((2..=8).contains(&plan), "a plan is no list of every step:\n{}", first.stderr);
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

#[test]
fn trims_and_flushes_go_among_reads_and_writes_of_a_file() {
    let lab = Lab::new();
    let target = format!("file:{}?size=64MiB", lab.path("disk.bin").display());
    let mut command = lab.command(&["run", "mixed", &target, "--format", "json", "--quiet"]);
    for setting in ["time=1s", "random_span=32MiB", "read_percents=50", "data=46%"] {
        command.args(["--set", setting]);
    }
    command.args(["--set", "trim_percent=10", "--set", "flush_percent=1"]);
    let answer = Answer::of(command.arg("--library").arg(lab.library()));
    answer.must_exit_with(0);
    let run = read_run(&lab.run_dirs(&answer.document())[0]);
    let phase = phase(&run, "read50");
    assert_eq!(phase["errors"], 0, "{phase:#}");
    let number = |name: &str| phase[name].as_u64().expect("a number");
    let share = number("bytes") as f64 / 4096.0 / number("ios") as f64;
    assert!((0.5..1.0).contains(&share), "some of the commands move nothing: {phase:#}");
}

#[test]
fn a_workload_has_a_quick_form_too() {
    let lab = Lab::new();
    let plan = ["plan", "workload", DRIVE, "--workload=oltp"];
    let whole = Answer::of(&mut lab.command(&plan));
    whole.must_exit_with(0);
    let quick = Answer::of(lab.command(&plan).arg("--quick"));
    quick.must_exit_with(0);
    assert_ne!(whole.stdout, quick.stdout, "it is shorter");
}

#[test]
fn a_review_refuses_a_test_that_its_form_does_not_hold() {
    let lab = Lab::new();
    for (args, word) in [
        (["--only", "destroyer"], "has no test `destroyer`"),
        (["--set", "pts-iops.shorten=1"], "has no test `pts-iops`"),
        (["--set", "torture=1s"], "names no test"),
        (["--set", "trim.tortur=1s"], "did you mean `--set torture=1s`"),
    ] {
        let mut command = lab.command(&["review", DRIVE, "--quick"]);
        let answer = Answer::of(command.args(args).arg("--library").arg(lab.library()));
        assert!(matches!(answer.code, Some(2)), "{args:?}: {answer:#?}");
        assert!(answer.stderr.contains(word), "{args:?}: {answer:#?}");
    }
}
