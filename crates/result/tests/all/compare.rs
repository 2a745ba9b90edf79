//! Comparison of two groups of runs: what it finds, and how often it is wrong.

use base::Rng;
use result::compare::bootstrap::{difference_of_means, mean};
use result::compare::repeated::repeated;
use result::compare::{
    Across, CHANCE, Comparison, NothingInCommon, Outcome, Question, compare, left_out,
};
use result::expectation::Expectation;
use result::schema::{Mark, MarkKind, Run, RunStatus};

use crate::common::KINDS;

const METRIC: &str = "iops_steady_mean";

fn run(value: f64) -> Run {
    let mut run = crate::common::run_named("a-run");
    run.status = RunStatus::Complete;
    run.metrics = [(METRIC.to_owned(), Some(value))].into();
    run.marks.clear();
    run
}

/// A value of the normal distribution, after Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let uniform = |rng: &mut Rng| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let radius = (-2.0 * (1.0 - uniform(rng)).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(rng)).cos()
}

fn repeats(mean: f64, noise: f64, count: usize, rng: &mut Rng) -> Vec<Run> {
    (0..count).map(|_| run(mean * (1.0 + noise * normal(rng)))).collect()
}

fn outcome(a: &[Run], b: &[Run], threshold: Option<f64>) -> Outcome {
    let (a, b): (Vec<&Run>, Vec<&Run>) = (a.iter().collect(), b.iter().collect());
    let question = Question { threshold, ..Question::default() };
    compare(&a, &b, &question).unwrap()[0].figures[0].outcome
}

/// The share of trials in which B is called worse.
fn called_worse(change: f64, noise: f64, count: usize) -> f64 {
    const TRIALS: u32 = 400;
    let mut rng = Rng::new(7);
    let is_worse = |rng: &mut Rng| {
        let a = repeats(20_000.0, noise, count, rng);
        outcome(&a, &repeats(20_000.0 * (1.0 + change), noise, count, rng), None) == Outcome::Worse
    };
    let worse = (0..TRIALS).filter(|_| is_worse(&mut rng)).count();
    worse as f64 / f64::from(TRIALS)
}

/// Of 3,000 trials, 94.4% are found with ten runs on each side, and 97.7% with twelve; 4.3% of equals
/// are called worse. A test that knew the noise beforehand would find 95.6% with ten.
#[test]
fn three_percent_are_found_in_two_percent_of_noise_and_equals_are_equal() {
    let found = called_worse(-0.03, 0.02, 10);
    assert!(found >= 0.93, "{found} found with ten runs on each side");
    let found = called_worse(-0.03, 0.02, 12);
    assert!(found >= 0.95, "{found} found with twelve runs on each side");
    for count in [3, 10] {
        let called = called_worse(0.0, 0.02, count);
        // Three standard deviations of 400 trials.
        assert!(called <= CHANCE + 0.033, "{called} called worse, {count} runs on each side");
    }
}

#[test]
fn an_interval_holds_the_truth_as_often_as_it_says() {
    let mut rng = Rng::new(11);
    for count in [2, 5, 20] {
        let holds = |rng: &mut Rng| {
            let values: Vec<f64> = (0..count).map(|_| 5.0 + normal(rng)).collect();
            mean(&values, 0.025, 3).unwrap().contains(5.0)
        };
        let share = (0..400).filter(|_| holds(&mut rng)).count() as f64 / 400.0;
        assert!((0.90..=0.985).contains(&share), "{share} of the intervals of {count} values");
    }
    assert_eq!(mean(&[1.0], 0.05, 1), None);
    assert_eq!(difference_of_means(&[1.0, 2.0], &[3.0], 0.05, 1), None);
    let same = difference_of_means(&[2.0, 2.0], &[3.0, 3.0], 0.05, 1).unwrap();
    assert_eq!((same.low, same.high), (1.0, 1.0));
}

#[test]
fn one_run_on_a_side_is_judged_by_the_threshold() {
    let (a, slower) = ([run(100.0)], [run(90.0)]);
    assert_eq!(outcome(&a, &slower, None), Outcome::Worse);
    assert_eq!(outcome(&a, &[run(97.5)], None), Outcome::Same);
    assert_eq!(outcome(&a, &[run(99.8)], None), Outcome::Same);
    assert_eq!(outcome(&a, &[run(102.9)], None), Outcome::Same);
    assert_eq!(outcome(&a, &[run(97.5)], Some(0.01)), Outcome::Worse);
    assert_eq!(outcome(&a, &slower, Some(0.05)), Outcome::Worse);
    assert_eq!(outcome(&a, &slower, Some(0.2)), Outcome::Same);
    assert_eq!(outcome(&slower, &a, Some(0.05)), Outcome::Better);
    assert_eq!(outcome(&a, &a, None), Outcome::Same);
}

