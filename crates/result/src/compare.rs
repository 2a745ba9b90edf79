//! Is B worse than A? Two groups of runs, figure by figure, with the noise of repeated runs.
//!
//! Every figure has an interval for the difference of the means ([`bootstrap`]). By chance alone, two
//! equal groups are called worse in at most [`CHANCE`] of all comparisons: the figures of one
//! comparison share that chance equally. A figure is worse (or better) if its interval does not
//! contain zero and the difference exceeds the threshold, if there is one. One run on a side tells
//! nothing about noise: only a threshold judges it then. [`conditions`] names all that differs beside
//! the figures.

pub mod bootstrap;
mod conditions;
mod remarks;
pub mod repeated;
mod sides;

use serde::Serialize;

use self::bootstrap::{Interval, difference_of_means};
pub use self::conditions::Condition;
pub use self::sides::{Group, NothingInCommon};
use crate::metrics::{Better, find};
use crate::schema::{MarkKind, Run};

/// Chance that a comparison calls equal groups worse.
pub const CHANCE: f64 = 0.05;

/// The question about two groups of runs.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The smallest relative difference that counts, or `None` if any beyond noise does.
    pub threshold: Option<f64>,
    /// The names of the figures to compare; empty for all.
    pub metrics: Vec<String>,
    /// Seed of the intervals.
    pub seed: u64,
}

/// The answer for the runs of one test.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Name of the test.
    pub test: String,
    /// Variant of the span.
    pub variant: String,
    /// The runs of A.
    pub a: Group,
    /// The runs of B.
    pub b: Group,
    /// Conditions that are not the same on both sides.
    pub conditions: Vec<Condition>,
    /// The figures that both sides have, in the order of the catalogue.
    pub figures: Vec<Figure>,
}

impl Comparison {
    /// Whether any figure of B is worse.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        self.figures.iter().any(|figure| figure.outcome == Outcome::Worse)
    }

    /// Whether all runs belong to one version of the suite; otherwise nothing is judged.
    #[must_use]
    pub fn is_of_one_suite(&self) -> bool {
        self.conditions.iter().all(|condition| condition.name != conditions::SUITE_VERSION)
    }
}

/// The verdict on one figure.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// B is worse, beyond noise and threshold.
    Worse,
    /// B is better, beyond noise and threshold.
    Better,
    /// No difference beyond noise, or none above the threshold.
    Same,
    /// B differs beyond noise and threshold, and neither direction is better.
    Different,
    /// Nobody can tell: a single run on a side and no threshold, a figure that depends on the size of
    /// simulated drives of different sizes, or runs of several versions of the suite.
    Unknown,
}

/// One figure on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Name of the metric.
    pub metric: String,
    /// The values of A over its runs.
    pub a: Values,
    /// The values of B over its runs.
    pub b: Values,
    /// Mean of B less mean of A.
    pub difference: f64,
    /// The difference as a share of the mean of A, or `None` if that is zero.
    pub change: Option<f64>,
    /// The interval of the difference, or `None` with a single run on a side.
    pub interval: Option<Interval>,
    /// The verdict.
    pub outcome: Outcome,
    /// Warnings about the values, each with its side: `A: mixes two regimes: ...`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
}

/// The values of a figure over repeated runs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Values {
    /// Number of runs.
    pub runs: usize,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
}

impl Values {
    fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let middle = |place: usize| sorted.get(place).copied().unwrap_or_default();
        let median = f64::midpoint(middle((sorted.len().max(1) - 1) / 2), middle(sorted.len() / 2));
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        Self { runs: values.len(), mean, median }
    }
}

/// Compares two groups of complete runs, test by test.
///
/// # Errors
/// [`NothingInCommon`] if no test has runs on both sides, or none of the requested figures.
pub fn compare(
    a: &[&Run],
    b: &[&Run],
    question: &Question,
) -> Result<Vec<Comparison>, NothingInCommon> {
    let pairs = sides::pairs(a, b)?;
    let names: Vec<_> = pairs.iter().map(|(a, b)| names(a, b, &question.metrics)).collect();
    let judged: usize = names.iter().flatten().filter(|name| is_judged(name)).count();
    if names.iter().all(Vec::is_empty) {
        return Err(NothingInCommon::Figures { metrics: question.metrics.clone() });
    }
    let chance = CHANCE / judged.max(1) as f64;
    let answer = |((a, b), names): (&(Vec<&Run>, Vec<&Run>), &Vec<String>)| Comparison {
        test: a[0].test.clone(),
        variant: a[0].span.variant.clone(),
        a: Group::of(a),
        b: Group::of(b),
        conditions: conditions::differences(a, b),
        figures: names.iter().map(|name| figure(name, a, b, question, chance)).collect(),
    };
    Ok(pairs.iter().zip(&names).map(answer).collect())
}

