//! Marks on every surface of the program: `show`, `--expect`, exports, sweeps and fits.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::lab::{Answer, Lab, read_run};

const DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/256";
const KINDS: [&str; 9] = [
    "not-steady",
    "part-of-drive",
    "scale",
    "interrupted",
    "few-samples",
    "two-regimes",
    "host-limited",
    "at-least",
    "late-end",
];

fn run(lab: &Lab, args: &[&str]) -> Answer {
    let mut command = lab.command(&["run", "consistency"]);
    Answer::of(command.args(args).arg("--library").arg(lab.library()))
}

fn ask(lab: &Lab, args: &[&str]) -> Answer {
    Answer::of(lab.command(args).arg("--library").arg(lab.library()))
}

fn mark<'a>(run: &'a Value, metric: &str, kind: &str) -> Option<&'a str> {
    let marks = run["marks"].as_array().map_or(&[][..], Vec::as_slice);
    let is_it = |mark: &&Value| mark["metric"] == metric && mark["kind"] == kind;
    marks.iter().find(is_it).and_then(|mark| mark["text"].as_str())
}

/// A run whose mean has a mark of this kind, in the library.
fn marked(lab: &Lab, plain: &Path, kind: &str) -> PathBuf {
    let dir = lab.library().join(format!("marked-{kind}"));
    std::fs::create_dir_all(&dir).expect("room for a directory");
    for file in ["series.parquet", "latency.parquet"] {
        std::fs::copy(plain.join(file), dir.join(file)).expect("room for a file");
    }
    let mut run = read_run(plain);
    run["run_id"] = format!("marked-{kind}").into();
    let text = format!("because of {kind}");
    let marks = ["iops_steady_mean", "waf_steady", "latency_steady_ns_p50"];
    let marks = marks.map(|metric| json!({ "metric": metric, "kind": kind, "text": text }));
    run["marks"] = json!(marks);
    run.as_object_mut().expect("an object").remove("checksums");
    std::fs::write(dir.join("run.json"), run.to_string()).expect("room for a file");
    dir
}

#[test]
fn every_surface_tells_every_kind() {
    let lab = Lab::new();
    let [plain] = &lab.run(&[DRIVE, "--set", "duration=12s", "--set", "steady_from=2s"])[..] else {
        panic!("one run")
    };
    for kind in KINDS {
        let dir = marked(&lab, plain, kind);
        let (name, text) = (format!("marked-{kind}"), format!("because of {kind}"));
        let shown = ask(&lab, &["show", &name]);
        shown.must_exit_with(0);
        assert_eq!(shown.stdout.matches(&text).count(), 1, "once: {}", shown.stdout);
        let line = shown.stdout.lines().find(|line| line.contains("Steady state, mean"));
        assert!(line.is_some_and(|line| line.contains("[1]")), "{}", shown.stdout);
        let document = ask(&lab, &["show", &name, "--format", "json"]).document();
        assert_eq!(mark(&document[0], "waf_steady", kind), Some(text.as_str()));
        for (form, words) in [("markdown", text.as_str()), ("fio-json", text.as_str())] {
            let export = ask(&lab, &["library", "export", &name, "--as", form]);
            export.must_exit_with(0);
            assert!(export.stdout.contains(words), "{kind} {form}: {}", export.stdout);
        }
        let rows = ask(&lab, &["library", "export", &name, "--as", "csv"]);
        assert!(!rows.stdout.contains("iops_steady_mean"), "rows and no figures");
        let both = ask(&lab, &["show", &plain.display().to_string(), &name]).stdout;
        let is_ranked = both.contains("Steady state, mean (longer is better)");
        let is_condition = ["two-regimes", "at-least", "late-end"].contains(&kind);
        assert_eq!(is_ranked, is_condition, "{kind}: {both}");
        // A fit takes as long as all else here together.
        if ["not-steady", "late-end"].contains(&kind) {
            let figures = fit(&lab, &dir);
            assert_eq!(figures.contains("iops_steady_mean"), kind == "late-end", "{figures}");
        }
    }
}