/// Repeated runs of a simulated drive differ by less than a thousandth: a loss of 0.2% is beyond
/// their noise, and nobody's.
#[test]
fn a_threshold_and_noise_must_both_be_exceeded() {
    let group = |mean: f64| [mean - 0.1, mean, mean + 0.1].map(run);
    assert_eq!(outcome(&group(100.0), &group(99.8), None), Outcome::Same);
    assert_eq!(outcome(&group(100.0), &group(98.0), None), Outcome::Worse);
    assert_eq!(outcome(&group(100.0), &group(98.0), Some(0.01)), Outcome::Worse);
    assert_eq!(outcome(&group(100.0), &group(98.0), Some(0.05)), Outcome::Same);
    let noisy = [run(60.0), run(140.0), run(94.0)];
    assert_eq!(outcome(&noisy, &group(90.0), None), Outcome::Same);
    assert_eq!(outcome(&noisy, &group(90.0), Some(0.01)), Outcome::Same);
}

fn compared(a: &Run, b: &Run, question: &Question) -> Comparison {
    compare(&[a], &[b], question).unwrap().remove(0)
}

fn with(metrics: &[(&str, f64)]) -> Run {
    let metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), Some(*value)));
    Run { metrics: metrics.collect(), ..run(0.0) }
}

/// The names of the figures that stand for a fact.
fn facts(a: &Run, b: &Run) -> Vec<String> {
    let compared = compared(a, b, &Question::default());
    compared.facts().map(|figure| figure.metric.clone()).collect()
}

#[test]
fn one_fact_is_one_row_and_counts_once() {
    // 4 KiB and 128 KiB at a queue depth of 32: the same fact three times each.
    let step = |factor: f64| {
        with(&[
            ("corners.random_write.iops", 8_000.0 * factor),
            ("corners.random_write.mb_per_s", 32.768 * factor),
            ("corners.random_write.latency_ns_mean", 4e6 / factor),
            ("corners.random_write.latency_ns_p99", 9e6),
            ("corners.sequential_write.iops", 4_000.0),
            ("corners.sequential_write.mb_per_s", 524.288),
        ])
    };
    let told = facts(&step(1.0), &step(0.9));
    let wanted = [
        "corners.random_write.iops",
        "corners.sequential_write.mb_per_s",
        "corners.random_write.latency_ns_p99",
    ];
    assert_eq!(told, wanted);
    let answer = compared(&step(1.0), &step(0.9), &Question::default());
    let worse = answer.figures.iter().filter(|figure| figure.outcome == Outcome::Worse);
    assert_eq!(
        (worse.count(), answer.facts().filter(|one| one.outcome == Outcome::Worse).count()),
        (3, 1)
    );
    // An open loop: the rate is given, and the latency is another fact.
    let paced =
        |latency_ns: f64| with(&[("a.b.iops", 5_000.0), ("a.b.latency_ns_mean", latency_ns)]);
    assert_eq!(facts(&paced(1e5), &paced(2e5)), ["a.b.iops", "a.b.latency_ns_mean"]);
    // Sizes that differ between the sides: no constant ratio.
    let sized = |mb_per_s: f64| with(&[("a.b.iops", 5_000.0), ("a.b.mb_per_s", mb_per_s)]);
    assert_eq!(facts(&sized(20.48), &sized(40.96)).len(), 2);
    // Equal values of one unit: the run was shorter than a minute.
    let short = |iops: f64| with(&[("iops_mean", iops), ("iops_peak_mean_first_60s", iops)]);
    assert_eq!(facts(&short(11_252.5), &short(10_484.1)), ["iops_peak_mean_first_60s"]);
}

