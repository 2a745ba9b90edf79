//! Simulated runs: does the answer have its documented form, and is it the same every time?

use std::io::Write;
use std::path::PathBuf;

use crate::lab::{Answer, Lab, page_data, phase, read_run};

const DRIVE: &str = "sim:sandisk-extreme-ii-480gb?scale=1/64";
const SHORT: [&str; 2] = ["--set", "duration=40s"];

fn series_with_seed(lab: &Lab, seed: &str) -> Vec<u8> {
    let dirs = lab.run(&[DRIVE, SHORT[0], SHORT[1], "--seed", seed]);
    std::fs::read(dirs[0].join("series.parquet")).expect("series.parquet")
}

#[test]
fn json_is_one_document_that_names_the_run() {
    let lab = Lab::new();
    let dirs = lab.run(&[DRIVE, SHORT[0], SHORT[1]]);
    assert_eq!(dirs.len(), 1, "{dirs:?}");
    let run = read_run(&dirs[0]);
    assert_eq!(run["status"], "complete");
    assert_eq!(run["test"], "consistency");
    assert_eq!(run["target"]["kind"], "simulated");
    let load = phase(&run, "load");
    assert_eq!(load["duration_ns"], 40_000_000_000_u64);
    assert_eq!(load["errors"], 0);
    assert!(load["ios"].as_u64().is_some_and(|ios| ios > 0), "{load:#}");
}

#[test]
fn a_run_records_the_facts_of_its_drive_and_a_real_one_those_of_the_library() {
    let lab = Lab::new();
    let (null, facts) = ("null:?size=1GiB", lab.library().join("facts"));
    std::fs::create_dir_all(&facts).expect("a folder of facts");
    let text = format!(
        "match.model = '{null}'\nfacts.released = {{ value = '2026', from = 'assumed: test' }}"
    );
    std::fs::write(facts.join("null.toml"), text).expect("a facts file");
    let time = ["--set", "duration=1s", "--set", "steady_from=0s"];
    let run = |target| read_run(&lab.run(&[&[target], &time[..]].concat())[0]);
    let released = &run(null)["target"]["facts"]["released"];
    assert_eq!((&released["value"], &released["from"]), (&"2026".into(), &"assumed: test".into()));
    assert_eq!(run(DRIVE)["target"]["facts"]["nand_type"]["value"], "MLC");
}

