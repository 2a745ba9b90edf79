//! Defaults of the user from a file and from variables, and the command line for shells and readers.

use std::process::Command;

use crate::lab::{Answer, Lab, read_run};

const DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/256";

/// A configuration file with this text, as the variable that names it.
fn config(lab: &Lab, text: &str) -> (&'static str, std::path::PathBuf) {
    let path = lab.path("config.toml");
    std::fs::write(&path, text).expect("a configuration file");
    ("SSDLAB_CONFIG", path)
}

#[test]
fn a_run_takes_its_defaults_says_so_and_records_them() {
    let lab = Lab::new();
    let library = lab.library();
    let text = format!("library = '{}'\nhost = 'none'\nformat = 'json'\n", library.display());
    let (name, path) = config(&lab, &text);
    let run = ["run", "latency", DRIVE, "--set", "time=1s"];
    let answer = Answer::of(lab.command(&run).env(name, &path).env("SSDLAB_HOST", "nvme-2024"));
    answer.must_exit_with(0);
    let dirs = lab.run_dirs(&answer.document());
    assert!(dirs[0].starts_with(&library), "{dirs:?}");
    let run = read_run(&dirs[0]);
    let target = format!("{DRIVE}&host=nvme-2024");
    assert_eq!(run["request"]["target"], target, "the variable comes before the file");
    assert!(run["command"].as_str().expect("text").contains(&target));
    let from_file = format!("default: library {}, from {}", library.display(), path.display());
    for sentence in ["default: host nvme-2024, from SSDLAB_HOST", from_file.as_str()] {
        assert!(answer.stderr.contains(sentence), "{answer:#?}");
    }
    let listed = Answer::of(lab.command(&["list", "config"]).env(name, &path));
    let defaults = listed.document()["config"]["defaults"].clone();
    let find = |key: &str| defaults.as_array().into_iter().flatten().find(|one| one["key"] == key);
    let library = find("library").expect("a library");
    assert_eq!((&library["source"], &library["from"]), (&"file".into(), &path.to_str().into()));
    assert_eq!(find("engine").expect("an engine")["source"], "built-in");
}

#[test]
fn a_default_that_cannot_be_used_ends_every_command_but_help() {
    let lab = Lab::new();
    let (name, path) = config(&lab, "engine = 'turbo'\n");
    let answer = Answer::of(lab.command(&["list", "tests"]).env(name, &path));
    answer.must_exit_with(2);
    let place = path.display().to_string();
    for word in [place.as_str(), "engine = \"turbo\""] {
        assert!(answer.stderr.contains(word), "{answer:#?}");
    }
    Answer::of(lab.command(&["run", "--help"]).env(name, &path)).must_exit_with(0);
    for (name, value) in [("SSDLAB_ERASE", "S123"), ("SSDLAB_FORMAT", "yaml")] {
        let answer = Answer::of(lab.command(&["library", "list"]).env(name, value));
        answer.must_exit_with(2);
        assert!(answer.stderr.contains(name), "{answer:#?}");
    }
    let (name, path) = config(&lab, "erase = 'S123'\n");
    let answer = Answer::of(lab.command(&["plan", "latency", DRIVE]).env(name, &path));
    answer.must_exit_with(2);
    assert!(answer.stderr.contains("typed in each call"), "{answer:#?}");
}

/// The script that completes the last of these words.
type Completion = fn(&[&str]) -> String;