#[test]
fn a_figure_that_is_not_what_its_name_says_is_not_judged() {
    let marked = |kind: MarkKind| {
        let mark =
            Mark { metric: METRIC.to_owned(), kind, text: "a reason".to_owned(), levels: None };
        Run { marks: vec![mark], ..run(100.0) }
    };
    let (plain, slower) = (run(100.0), run(10.0));
    for kind in KINDS {
        let marked = marked(kind);
        for (a, b, reason) in
            [(&marked, &slower, "A: a reason"), (&marked, &marked, "A and B: a reason")]
        {
            let answer = compared(a, b, &Question::default());
            let figure = &answer.figures[0];
            let is_unknown = figure.outcome == Outcome::Unknown;
            assert_eq!(is_unknown, kind.disqualifies(), "{kind:?}");
            assert_eq!(figure.reason.as_deref(), kind.disqualifies().then_some(reason));
            assert_eq!(answer.is_regression(), !kind.disqualifies() && reason.starts_with("A:"));
        }
    }
    assert!(compared(&plain, &slower, &Question::default()).is_regression());
}

#[test]
fn nobody_compares_with_an_unknown_value() {
    let (a, mut b) = (with(&[(METRIC, 100.0), ("waf_steady", 2.0)]), run(100.0));
    b.metrics.insert("waf_steady".to_owned(), None);
    let answer = compared(&a, &b, &Question::default());
    assert_eq!(answer.figures.len(), 1);
    let told = &answer.missing[0];
    assert_eq!((told.metric.as_str(), told.reason.as_str()), ("waf_steady", "B has none"));
    assert_eq!(told.label, "Write amplification, steady state");
}

/// A run of the drive in a model's or a device's place.
fn run_of(spec: &str, name: &str, value: f64) -> Run {
    let mut run = run(value);
    run.target.spec = spec.to_owned();
    run.target.name = name.to_owned();
    run
}

fn refusal(a: &Run, b: &Run, across: Option<Across>) -> String {
    compare(&[a], &[b], &Question { across, ..Question::default() }).unwrap_err().to_string()
}

fn spare(variant: &str, base: &str) -> Run {
    let mut run = run(100.0);
    run.span.variant = variant.to_owned();
    run.span.base = base.to_owned();
    run
}

#[test]
fn spans_are_compared_across_spans_only() {
    let (whole, quarter, part) =
        (spare("default", "none"), spare("25%", "raw"), spare("4GiB", "bytes"));
    let told = refusal(&whole, &quarter, None);
    assert!(told.contains("different parts of the drive"), "{told}");
    assert!(
        told.contains("A consistency (whole drive)") && told.contains("25% spare area"),
        "{told}"
    );
    assert!(told.contains("--across spare"), "{told}");
    assert!(refusal(&whole, &part, None).contains("--across span`"));
    assert!(refusal(&whole, &part, Some(Across::Spare)).contains("first 4GiB"));
    assert!(refusal(&whole, &whole, Some(Across::Spare)).contains("do not differ in it"));
    for (b, across) in [(&quarter, Across::Spare), (&quarter, Across::Span), (&part, Across::Span)]
    {
        let question = Question { across: Some(across), ..Question::default() };
        let answer = compared(&whole, b, &question);
        let names: Vec<_> = answer.conditions.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(names, ["span"]);
    }
    let mut deep = quarter.clone();
    deep.config.insert("queue_depth".to_owned(), 4.into());
    let told = refusal(&whole, &deep, Some(Across::Spare));
    assert!(told.contains("also differ in: queue depth (32 | 4)"), "{told}");
    deep = quarter.clone();
    deep.target.name = "Another 480".to_owned();
    assert!(
        refusal(&whole, &deep, Some(Across::Spare)).contains("drive (Example 480 | Another 480)")
    );
    let both = [&whole, &quarter];
    let mixed =
        compare(&[&whole], &both, &Question { across: Some(Across::Spare), ..Question::default() });
    assert!(mixed.unwrap_err().to_string().contains("a side of `consistency` has several"));
}