#[test]
fn text_ends_with_the_run_directory() {
    let lab = Lab::new();
    let mut command = lab.command(&["run", "consistency", DRIVE, SHORT[0], SHORT[1]]);
    let answer = Answer::of(command.arg("--library").arg(lab.library()));
    answer.must_exit_with(0);
    let last = answer.stdout.lines().last().unwrap_or_default();
    assert!(lab.path(last).join("run.json").is_file(), "{answer:#?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_does_not() {
    let lab = Lab::new();
    let (first, again) = (series_with_seed(&lab, "7"), series_with_seed(&lab, "7"));
    assert!(first == again, "two runs with seed 7 differ in series.parquet");
    assert!(first != series_with_seed(&lab, "8"), "seed 8 gives the series of seed 7");
}

#[test]
fn runs_side_by_side_are_the_runs_alone() {
    let lab = Lab::new();
    let other = "sim:samsung-840-pro-256gb?scale=1/64";
    let both = lab.run(&[DRIVE, other, SHORT[0], SHORT[1], "--seed", "7"]);
    assert_eq!(both.len(), 2, "{both:?}");
    let kept: Option<&PathBuf> = both.iter().find(|dir| {
        read_run(dir)["target"]["spec"].as_str().is_some_and(|spec| spec.contains("sandisk"))
    });
    let beside = std::fs::read(kept.expect("a run of the first drive").join("series.parquet"));
    assert!(beside.expect("series.parquet") == series_with_seed(&lab, "7"));
}

#[test]
fn spare_area_makes_one_run_for_each_share() {
    let lab = Lab::new();
    let dirs = lab.run(&[DRIVE, SHORT[0], SHORT[1], "--spare", "default,25%"]);
    let spans: Vec<_> = dirs.iter().map(|dir| read_run(dir)["span"].clone()).collect();
    let variants: Vec<_> = spans.iter().map(|span| span["variant"].clone()).collect();
    assert_eq!(variants, ["default", "25%"]);
    assert!(spans[1]["span_bytes"].as_u64() < spans[0]["span_bytes"].as_u64(), "{spans:#?}");
}

#[test]
fn a_report_is_one_file_that_holds_the_run() {
    let lab = Lab::new();
    let dirs = lab.run(&[DRIVE, SHORT[0], SHORT[1]]);
    let (report, run) = (lab.path("report.html"), dirs[0].to_string_lossy());
    let mut command = lab.command(&["report", &run, "--title", "a <title> & more", "--output"]);
    Answer::of(command.arg(&report)).must_exit_with(0);
    let page = std::fs::read_to_string(report).expect("the report");
    let run_id = dirs[0].file_name().expect("a name").to_string_lossy();
    assert!(page_data(&page).contains(&*run_id), "the report does not name {run_id}");
    assert!(!page.contains("<title> &"), "the title is in the page without escaping");
}

#[test]
fn drives_of_the_reference_library_stand_in_a_report_unless_it_is_alone() {
    const OTHER: &str = "sim:samsung-840-pro-256gb";
    let lab = Lab::new();
    let dirs = lab.run(&[DRIVE, SHORT[0], SHORT[1]]);
    let (report, run) = (lab.path("report.html"), dirs[0].to_string_lossy());
    let page = |more: &[&str]| {
        let mut command = lab.command(&["report", &run, "--output"]);
        Answer::of(command.arg(&report).args(more)).must_exit_with(0);
        page_data(&std::fs::read_to_string(&report).expect("the report"))
    };
    assert!(page(&[]).contains(OTHER));
    assert!(!page(&["--alone"]).contains(OTHER));
}

#[test]
fn a_report_opens_on_its_subject() {
    let lab = Lab::new();
    let dirs = lab.run(&[DRIVE, "sim:samsung-840-pro-256gb?scale=1/512", SHORT[0], SHORT[1]]);
    let names = dirs.iter().map(|dir| dir.to_string_lossy());
    let report = lab.path("report.html");
    let answer = |subject: &str| {
        let mut command = lab.command(&["report", "--subject", subject, "--format", "json"]);
        Answer::of(command.args(names.clone().map(String::from)).arg("--output").arg(&report))
    };
    for subject in ["840 pro", "sim:samsung-840-pro-256gb?scale=1/512"] {
        answer(subject).must_exit_with(0);
        let page = page_data(&std::fs::read_to_string(&report).expect("the report"));
        let page: serde_json::Value = serde_json::from_str(&page).expect("JSON");
        assert_eq!(page["subject"], page["runs"][1]["run_id"], "{subject}");
    }
    for (subject, words) in [("730", "is no drive of this page"), ("s", "means several drives")] {
        let refused = answer(subject);
        refused.must_exit_with(2);
        assert!(refused.stderr.contains(words), "{refused:#?}");
    }
    let review = ["review", DRIVE, "--subject", "sim:intel-ssd-730-480gb", "--format", "json"];
    let refused = Answer::of(&mut lab.command(&review));
    refused.must_exit_with(2);
    assert!(refused.stderr.contains("is no target of this review"), "{refused:#?}");
}

/// The largest model has 33 GB of maps; a machine with that much memory refuses nothing.
#[test]
fn a_drive_that_does_not_fit_into_the_memory_is_refused_before_it_is_built() {
    const HUGE: &str = "sim:samsung-840-pro-256gb?capacity_gb=20000&nand.blocks_per_plane=325000";
    let meminfo = std::fs::read_to_string("/proc/meminfo").expect("Linux");
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = available.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    if kib.is_none_or(|kib| kib > 30 << 20) {
        let _ = writeln!(std::io::stderr(), "skipped: this machine has the memory");
        return;
    }
    let lab = Lab::new();
    for args in [["run", "consistency", HUGE].as_slice(), &["review", HUGE]] {
        let answer = Answer::of(lab.command(args).args(["--format", "json"]));
        answer.must_exit_with(5);
        assert_eq!(answer.reason(), "unsupported");
        for word in ["take 40.", "are available", "scale=1/64"] {
            assert!(answer.stderr.contains(word), "{word}: {answer:#?}");
        }
    }
    let plan = Answer::of(&mut lab.command(&["plan", "consistency", HUGE, "--format", "json"]));
    plan.must_exit_with(5);
    let refused = plan.document()["plans"][0]["refused_now"].to_string();
    assert!(refused.contains("scale=1/64"), "{refused}");
}

/// The endurance that a test costs, by phase, in all, and for all runs of a target.
#[test]
fn a_plan_tells_full_drive_writes() {
    let lab = Lab::new();
    let args = ["plan", "consistency", "null:?size=1GiB", "--spare", "default,50%"];
    let text = Answer::of(&mut lab.command(&args));
    text.must_exit_with(0);
    assert!(text.stdout.contains("writes up to 1.1 GB = 1.0 full drive writes"), "{text:#?}");
    assert!(text.stdout.contains("in all about"), "{text:#?}");
    assert!(text.stdout.contains("2 runs on null:?size=1GiB: writes "), "{text:#?}");
    let document = Answer::of(lab.command(&args).args(["--format", "json"])).document();
    let writes = |value: &serde_json::Value| value["drive_writes_estimate"].as_f64();
    let plans = document["plans"].as_array().expect("plans");
    let of_plans: Vec<_> = plans.iter().filter_map(writes).collect();
    let phases = plans[0]["phases"].as_array().expect("phases");
    let fill = phases.iter().find(|phase| phase["phase"] == "fill").expect("a fill");
    assert_eq!(writes(fill), Some(1.0));
    assert_eq!(of_plans.len(), 2);
    let total = writes(&document["totals"][0]).expect("a total");
    assert!((total - of_plans.iter().sum::<f64>()).abs() < 1e-9, "{document:#}");
}
