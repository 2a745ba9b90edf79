//! Wrong input: exit code 2, and a message that names the value and a way out.

use crate::lab::{Answer, Lab};

/// One mistake: what was typed, what the message must repeat, and words of which one shows a way
/// out.
struct Mistake {
    args: &'static [&'static str],
    names: &'static str,
    fix: &'static [&'static str],
}

const DRIVE: &str = "sim:sandisk-extreme-ii-480gb?scale=1/64";

const MISTAKES: [Mistake; 40] = [
    Mistake {
        args: &["run", "power", DRIVE, "--meter", "ina219"],
        names: "ina219",
        fix: &["hwmon:NAME"],
    },
    Mistake {
        args: &["run", "power", DRIVE, "--meter", "hwmon:ina219"],
        names: "hwmon:ina219",
        fix: &["leave --meter away"],
    },
    Mistake {
        args: &["run", "consistency", "sim:no-such-drive"],
        names: "no-such-drive",
        fix: &["ssdlab list", "did you mean", "known", "one of"],
    },
    Mistake {
        args: &["run", "consistency", DRIVE, "--spare", "120%"],
        names: "120%",
        fix: &["0 to 1", "such as"],
    },
    Mistake {
        args: &["run", "consistency", DRIVE, "--span", "99TB"],
        names: "99TB",
        fix: &["at most", "ask for less"],
    },
    Mistake {
        args: &["drives", "check", "missing.toml"],
        names: "missing.toml",
        fix: &["No such file", "does not exist", "not found"],
    },
    Mistake {
        args: &["drives", "check", "broken.toml"],
        names: "broken.toml",
        fix: &["line 1", "expected"],
    },
    Mistake {
        args: &["run", "consistency", "sim:sandisk-extreme-ii-480gb?capacity_gb=0"],
        names: "capacity_gb",
        fix: &["at least", "between", "must", "more than"],
    },
    Mistake {
        args: &["run", "consistency", "sim:sandisk-extreme-ii-480gb?gc.policy=magic"],
        names: "magic",
        fix: &["greedy", "cost-benefit"],
    },
    Mistake {
        args: &["run", "consistency", DRIVE, "--set", "durations=60"],
        names: "durations",
        fix: &["duration"],
    },
    Mistake {
        args: &["run", "consistency", DRIVE, "--set", "duration=soon"],
        names: "soon",
        fix: &["60s", "30m", "seconds", "duration=", "such as"],
    },
    Mistake { args: &["run", "consistancy", DRIVE], names: "consistancy", fix: &["consistency"] },
    Mistake {
        args: &["run", "consistency", DRIVE, "--seeed", "1"],
        names: "--seeed",
        fix: &["--seed", "--help"],
    },
    Mistake {
        args: &["run", "consistency", "no-such-scheme"],
        names: "no-such-scheme",
        fix: &["sim:", "file:", "/dev/"],
    },
    Mistake {
        args: &["report", "no-such-run", "--output", "report.html"],
        names: "no-such-run",
        fix: &["--library"],
    },
    Mistake {
        args: &["run", "corners", DRIVE, "--set", "deep_queue_depth=64"],
        names: "queue depth 64",
        fix: &["--set deep_queue_depth=32"],
    },
    Mistake {
        args: &["advise", "spare", DRIVE, "--floor", "20000", "--queue-depth", "64"],
        names: "--queue-depth 64",
        fix: &["--queue-depth 32"],
    },
    Mistake {
        args: &["advise", "spare", DRIVE, "--floor", "1", "--measure", "400d"],
        names: "1 IOPS",
        fix: &["--measure 20m"],
    },
    Mistake {
        args: &["advise", "spare", DRIVE, "--floor", "20000", "--measure", "1s"],
        names: "--measure 1s",
        fix: &["10s at least"],
    },
    Mistake {
        args: &["run", "consistency", "sim:sandisk-extreme-ii-480gb?seed=-1"],
        names: "seed=-1",
        fix: &["such as 7"],
    },
    Mistake {
        args: &["advise", "spare", DRIVE, "--floor", "NaN"],
        names: "'NaN' for '--floor",
        fix: &["such as 20000"],
    },
    Mistake {
        args: &["run", "consistency", DRIVE, "--seed", "-1"],
        names: "'-1' for '--seed",
        fix: &["a whole number from 0"],
    },
    Mistake {
        args: &["run", "consistency", DRIVE, "--workers", "many"],
        names: "'many' for '--workers",
        fix: &["a whole number from 1 to 256"],
    },
    Mistake {
        args: &["run", "consistency", DRIVE, "--spare", "100%"],
        names: "--spare 100%",
        fix: &["such as 25%"],
    },
    Mistake {
        args: &["run", "consistency", "file:x?size=8EiB"],
        names: "size=8EiB",
        fix: &["such as ?size=8GiB"],
    },
    Mistake {
        args: &["run", "consistency", DRIVE, "--set", "queue_depth=-3"],
        names: "queue_depth=-3",
        fix: &["a whole number such as"],
    },
    Mistake {
        args: &["run", "consistency", DRIVE, "--set", "steady_from=1h", "--set", "duration=60s"],
        names: "steady_from=3600s",
        fix: &["a longer --set duration="],
    },
    Mistake {
        args: &["run", "mixed", DRIVE, "--set", "read_percents=101"],
        names: "--set read_percents=101",
        fix: &["at most 100"],
    },
    Mistake {
        args: &["run", "trim", DRIVE, "--set", "idle=1000d"],
        names: "--set idle=1000d",
        fix: &["at most 30d"],
    },
    Mistake {
        args: &["run", "pts-iops", DRIVE, "--set", "precondition=4000000000"],
        names: "--set precondition=4000000000",
        fix: &["between 0 and 100"],
    },
    Mistake {
        args: &["run", "consistency", "sim:/dev/zero"],
        names: "/dev/zero",
        fix: &["longer than 16MiB"],
    },
    Mistake {
        args: &["drives", "check", "/dev/zero"],
        names: "/dev/zero",
        fix: &["longer than 16MiB"],
    },
    Mistake {
        args: &["review", DRIVE, "--web", "/dev/zero"],
        names: "/dev/zero",
        fix: &["a regular file of at most 64MiB"],
    },
    Mistake {
        args: &["review", DRIVE, "--only", "latency", "--set", "corners.time=1s"],
        names: "--set corners.time=1s",
        fix: &["add corners to --only"],
    },
    Mistake {
        args: &["trace", "info", "synth:light-2011?scale=1/1000", "--from", "msr"],
        names: "--from",
        fix: &["leave --from away"],
    },
    Mistake {
        args: &["trace", "info", "work.csv", "--event", "issue"],
        names: "--event",
        fix: &["blktrace and blkparse"],
    },
    Mistake {
        args: &["trace", "info", "work.csv", "--wait-unit", "doc"],
        names: "--wait-unit",
        fix: &["iolog"],
    },
    Mistake {
        args: &["trace", "import", "work.csv", "--stream", "99", "-o", "work.parquet"],
        names: "stream 99",
        fix: &["leave --stream away"],
    },
    Mistake {
        args: &["review", "null:", "--quick"],
        names: "`null:` is no drive to review",
        fix: &["ssdlab selftest"],
    },
    Mistake {
        args: &["review", "file:disk?size=64MiB", "--quick", "--only", "power"],
        names: "every test of it was left out: file:disk?size=64MiB: power:",
        fix: &["give --meter"],
    },
];