#[test]
fn drive_firmware_and_host_are_compared_by_themselves() {
    let run = |drive: &str, firmware: &str, host: &str| {
        let spec = format!("sim:{drive}?scale=1/64&host={host}");
        let name = format!("{drive} [scale=1/64, host={host}]");
        let mut run = run_of(&spec, &name, 100.0);
        run.target.firmware = Some(firmware.to_owned());
        run.target.details.insert("host".to_owned(), format!("profile {host}"));
        run.target.details.insert("sim.checksum".to_owned(), format!("9e6313{firmware}{host}"));
        run
    };
    let (plain, other) = (run("x", "1", "old"), run("y", "2", "old"));
    let (newer, faster) = (run("x", "2", "old"), run("x", "1", "new"));
    let allowed = |b: &Run, across| {
        compare(&[&plain], &[b], &Question { across: Some(across), ..Question::default() }).is_ok()
    };
    let names = [Across::Drive, Across::Firmware, Across::Host];
    assert_eq!(names.map(|across| allowed(&other, across)), [true, false, false]);
    assert_eq!(names.map(|across| allowed(&newer, across)), [false, true, false]);
    assert_eq!(names.map(|across| allowed(&faster, across)), [false, false, true]);
    let told = refusal(&plain, &run("x", "2", "new"), Some(Across::Firmware));
    assert!(told.contains("also differ in: host (profile old | profile new)"), "{told}");
    let mut elsewhere = newer.clone();
    elsewhere.environment.insert("kernel".to_owned(), "9.9".to_owned());
    let question = Question { across: Some(Across::Firmware), ..Question::default() };
    let labels: Vec<_> = compared(&plain, &elsewhere, &question)
        .conditions
        .into_iter()
        .map(|one| one.label)
        .collect();
    assert_eq!(labels, ["firmware", "kernel"]);
}

#[test]
fn conditions_are_told_in_words() {
    let (a, mut b) = (run(1.0), run(1.0));
    b.config.insert("fill_block_bytes".to_owned(), 131_072.into());
    b.target.details.insert("sim.checksum".to_owned(), "9e631324145637f6".to_owned());
    let answer = compared(&a, &b, &Question::default());
    let told: Vec<_> = answer
        .conditions
        .iter()
        .map(|one| format!("{}: {} | {}", one.label, one.words(&one.a), one.words(&one.b)))
        .collect();
    let other = "not those of the other side";
    let wanted = [
        "fill block: not known | 128KiB".to_owned(),
        format!("values of the drive model: {other} | {other}"),
    ];
    assert_eq!(told, wanted);
    // Another difference of the drive explains the checksum.
    b.target.details.insert("sim.dies".to_owned(), "32".to_owned());
    let answer = compared(&a, &b, &Question::default());
    let labels: Vec<_> = answer.conditions.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["fill block", "dies"]);
}

#[test]
fn nothing_beside_a_run_is_the_same_as_no_word_about_it() {
    let (a, mut b) = (run(1.0), run(1.0));
    let beside = |run: &mut Run, value: &str| {
        for label in ["beside", "shared_links"] {
            run.environment.insert(label.to_owned(), value.to_owned());
        }
    };
    beside(&mut b, "none");
    assert_eq!(compared(&a, &b, &Question::default()).conditions, []);
    beside(&mut b, "/dev/sdb");
    let answer = compared(&a, &b, &Question::default());
    let told = answer.conditions.iter();
    let told =
        told.map(|one| format!("{}: {} | {}", one.label, one.words(&one.a), one.words(&one.b)));
    let wanted = ["measured beside: none | /dev/sdb", "shared links: none | /dev/sdb"];
    assert_eq!(told.collect::<Vec<_>>(), wanted);
}

#[test]
fn a_run_without_a_comparison_is_named_with_the_reason() {
    let whole = Run { run_id: "whole".to_owned(), ..run(1.0) };
    let cut = Run { run_id: "cut".to_owned(), status: RunStatus::Interrupted, ..run(1.0) };
    let other = Run { run_id: "other".to_owned(), test: "trim".to_owned(), ..run(1.0) };
    let told = left_out(&[&whole], &[&whole, &cut, &other], &Question::default());
    let told: Vec<_> =
        told.iter().map(|one| format!("{} {} {}", one.side, one.run_id, one.reason)).collect();
    let wanted = [
        "B cut was interrupted",
        "B other has no counterpart on the other side: trim (whole drive)",
    ];
    assert_eq!(told, wanted);
    let failed = Run { status: RunStatus::Failed, ..cut.clone() };
    let told = refusal(&cut, &failed, None);
    assert!(told.contains("A has no complete run: cut was interrupted"), "{told}");
    assert!(told.contains("B has no complete run: cut failed"), "{told}");
    assert!(
        compare(&[], &[&whole], &Question::default())
            .unwrap_err()
            .to_string()
            .contains("A names no run")
    );
}

