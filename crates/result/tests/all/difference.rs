//! Would a person notice which of two runs it is?

use crate::common::{phase, run_named};
use result::rows::PhaseRows;
use result::schema::{Phase, Run, RunStatus};
use result::stats::difference::{Difference, differences};

/// A complete run of this length with this number of waits of 0.2 s, and a share of slow seconds.
fn run(name: &str, minutes: u64, waits: f64, slow_share: f64) -> Run {
    let mut run = run_named(name);
    name.clone_into(&mut run.target.name);
    run.status = RunStatus::Complete;
    let load = phase("load", &PhaseRows::default());
    run.phases.push(Phase { duration_ns: minutes * 60_000_000_000, ..load });
    let metrics = [
        ("notice_waits", waits),
        ("notice_waited_s", waits * 0.2),
        ("notice_slow_seconds_share", slow_share),
    ];
    run.metrics = metrics.map(|(name, value)| (name.to_owned(), Some(value))).into();
    run
}

fn difference(a: &Run, b: &Run) -> Option<Difference> {
    differences(&[a, b]).pop()
}

fn with_spare(mut run: Run, percent: &str) -> Run {
    run.run_id = format!("{} {percent}", run.run_id);
    percent.clone_into(&mut run.span.variant);
    "raw".clone_into(&mut run.span.base);
    run
}

fn with_config(mut run: Run, name: &str, value: &str) -> Run {
    run.config.insert(name.to_owned(), value.into());
    run
}

fn text(a: &Run, b: &Run) -> String {
    difference(a, b).expect("two runs that can be compared").text
}

#[test]
fn two_firmware_versions_of_a_drive_are_told_apart() {
    let flashed = |firmware: &str| {
        let mut run = run("A", 30, 0.0, 0.0);
        run.target.firmware = Some(firmware.to_owned());
        run
    };
    let told = text(&flashed("FX01"), &flashed("FX02"));
    let names = "neither A (simulated, firmware FX01) nor A (simulated, firmware FX02) had";
    assert!(told.contains(names), "{told}");
}

#[test]
fn two_versions_of_the_suite_are_not_compared() {
    let (a, b) = (run("A", 30, 0.0, 0.0), run("B", 30, 9.0, 0.0));
    assert!(difference(&a, &b).is_some());
    assert_eq!(difference(&a, &Run { suite_version: 2, ..b }), None);
}

#[test]
fn two_even_drives_are_the_same_to_a_person() {
    assert_eq!(
        text(&run("A", 30, 0.0, 0.0), &run("B", 30, 0.0, 0.0)),
        "Would I notice? No: neither A (simulated) nor B (simulated) had a wait of 0.1 s or a second below \
         50 MB/s."
    );
}

#[test]
fn waits_of_one_of_them_are_noticed() {
    assert_eq!(
        text(&run("A", 30, 100.0, 0.25), &run("B", 30, 0.0, 0.0)),
        "Would I notice? Yes: A (simulated) had 100 waits of 0.1 s or longer and 25% of the seconds below \
         50 MB/s, B (simulated) no wait of 0.1 s or longer and no second below 50 MB/s."
    );
}

#[test]
fn runs_of_different_length_compare_by_the_minute() {
    let noticed = |a: &Run, b: &Run| difference(a, b).expect("comparable").is_noticed;
    let hour = run("A", 60, 60.0, 0.5);
    assert!(!noticed(&hour, &run("B", 30, 30.0, 0.5)), "one a minute each");
    assert!(noticed(&hour, &run("B", 30, 60.0, 0.5)), "twice as many");
    assert!(!noticed(&hour, &run("B", 60, 60.0, 0.55)) && noticed(&hour, &run("B", 60, 60.0, 0.7)));
    assert!(
        text(&hour, &run("B", 30, 30.0, 0.5))
            .starts_with("Would I notice? No, not between these two: ")
    );
}