/// A trace of MSR Cambridge with one stream, 0.
const WORK: &str =
    "128166372000000000,host,0,Write,0,4096,100\n128166372000010000,host,0,Read,4096,4096,100\n";

#[test]
fn mistakes_are_named_with_a_way_out() {
    let lab = Lab::new();
    std::fs::write(lab.path("broken.toml"), "this is = = not TOML").expect("a broken model");
    std::fs::write(lab.path("work.csv"), WORK).expect("a trace");
    let wrong: Vec<_> = MISTAKES.iter().filter_map(|mistake| judge(&lab, mistake)).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), MISTAKES.len(), wrong.join("\n"));
    let names = lab.path("").read_dir().expect("a directory").map(|entry| entry.expect("one"));
    let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, ["broken.toml", "work.csv"], "a mistake left something behind");
    assert_eq!(std::fs::read_to_string(lab.path("work.csv")).expect("the trace"), WORK);
}

/// None where the message is as it should be.
fn judge(lab: &Lab, mistake: &Mistake) -> Option<String> {
    let answer = Answer::of(&mut lab.command(mistake.args));
    let said = answer.stderr.trim();
    let what = if answer.code != Some(2) {
        format!("exit code {:?} instead of 2", answer.code)
    } else if !said.contains(mistake.names) {
        format!("does not name {:?}", mistake.names)
    } else if !mistake.fix.iter().any(|fix| said.contains(fix)) {
        format!("shows no way out (none of {:?})", mistake.fix)
    } else if said.contains("panicked") {
        "panics".to_owned()
    } else {
        return None;
    };
    Some(format!("- ssdlab {}: {what}\n    said: {said}", mistake.args.join(" ")))
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

/// A file that a refused run created itself is gone, kept or not.
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