#[test]
fn conditions_that_differ_are_named_and_others_are_not() {
    let (a, mut b) = (run(1.0), run(1.0));
    b.seed = 77;
    b.environment.insert("kernel".to_owned(), "9.9".to_owned());
    b.config.insert("queue_depth".to_owned(), 7.into());
    let compared = compare(&[&a], &[&b], &Question::default()).unwrap();
    let names: Vec<_> = compared[0].conditions.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["setting queue_depth", "kernel"]);
    let labels: Vec<_> = compared[0].conditions.iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels, ["queue depth", "kernel"]);
}

#[test]
fn runs_of_two_versions_of_the_suite_are_shown_and_not_judged() {
    let (a, mut b) = (run(1_000.0), run(10.0));
    let question = Question { threshold: Some(0.05), ..Question::default() };
    let judged = compare(&[&a], &[&b], &question).unwrap().remove(0);
    assert!(judged.is_regression() && judged.is_of_one_suite());
    b.suite_version = 2;
    b.config.insert("a_setting".to_owned(), 1.into());
    let told = compare(&[&a], &[&b], &question).unwrap().remove(0);
    assert!(!told.is_regression() && !told.is_of_one_suite());
    assert_eq!(told.figures[0].outcome, Outcome::Unknown);
    let reason = told.figures[0].reason.as_deref();
    assert_eq!(reason, Some("runs of several versions of the suite"));
    assert_eq!(
        (told.conditions[0].name.as_str(), &told.conditions[0].b[0][..]),
        ("suite version", "2")
    );
}

#[test]
fn runs_of_different_tests_and_unknown_figures_are_refused() {
    let (a, mut b) = (run(1.0), run(1.0));
    let metrics = vec!["iops_stedy_mean".to_owned()];
    let question = Question { metrics: metrics.clone(), ..Question::default() };
    let refused = compare(&[&a], &[&b], &question).unwrap_err();
    assert_eq!(refused, NothingInCommon::Figures { metrics, near: vec![METRIC.to_owned()] });
    b.test = "trim".to_owned();
    let refused = compare(&[&a], &[&b], &Question::default()).unwrap_err().to_string();
    assert!(refused.contains("consistency") && refused.contains("trim"), "{refused}");
}

#[test]
fn a_warning_about_a_figure_comes_with_it() {
    let marked = |text: &str| {
        let mark = Mark {
            metric: METRIC.to_owned(),
            kind: MarkKind::TwoRegimes,
            text: text.to_owned(),
            levels: None,
        };
        Run { marks: vec![mark], ..run(20_000.0) }
    };
    let (plain, early, late) = (run(20_000.0), marked("until 20 s"), marked("until 21 s"));
    let question = Question { threshold: Some(0.05), ..Question::default() };
    let of = |a: &[&Run], b: &[&Run]| compare(a, b, &question).unwrap()[0].figures[0].marks.clone();
    assert_eq!(of(&[&plain], &[&early]), ["B: until 20 s"]);
    assert_eq!(of(&[&early, &late, &plain], &[&plain]), ["A: until 20 s (2 of 3 runs)"]);
    let repeated = repeated(&[&early, &plain], 1);
    assert_eq!(repeated[0].marks, ["until 20 s (1 of 2 runs)"]);
    let answer = "iops_steady_mean > 1".parse::<Expectation>().unwrap().answer(&early);
    assert_eq!((answer.is_met, answer.marks), (true, vec!["until 20 s".to_owned()]));
}

#[test]
fn an_expectation_is_a_metric_and_a_limit() {
    let run = run(20_000.0);
    for (text, met) in [
        ("iops_steady_mean >= 20000", true),
        ("iops_steady_mean>20000", false),
        ("iops_steady_mean < 2e4", false),
        ("iops_steady_mean<=20000", true),
        ("latency_ns_p99 <= 5ms", false),
    ] {
        let answer = text.parse::<Expectation>().unwrap().answer(&run);
        assert_eq!(answer.is_met, met, "{text}: {answer:?}");
    }
    for (text, word) in [
        ("iops_steady_mean = 3", "has none of >="),
        ("iops_stedy_mean > 3", "no metric `iops_stedy_mean`"),
        ("latency_ns_p99 < soon", "a time such as 5ms"),
        ("iops_steady_cv < 5k", "percent such as 5%"),
        ("iops_steady_mean > NaN", "a number such as"),
    ] {
        let error = text.parse::<Expectation>().unwrap_err().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
}