/// The figures that every run of both sides has, in the order of the catalogue.
fn names(a: &[&Run], b: &[&Run], wanted: &[String]) -> Vec<String> {
    let all = || a.iter().chain(b);
    let has = |run: &Run, name: &str| run.metrics.get(name).copied().flatten().is_some();
    let first = a.first().into_iter().flat_map(|run| run.metrics.keys());
    let is_wanted = |name: &&String| wanted.is_empty() || wanted.contains(name);
    let common = first.filter(is_wanted).filter(|name| all().all(|run| has(run, name)));
    let mut names: Vec<String> = common.cloned().collect();
    let place = |name: &String| {
        let catalogue = crate::metrics::catalogue();
        find(name).and_then(|found| catalogue.iter().position(|row| std::ptr::eq(row, found)))
    };
    names.sort_by_cached_key(|name| (place(name).unwrap_or(usize::MAX), name.clone()));
    names
}

fn is_judged(name: &str) -> bool {
    find(name).is_some_and(|metric| metric.better.is_some())
}

fn figure(name: &str, a: &[&Run], b: &[&Run], question: &Question, chance: f64) -> Figure {
    let values = |runs: &[&Run]| -> Vec<f64> {
        runs.iter().filter_map(|run| run.metrics.get(name).copied().flatten()).collect()
    };
    let (of_a, of_b) = (values(a), values(b));
    let (sum_a, sum_b) = (Values::of(&of_a), Values::of(&of_b));
    let difference = sum_b.mean - sum_a.mean;
    let change = (sum_a.mean != 0.0).then(|| difference / sum_a.mean.abs());
    let interval = difference_of_means(&of_a, &of_b, chance, question.seed);
    let outcome = if depends_on_size(name, a, b) || is_of_other_suite(a, b) {
        Outcome::Unknown
    } else {
        outcome(name, difference, change, interval, question.threshold)
    };
    let of_side = |(side, runs): (&str, &[&Run])| {
        let texts = remarks::remarks(runs, name).into_iter();
        texts.map(|text| format!("{side}: {text}")).collect::<Vec<_>>()
    };
    let marks = [("A", a), ("B", b)].into_iter().flat_map(of_side).collect();
    let metric = name.to_owned();
    Figure { metric, a: sum_a, b: sum_b, difference, change, interval, outcome, marks }
}

/// Whether the runs belong to several versions of the suite.
fn is_of_other_suite(a: &[&Run], b: &[&Run]) -> bool {
    a.iter().chain(b).any(|run| run.suite_version != a[0].suite_version)
}

/// Whether the figure holds only for the size of a small simulated drive, and the sizes differ.
fn depends_on_size(name: &str, a: &[&Run], b: &[&Run]) -> bool {
    let mut all = a.iter().chain(b);
    let is_scaled = |run: &&Run| {
        run.marks.iter().any(|mark| mark.metric == name && mark.kind == MarkKind::Scale)
    };
    let first = a[0].target.scale();
    all.clone().any(is_scaled) && all.any(|run| run.target.scale() != first)
}

fn outcome(
    name: &str,
    difference: f64,
    change: Option<f64>,
    interval: Option<Interval>,
    threshold: Option<f64>,
) -> Outcome {
    let is_large = |threshold: f64| change.is_none_or(|change| change.abs() > threshold);
    let is_beyond = match (interval, threshold) {
        _ if difference == 0.0 => false,
        (None, None) => return Outcome::Unknown,
        (Some(interval), _) if interval.contains(0.0) => false,
        (_, threshold) => threshold.is_none_or(is_large),
    };
    match find(name).and_then(|metric| metric.better) {
        _ if !is_beyond => Outcome::Same,
        None => Outcome::Different,
        Some(Better::Higher) if difference > 0.0 => Outcome::Better,
        Some(Better::Lower) if difference < 0.0 => Outcome::Better,
        Some(_) => Outcome::Worse,
    }
}
