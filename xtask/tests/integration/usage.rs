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

const MISTAKES: [Mistake; 15] = [
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
];

#[test]
fn mistakes_are_named_with_a_way_out() {
    let lab = Lab::new();
    std::fs::write(lab.path("broken.toml"), "this is = = not TOML").expect("a broken model");
    let wrong: Vec<_> = MISTAKES.iter().filter_map(|mistake| judge(&lab, mistake)).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), MISTAKES.len(), wrong.join("\n"));
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