#[test]
fn names_tell_the_runs_apart() {
    let mut spared = run("A", 30, 0.0, 0.0);
    "25%".clone_into(&mut spared.span.variant);
    "raw".clone_into(&mut spared.span.base);
    let default = run("A", 30, 0.0, 0.0);
    let both = text(&default, &spared);
    assert!(
        both.contains("A (simulated) as it comes nor A (simulated) with 25% spare area"),
        "{both}"
    );
    let other = text(&run("B", 30, 0.0, 0.0), &spared);
    assert!(
        other.contains("B (simulated) as it comes nor A (simulated) with 25% spare area"),
        "{other}"
    );
    let mut again = default.clone();
    "again".clone_into(&mut again.run_id);
    assert!(text(&default, &again).contains("A (simulated) (again)"));
}

#[test]
fn only_whole_runs_of_one_test_are_compared() {
    let whole = run("A", 30, 0.0, 0.0);
    let stopped = Run { status: RunStatus::Interrupted, ..run("B", 30, 0.0, 0.0) };
    let other = Run { test: "trim".to_owned(), ..run("C", 30, 0.0, 0.0) };
    let mut uncounted = run("D", 30, 0.0, 0.0);
    uncounted.metrics.clear();
    let last = run("E", 30, 0.0, 0.0);
    let pairs = differences(&[&whole, &stopped, &other, &uncounted, &last]);
    let ids: Vec<_> = pairs.iter().map(|pair| pair.run_ids.clone()).collect();
    assert_eq!(ids, [["A".to_owned(), "E".to_owned()]]);
}

#[test]
fn a_page_with_several_spare_areas_names_them_in_every_sentence() {
    let runs = [
        run("A", 30, 0.0, 1.0),
        run("B", 30, 0.0, 0.4),
        with_spare(run("A", 30, 0.0, 0.0), "25%"),
        with_spare(run("B", 30, 0.0, 0.0), "25%"),
    ];
    let found = differences(&runs.iter().collect::<Vec<_>>());
    assert_eq!(found.len(), 6);
    for Difference { text, .. } in &found {
        let named =
            text.matches("as it comes").count() + text.matches("with 25% spare area").count();
        assert_eq!(named, 2, "{text}");
    }
    let last = &found[5].text;
    let want =
        "neither A (simulated) with 25% spare area nor B (simulated) with 25% spare area had";
    assert!(last.contains(want), "{last}");
}

#[test]
fn a_drive_that_was_run_twice_is_told_by_its_run_in_every_sentence() {
    let again = Run { run_id: "again".to_owned(), ..run("A", 30, 0.0, 0.0) };
    let (first, other) = (run("A", 30, 0.0, 0.9), run("B", 30, 0.0, 0.0));
    let found = differences(&[&first, &other, &again]);
    assert!(found[0].text.contains("A (simulated) (A) had"), "{}", found[0].text);
    assert!(found[2].text.contains("nor A (simulated) (again) had"), "{}", found[2].text);
}

#[test]
fn unlike_loads_are_not_compared() {
    let usual = run("A", 30, 0.0, 0.0);
    for (name, value) in
        [("rate", "1000"), ("queue_depth", "1"), ("block_bytes", "65536"), ("data", "repeating")]
    {
        let other = with_config(run("B", 30, 0.0, 0.9), name, value);
        assert_eq!(difference(&usual, &other), None, "{name}");
    }
    let old = with_config(run("B", 30, 0.0, 0.9), "rate", "max");
    assert!(difference(&usual, &old).is_some(), "an old file does not tell the usual load");
}

#[test]
fn at_a_rate_of_the_test_only_waits_are_compared() {
    let paced = |name, waits| with_config(run(name, 30, waits, 1.0), "rate", "1000");
    assert_eq!(
        text(&paced("A", 0.0), &paced("B", 0.0)),
        "Would I notice? No: neither A (simulated) nor B (simulated) had a wait of 0.1 s."
    );
    let one = text(&paced("A", 9.0), &paced("B", 0.0));
    assert!(one.contains("Yes: A (simulated) had 9 waits") && !one.contains("50 MB/s"), "{one}");
}