const SHELLS: [(&str, Completion); 3] = [
    ("bash", |words| {
        let (last, words) = (words.len(), words.join(" "));
        format!(
            "COMP_WORDS=(ssdlab {words}); COMP_CWORD={last}; COMP_TYPE=9
            _clap_complete_ssdlab; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
    }),
    ("zsh", |words| {
        let (current, words) = (words.len() + 1, words.join(" "));
        format!(
            "_describe() {{ print -l -- \"${{(@P)3}}\" }}
            words=(ssdlab {words}); CURRENT={current}; _clap_dynamic_completer_ssdlab"
        )
    }),
    ("fish", |words| format!("complete --do-complete 'ssdlab {}'", words.join(" "))),
];

#[test]
fn shells_complete_words_and_names_that_exist() {
    let lab = Lab::new();
    let drive = "sim:sandisk-extreme-ii-480gb?scale=1/512";
    let run =
        ["run", "consistency", drive, "--set=duration=5s", "--label=before", "--library=runs"];
    Answer::of(&mut lab.command(&run)).must_exit_with(0);
    let entry = lab.path("runs").read_dir().expect("a library").next().expect("a run");
    let name = entry.expect("a run").file_name().into_string().expect("a name");
    let ssdlab = lab.command(&["list"]).get_program().to_owned();
    let folder = std::path::Path::new(&ssdlab).parent().expect("a folder").to_owned();
    let mut programs = folder.into_os_string();
    programs.push(":");
    programs.push(std::env::var_os("PATH").expect("PATH"));
    // A machine without a disk has none to complete.
    let list = Answer::of(&mut lab.command(&["list", "--format=json"])).stdout;
    let device = list
        .split('"')
        .find(|word| word.starts_with("/dev/") && !word.contains("loop"))
        .map(str::to_owned);
    for (shell, call) in SHELLS {
        let script = Answer::of(&mut lab.command(&["completions", shell]));
        script.must_exit_with(0);
        // The system of completion of zsh begins with the first prompt.
        let begin = if shell == "zsh" { "autoload -Uz compinit && compinit -u -D\n" } else { "" };
        let completes = |words: &[&str], wanted: &str| {
            let path = lab.path("completion");
            let text = format!("{begin}{}\n{}\n", script.stdout, call(words));
            std::fs::write(&path, text).expect("a script");
            let mut command = Command::new(shell);
            command.arg(&path).current_dir(lab.path(".")).env("PATH", &programs);
            let answer = Answer::of(&mut command);
            answer.must_exit_with(0);
            let is_offered = answer.stdout.lines().any(|line| line.contains(wanted));
            assert!(is_offered, "{shell}: {words:?}: {answer:#?}");
        };
        completes(&["run", "load-l"], "load-latency");
        completes(&["run", "trim", "sim:samsung-840-p"], "samsung-840-pro-256gb");
        completes(&["run", "trim", "sim:x", "--set", "tort"], "torture=");
        if let Some(device) = &device {
            completes(&["run", "trim", &device[..device.len() - 1]], device);
        }
        completes(&["run", "workload", "null:", "--workload", "olt"], "oltp");
        completes(&["show", "--library", "runs", &name[..12]], &name);
        completes(&["compare", "--library", "runs", "label:b"], "before");
    }
}

#[test]
fn readers_take_the_manual() {
    let lab = Lab::new();
    Answer::of(&mut lab.command(&["man", "pages"])).must_exit_with(0);
    for (page, word) in [("ssdlab.1", "Exit codes"), ("ssdlab-run.1", "ssdlab run consistency")] {
        let text = std::fs::read_to_string(lab.path("pages").join(page)).expect("a page");
        let text = text.replace("\\-", "-");
        assert!(text.contains(word), "{page}: {text}");
    }
    let version = Answer::of(&mut lab.command(&["--version"]));
    assert!(version.stdout.starts_with("ssdlab 0."), "{version:#?}");
}

#[test]
fn a_test_is_listed_with_keys_metrics_and_targets() {
    let lab = Lab::new();
    let answer = Answer::of(&mut lab.command(&["list", "waf", "--format", "json"]));
    answer.must_exit_with(0);
    let test = &answer.document()["tests"][0];
    assert_eq!(test["test"], "waf");
    let metrics = test["metrics"].as_array().expect("metrics");
    assert!(metrics.iter().any(|name| name == "<test>.<step>.waf"), "{test:#}");
    let quick = ["plan", "matrix", DRIVE, "--quick", "--format", "json"];
    let quick = Answer::of(&mut lab.command(&quick)).document();
    let whole =
        Answer::of(&mut lab.command(&["plan", "matrix", DRIVE, "--format", "json"])).document();
    let phases =
        |plan: &serde_json::Value| plan["plans"][0]["phases"].as_array().map_or(0, Vec::len);
    assert!(phases(&quick) > 0 && phases(&quick) * 3 < phases(&whole), "{quick:#}");
    Answer::of(&mut lab.command(&["plan", "pts-iops", DRIVE, "--quick"])).must_exit_with(2);
}
