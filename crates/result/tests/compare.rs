//! Comparison of two groups of runs: what it finds, and how often it is wrong.

mod common;

use base::Rng;
use result::compare::bootstrap::{difference_of_means, mean};
use result::compare::repeated::repeated;
use result::compare::{CHANCE, NothingInCommon, Outcome, Question, compare};
use result::expectation::Expectation;
use result::schema::{Mark, MarkKind, Run, RunStatus};

const METRIC: &str = "iops_steady_mean";

fn run(value: f64) -> Run {
    let mut run = common::run_named("a-run");
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
fn one_run_on_a_side_is_judged_by_a_threshold_only() {
    let (a, slower) = ([run(100.0)], [run(90.0)]);
    assert_eq!(outcome(&a, &slower, None), Outcome::Unknown);
    assert_eq!(outcome(&a, &slower, Some(0.05)), Outcome::Worse);
    assert_eq!(outcome(&a, &slower, Some(0.2)), Outcome::Same);
    assert_eq!(outcome(&slower, &a, Some(0.05)), Outcome::Better);
    assert_eq!(outcome(&a, &a, None), Outcome::Same);
}

#[test]
fn a_threshold_and_noise_must_both_be_exceeded() {
    let group = |mean: f64| [mean - 0.1, mean, mean + 0.1].map(run);
    assert_eq!(outcome(&group(100.0), &group(98.0), None), Outcome::Worse);
    assert_eq!(outcome(&group(100.0), &group(98.0), Some(0.05)), Outcome::Same);
    let noisy = [run(60.0), run(140.0), run(94.0)];
    assert_eq!(outcome(&noisy, &group(90.0), Some(0.01)), Outcome::Same);
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
    assert_eq!(
        (told.conditions[0].name.as_str(), &told.conditions[0].b[0][..]),
        ("suite version", "2")
    );
}

#[test]
fn runs_of_different_tests_and_unknown_figures_are_refused() {
    let (a, mut b) = (run(1.0), run(1.0));
    let metrics = vec!["no_such".to_owned()];
    let question = Question { metrics: metrics.clone(), ..Question::default() };
    let refused = compare(&[&a], &[&b], &question).unwrap_err();
    assert_eq!(refused, NothingInCommon::Figures { metrics });
    b.test = "trim".to_owned();
    let refused = compare(&[&a], &[&b], &Question::default()).unwrap_err().to_string();
    assert!(refused.contains("consistency") && refused.contains("trim"), "{refused}");
    let unfinished = Run { status: RunStatus::Interrupted, ..run(1.0) };
    let refused = compare(&[&a], &[&unfinished], &Question::default()).unwrap_err().to_string();
    assert!(refused.contains("B of nothing"), "{refused}");
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