/// The figures that a fit of one run follows.
fn fit(lab: &Lab, dir: &Path) -> String {
    let mut command =
        lab.command(&["sim", "fit", "--base", "samsung-840-pro-256gb", "--scale", "1/1024"]);
    command.args(["--format", "json", "--quiet"]).arg(dir).arg("--library").arg(lab.library());
    let answer = Answer::of(&mut command);
    let residuals = answer.document()["residuals"].clone();
    let figures = residuals.as_array().map_or(&[][..], Vec::as_slice);
    figures.iter().filter_map(|it| it["figure"].as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_load_without_cleaning_has_no_steady_figure_and_meets_no_expectation() {
    let lab = Lab::new();
    let part = [DRIVE, "--span", "64MiB", "--set", "duration=3s", "--set", "steady_from=1s"];
    let expect = ["--expect", "iops_steady_mean >= 1", "--set", "rate=1000"];
    let failed = run(&lab, &[&part[..], &expect].concat());
    failed.must_exit_with(1);
    assert!(failed.stdout.contains("NOT met, no such figure"), "{}", failed.stdout);
    let why = "not judged: garbage collection was not seen: 0 pages moved";
    assert!(failed.stdout.contains(why), "{}", failed.stdout);
    assert!(failed.stdout.contains("was not in steady state"), "{}", failed.stdout);
    let json = run(&lab, &[&part[..], &expect, &["--format", "json"]].concat());
    json.must_exit_with(1);
    let document = json.document();
    let record = &document["runs"][0];
    assert!(record["metrics"]["iops_steady_mean"].is_null(), "{record:#}");
    assert!(record["metrics"]["iops_fresh_mean"].is_number(), "{record:#}");
    assert!(mark(record, "iops_fresh_mean", "part-of-drive").is_some(), "{record:#}");
    let fresh = ["--set", "rate=1000", "--expect", "iops_fresh_mean >= 1"];
    run(&lab, &[&part[..], &fresh].concat()).must_exit_with(0);
}

#[test]
fn a_figure_that_depends_on_the_size_meets_no_expectation() {
    let lab = Lab::new();
    let time = ["--set", "duration=12s", "--set", "steady_from=2s"];
    let steady = [&[DRIVE][..], &time, &["--expect", "iops_steady_mean >= 1"]].concat();
    run(&lab, &steady).must_exit_with(0);
    let evenness = [&[DRIVE][..], &time, &["--expect", "iops_steady_cv <= 100"]].concat();
    let failed = run(&lab, &evenness);
    failed.must_exit_with(1);
    assert!(failed.stdout.contains("not judged: at scale 1/256"), "{}", failed.stdout);
}

#[test]
fn a_sweep_leaves_unknown_figures_empty_and_names_the_marked_ones() {
    let lab = Lab::new();
    let spec = "metrics = ['iops_steady_mean', 'iops_steady_cv']\n[fixed]\n\
        drive = 'samsung-840-pro-256gb'\nscale = '1/512'\n'set.duration' = '3s'\n'set.steady_from' = '1s'\n\
        [vary]\n'set.rate' = ['100', 'max']\n";
    std::fs::write(lab.path("s.toml"), spec).expect("room for a file");
    let answer =
        Answer::of(&mut lab.command(&["sim", "sweep", "s.toml", "-o", "swept", "--quiet"]));
    answer.must_exit_with(0);
    let text = std::fs::read_to_string(lab.path("swept/outcomes.jsonl")).expect("outcomes");
    let mut outcomes: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    outcomes.sort_by_key(|outcome| outcome["number"].as_u64());
    let [slow, fast] = &outcomes[..] else { panic!("{text}") };
    assert!(slow["metrics"].get("iops_steady_mean").is_none(), "{slow:#}");
    assert!(has(slow, "not-steady"), "{slow:#}");
    assert!(fast["metrics"]["iops_steady_mean"].is_string(), "{fast:#}");
    assert!(has(fast, "scale") && !has(fast, "not-steady"), "{fast:#}");
}

fn has(outcome: &Value, kind: &str) -> bool {
    outcome["marks"].as_array().is_some_and(|marks| marks.iter().any(|mark| mark["kind"] == kind))
}

#[test]
fn a_quick_review_says_so_and_has_fresh_figures() {
    let lab = Lab::new();
    let target = "sim:samsung-840-pro-256gb?scale=1/8";
    let args = ["review", target, "--quick", "--only", "consistency", "--quiet", "-o", "page.html"];
    let shorter = ["--set", "consistency.duration=12s", "--set", "consistency.steady_from=6s"];
    let answer = ask(&lab, &[&args[..], &shorter].concat());
    answer.must_exit_with(0);
    assert!(answer.stdout.starts_with("A quick review:"), "{}", answer.stdout);
    let runs = std::fs::read_dir(lab.library()).expect("a library");
    let dirs: Vec<PathBuf> = runs.map(|entry| entry.expect("an entry").path()).collect();
    let run = dirs.iter().find(|dir| dir.join("run.json").is_file()).expect("a run");
    let run = read_run(run);
    assert_eq!(run["request"]["quick"], true);
    let first = run["warnings"][0].as_str().unwrap_or_default();
    assert!(first.starts_with("the quick form of `consistency`"), "{first}");
    assert!(run["metrics"]["iops_steady_mean"].is_null(), "{:#}", run["metrics"]);
    assert!(run["metrics"]["iops_fresh_mean"].is_number(), "{:#}", run["metrics"]);
    assert!(mark(&run, "iops_steady_mean", "not-steady").is_some(), "{:#}", run["marks"]);
    assert!(mark(&run, "iops_fresh_mean", "part-of-drive").is_some(), "{:#}", run["marks"]);
}
