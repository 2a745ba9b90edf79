//! The figures of a simulated drive below full size: the kept, the marked, and the sentences about them.

use crate::common::{load_rows, phase, run_named};
use base::TelemetryRow;
use result::metrics::{Scaling, Unit, catalogue};
use result::rows::{PhaseRows, SecondRow};
use result::schema::{Finding, MarkKind, Metrics, Run};
use result::stats::difference::differences;
use result::stats::scale::ScaledRun;
use result::stats::{consistency::Consistency, findings};

const SCALE: (&str, &str) = ("scale", "1/32");

/// A run with these phases, on a drive with this scale or of full size.
fn run_of(phases: &[(&str, PhaseRows)], is_scaled: bool) -> (Run, Vec<PhaseRows>) {
    let mut run = run_named("r");
    run.phases = phases.iter().map(|(name, rows)| phase(name, rows)).collect();
    let scale = is_scaled.then(|| (SCALE.0.to_owned(), SCALE.1.to_owned()));
    run.target.details.extend(scale);
    (run, phases.iter().map(|(_, rows)| rows.clone()).collect())
}

/// One second of a phase in which the drive moved pages and erased superblocks.
fn second(gc_moved_pages: u64, erased_superblocks: u64) -> PhaseRows {
    let telemetry = TelemetryRow { gc_moved_pages, erased_superblocks, ..TelemetryRow::default() };
    let row = SecondRow { telemetry: Some(telemetry), ..SecondRow::default() };
    PhaseRows { seconds: vec![row], latencies: Vec::new() }
}

#[test]
fn a_drive_of_full_size_keeps_everything() {
    let (run, rows) = run_of(&[("load", load_rows(120, 30))], false);
    assert!(ScaledRun::of(&run, &rows).is_none());
}

#[test]
fn every_known_figure_of_a_small_drive_is_kept_or_marked() {
    let (run, rows) = run_of(&[("load", load_rows(120, 30))], true);
    let scaled = ScaledRun::of(&run, &rows).unwrap();
    let figures = Consistency::of(&rows[0], 80);
    let marks = scaled.marks(&figures.metrics);
    assert!(marks.iter().all(|mark| {
        mark.kind == MarkKind::Scale && mark.text == "at scale 1/32: not that of the whole drive"
    }));
    let is_marked = |name: &str| marks.iter().any(|mark| mark.metric == name);
    for name in
        ["iops_steady_mean", "waf_steady", "latency_steady_ns_mean", "latency_steady_ns_p50"]
    {
        assert!(figures.metric(name).is_some() && !is_marked(name), "{name}");
    }
    for name in [
        "iops_steady_cv",
        "iops_steady_min",
        "seconds_below_half_mean_share",
        "latency_ns_max",
        "latency_steady_ns_p99",
        "fall_start_s",
    ] {
        assert!(figures.metric(name).is_some() && is_marked(name), "{name}");
    }
    let unknown = figures.metrics.iter().find(|(name, value)| value.is_none() && is_marked(name));
    assert_eq!(unknown, None, "a missing figure needs no reservation");
}

#[test]
fn rates_are_kept_in_a_step_that_did_not_clean_or_was_steady_before() {
    let keeps = |phases: &[(&str, PhaseRows)], metric: &str| {
        let (run, rows) = run_of(phases, true);
        ScaledRun::of(&run, &rows).unwrap().keeps(metric)
    };
    let (rate, slowest) = ("corners.random_write.iops", "corners.random_write.latency_ns_p999");
    let step =
        |rows| [("purge", PhaseRows::default()), ("prepare", second(0, 0)), ("random_write", rows)];
    assert!(keeps(&step(second(0, 0)), rate) && keeps(&step(second(0, 0)), slowest));
    assert!(keeps(&step(second(0, 7)), rate) && !keeps(&step(second(0, 7)), slowest));
    assert!(!keeps(&step(second(9, 7)), rate) && !keeps(&step(second(9, 7)), slowest));
    let steady = [("precondition_1", second(9, 9)), ("random_write.r2", second(9, 7))];
    assert!(keeps(&steady, rate) && !keeps(&steady, slowest));
    let purged = [&steady[..1], &step(second(9, 7))[..]].concat();
    assert!(!keeps(&purged, rate), "a purge ends the steady state");
    let mut pass = second(9, 7);
    pass.seconds[0].offset_bytes = Some(0);
    assert!(keeps(&step(pass), rate), "a pass by zones is in proportion");
    let other = [("random_write", second(0, 0)), ("random_write_deep", second(9, 7))];
    assert!(!keeps(&other, "corners.random_write.latency_ns_max"), "the longest is of one command");
    assert!(keeps(&other, rate) && !keeps(&other, "corners.random_write_deep.iops"));
}

#[test]
fn sentences_about_lost_figures_make_room_for_the_reason() {
    let rows = load_rows(120, 30);
    let sentences = |is_scaled| {
        let (run, rows) = run_of(&[("load", rows.clone())], is_scaled);
        let figures = Consistency::of(&rows[0], 80);
        let found = findings::consistency(&run, &rows[0], &figures);
        match ScaledRun::of(&run, &rows) {
            Some(scaled) => scaled.findings(found, &figures.metrics),
            None => found,
        }
    };
    let metrics = |found: &[Finding]| -> Vec<String> {
        found.iter().map(|finding| finding.metric.clone()).collect()
    };
    let (whole, small) = (sentences(false), sentences(true));
    assert!(whole[0].text.contains("9 of 10 seconds") && metrics(&whole).len() > 4, "{whole:#?}");
    let kept = ["iops_steady_mean", "waf_steady", "seconds_below_half_mean_share"];
    assert_eq!(metrics(&small), kept, "{small:#?}");
    assert!(!small[0].text.contains("seconds stay"), "{}", small[0].text);
    assert!(small[2].text.contains("has 1/32 of its full size"), "{}", small[2].text);
    let silent =
        [Finding { text: "never settles".to_owned(), metric: "steady_start_s".to_owned() }];
    let (run, rows) = run_of(&[("load", rows.clone())], true);
    let scaled = ScaledRun::of(&run, &rows).unwrap();
    let unknown: Metrics = [("steady_start_s".to_owned(), None)].into();
    assert_eq!(scaled.findings(silent.to_vec(), &unknown), silent);
}

#[test]
fn waits_of_a_small_drive_are_not_compared() {
    let felt = |is_scaled| {
        let (mut run, _) = run_of(&[("load", load_rows(120, 30))], is_scaled);
        run.status = result::schema::RunStatus::Complete;
        run.metrics = ["notice_waits", "notice_waited_s", "notice_slow_seconds_share"]
            .map(|name| (name.to_owned(), Some(0.0)))
            .into();
        run
    };
    assert_eq!(differences(&[&felt(false), &felt(false)]).len(), 1);
    assert_eq!(differences(&[&felt(false), &felt(true)]).len(), 0);
}

#[test]
fn no_figure_of_evenness_is_kept_below_full_size() {
    let of_chapter = |chapter| catalogue().iter().filter(move |metric| metric.chapter == chapter);
    let lost = ["Evenness", "When", "Latency, whole run"];
    for metric in lost.into_iter().flat_map(of_chapter) {
        assert_eq!(metric.scaling, Scaling::Lost, "{}", metric.name);
    }
    for metric in of_chapter("Inside the drive") {
        // Amounts depend on the size, shares and ratios do not.
        let is_amount = metric.unit == Unit::Count;
        let kept = if is_amount { Scaling::Lost } else { Scaling::Kept };
        assert_eq!(metric.scaling, kept, "{}", metric.name);
    }
}
