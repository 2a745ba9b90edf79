//! Wrong input: exit code 2, and a message that names the value and a way out.

use crate::lab::{Answer, Lab};

const DRIVE: &str = "sim:sandisk-extreme-ii-480gb?scale=1/64";

/// The arguments, as typed.
const MISTAKES: [&[&str]; 50] = [
    &["run", "power", DRIVE, "--meter", "ina219"],
    &["run", "power", DRIVE, "--meter", "hwmon:ina219"],
    &["run", "consistency", "sim:no-such-drive"],
    &["run", "consistency", DRIVE, "--spare", "120%"],
    &["run", "consistency", DRIVE, "--span", "99TB"],
    &["sim", "check", "missing.toml"],
    &["sim", "check", "broken.toml"],
    &["sim", "check", "child.toml"],
    &["list", "models"],
    &["run", "consistency", "sim:micron-7450-max-801gb"],
    &["run", "consistency", "null:", "--facts", "missing.toml"],
    &["run", "consistency", DRIVE, "--facts", "facts.toml"],
    &["run", "consistency", "sim:sandisk-extreme-ii-480gb?capacity_gb=0"],
    &["run", "consistency", "sim:sandisk-extreme-ii-480gb?gc.policy=magic"],
    &["run", "consistency", DRIVE, "--set", "durations=60"],
    &["run", "consistency", DRIVE, "--set", "duration=soon"],
    &["run", "consistancy", DRIVE],
    &["run", "consistency", DRIVE, "--seeed", "1"],
    &["run", "consistency", "no-such-scheme"],
    &["report", "no-such-run", "--output", "report.html"],
    &["run", "corners", DRIVE, "--set", "deep_queue_depth=64"],
    &["advise", "spare", DRIVE, "--floor", "20000", "--queue-depth", "64"],
    &["advise", "spare", DRIVE, "--floor", "1", "--measure", "400d"],
    &["advise", "spare", DRIVE, "--floor", "20000", "--measure", "1s"],
    &["run", "consistency", "sim:sandisk-extreme-ii-480gb?seed=-1"],
    &["advise", "spare", DRIVE, "--floor", "NaN"],
    &["run", "consistency", DRIVE, "--seed", "-1"],
    &["run", "consistency", DRIVE, "--workers", "many"],
    &["run", "consistency", DRIVE, "--spare", "100%"],
    &["run", "consistency", "file:x?size=8EiB"],
    &["run", "consistency", DRIVE, "--set", "queue_depth=-3"],
    &["run", "consistency", DRIVE, "--set", "steady_from=1h", "--set", "duration=60s"],
    &["run", "mixed", DRIVE, "--set", "read_percents=101"],
    &["run", "trim", DRIVE, "--set", "idle=1000d"],
    &["run", "pts-iops", DRIVE, "--set", "precondition=4000000000"],
    &["run", "consistency", "sim:/dev/zero"],
    &["sim", "check", "/dev/zero"],
    &["review", DRIVE, "--web", "/dev/zero"],
    &["review", DRIVE, "--only", "latency", "--set", "corners.time=1s"],
    &["trace", "info", "synth:light-2011?scale=1/1000", "--from", "msr"],
    &["trace", "info", "work.csv", "--event", "issue"],
    &["trace", "info", "work.csv", "--wait-unit", "doc"],
    &["trace", "import", "work.csv", "--stream", "99", "-o", "work.parquet"],
    &["advise", "spare", DRIVE],
    &["advise", "spare", DRIVE, "--floor", "1", "--floor-latency", "5ms"],
    &["advise", "spare", DRIVE, "--floor", "0"],
    &["review", "null:", "--quick"],
    &["review", "file:disk?size=64MiB", "--quick", "--only", "power"],
    &["run", "consistency", DRIVE, "--pin"],
    &["run", "--resume", "--float"],
];

/// A trace of MSR Cambridge with one stream, 0.
const WORK: &str =
    "128166372000000000,host,0,Write,0,4096,100\n128166372000010000,host,0,Read,4096,4096,100\n";

#[test]
fn mistakes_are_named_with_a_way_out() {
    let lab = Lab::new();
    std::fs::write(lab.path("broken.toml"), "this is = = not TOML").expect("a broken model");
    std::fs::write(lab.path("child.toml"), "extends = 'gone.toml'").expect("a child");
    std::fs::write(lab.path("facts.toml"), "match.model = 'A'\nfacts = {}").expect("facts");
    std::fs::write(lab.path("work.csv"), WORK).expect("a trace");
    insta::assert_snapshot!(lab.transcript(MISTAKES));
    let names = lab.path("").read_dir().expect("a directory").map(|entry| entry.expect("one"));
    let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    names.sort();
    let given = ["broken.toml", "child.toml", "facts.toml", "work.csv"];
    assert_eq!(names, given, "a mistake left something behind");
    assert_eq!(std::fs::read_to_string(lab.path("work.csv")).expect("the trace"), WORK);
}

#[test]
fn every_suggested_model_exists() {
    let lab = Lab::new();
    for typed in ["840pro", "extreme-ii", "vertex3"] {
        let target = format!("sim:{typed}");
        let answer = Answer::of(&mut lab.command(&["plan", "consistency", &target]));
        answer.must_exit_with(2);
        let (_, rest) = answer.stderr.split_once("close to it: ").expect("a suggestion");
        let (names, _) = rest.split_once(';').expect("the end of the list");
        for name in names.split(", ") {
            let shown = Answer::of(&mut lab.command(&["sim", "models", &format!("sim:{name}")]));
            shown.must_exit_with(0);
        }
    }
}

#[test]
fn a_purge_method_for_a_target_that_has_none_is_refused_with_the_reason() {
    let lab = Lab::new();
    for verb in ["run", "plan"] {
        for target in [DRIVE, "null:"] {
            let args = [verb, "consistency", target, "--purge", "overwrite", "--format", "json"];
            let answer = Answer::of(&mut lab.command(&args));
            answer.must_exit_with(5);
            assert_eq!(answer.reason(), "unsupported", "{answer:#?}");
            assert!(answer.stderr.contains("--purge overwrite is not for"), "{answer:#?}");
        }
    }
}

#[test]
fn a_mistake_leaves_no_run_behind() {
    let lab = Lab::new();
    let answer = Answer::of(&mut lab.consistency(&[DRIVE, "--set", "durations=60"]));
    answer.must_exit_with(2);
    let left = lab.library().read_dir().map_or(0, Iterator::count);
    assert_eq!(left, 0, "{}", answer.talk());
}

/// A refused run removes the file that it created, with or without `keep`.
#[test]
fn a_refused_run_leaves_no_file_behind() {
    let lab = Lab::new();
    let path = lab.path("disk");
    let target = format!("file:{}?size=64MiB&keep=true", path.display());
    let run =
        |args: &[&str]| Answer::of(lab.consistency(&[&target, "--set", "duration=1s"]).args(args));
    std::fs::write(lab.library(), "no directory").expect("a file in the place of the library");
    let refused = run(&[]);
    assert_ne!(refused.code, Some(0), "{refused:#?}");
    assert!(!path.exists(), "{refused:#?}");
    std::fs::remove_file(lab.library()).expect("gone");
    run(&["--set", "fill=false"]).must_exit_with(0);
    assert!(path.exists(), "kept after a run");
}
