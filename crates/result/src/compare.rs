//! Is B worse than A? Two groups of runs, figure by figure, with the noise of repeated runs.
//!
//! Every figure has an interval for the difference of the means ([`bootstrap`]). By chance alone, two
//! equal groups are called worse in at most [`CHANCE`] of all comparisons: the facts of one
//! comparison share that chance equally. A figure is worse (or better) if its interval does not
//! contain zero and the difference counts: by itself above the threshold that the user gave, or
//! without one if the interval reaches beyond [`NEGLIGIBLE`]. Single runs have no interval: there the
//! difference must exceed the threshold, which is [`THRESHOLD`] if the user gave none. Figures that tell one fact count once ([`facts`]), and one
//! that is not what its name says is not judged ([`remarks`]). [`conditions`] names all that differs
//! beside the figures.

mod across;
pub mod bootstrap;
mod conditions;
mod facts;
mod remarks;
pub mod repeated;
mod sides;

use base::text::nearest;
use serde::Serialize;

pub use self::across::Across;
use self::bootstrap::{Interval, difference_of_means};
pub use self::conditions::Condition;
pub use self::remarks::Missing;
pub use self::sides::{Group, LeftOut, NothingInCommon};
use crate::metrics::{Better, find, label};
use crate::schema::Run;
use crate::stats::summary::mean;

/// Chance that a comparison calls equal groups worse.
pub const CHANCE: f64 = 0.05;

/// The smallest relative difference of single runs that counts, if the question does not say.
pub const THRESHOLD: f64 = 0.03;

/// Repeated runs without noise, such as those of a simulated drive, differ below this and nobody
/// minds.
pub const NEGLIGIBLE: f64 = 0.01;

/// The question about two groups of runs.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The smallest relative difference that counts, or `None` for [`THRESHOLD`] without intervals and
    /// [`NEGLIGIBLE`] with them.
    pub threshold: Option<f64>,
    /// The names of the figures to compare; empty for all.
    pub metrics: Vec<String>,
    /// Seed of the intervals.
    pub seed: u64,
    /// The one condition in which A and B differ, or `None` if the question does not say.
    pub across: Option<Across>,
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
    /// Figures that some of the runs have, and not all.
    pub missing: Vec<Missing>,
}

impl Comparison {
    /// Whether any figure of B is worse.
    pub fn is_regression(&self) -> bool {
        self.facts().any(|figure| figure.outcome == Outcome::Worse)
    }

    /// The figures that stand for a fact: all but those that tell the same as another one.
    pub fn facts(&self) -> impl Iterator<Item = &Figure> {
        self.figures.iter().filter(|figure| figure.same_fact_as.is_none())
    }

    /// Whether all runs belong to one version of the suite; otherwise nothing is judged.
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
    /// No difference beyond noise, or none that counts.
    Same,
    /// B differs beyond noise and threshold, and neither direction is better.
    Different,
    /// Nobody can tell; [`Figure::reason`] says why.
    Unknown,
}

/// One figure on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Name of the metric.
    pub metric: String,
    /// Its name for people.
    pub label: String,
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
    /// The reason why there is no verdict, or `None` if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The metric whose figure tells the same fact, or `None` if this one stands for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_fact_as: Option<String>,
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
        Self { runs: values.len(), mean: mean(values), median }
    }
}

/// Compares two groups of complete runs, test by test.
///
/// # Errors
/// [`NothingInCommon`] if no test has runs on both sides, none of the requested figures is in all of
/// them, or they do not differ as the question says.
pub fn compare(
    a: &[&Run],
    b: &[&Run],
    question: &Question,
) -> Result<Vec<Comparison>, NothingInCommon> {
    let pairs = sides::pairs(a, b, question.across)?;
    let mut compared: Vec<Comparison> = Vec::new();
    for (a, b) in &pairs {
        let conditions = conditions::differences(a, b);
        if let Some(across) = question.across {
            let refused = |reason| NothingInCommon::Across { across, reason };
            across.check((a, b), &conditions).map_err(refused)?;
        }
        compared.push(Comparison {
            test: a[0].test.clone(),
            variant: a[0].span.variant.clone(),
            a: Group::of(a),
            b: Group::of(b),
            conditions,
            figures: figures(a, b, &question.metrics),
            missing: remarks::missing(a, b, &question.metrics),
        });
    }
    if compared.iter().all(|comparison| comparison.figures.is_empty()) {
        return Err(no_figures(&pairs, &question.metrics));
    }
    let judged = compared.iter().flat_map(Comparison::facts).filter(|figure| is_judged(figure));
    let chance = CHANCE / judged.count().max(1) as f64;
    for (comparison, (a, b)) in compared.iter_mut().zip(&pairs) {
        judge(&mut comparison.figures, (a, b), question, chance);
    }
    Ok(compared)
}

/// The runs of both sides that [`compare`] does not use, with the reasons.
pub fn left_out(a: &[&Run], b: &[&Run], question: &Question) -> Vec<LeftOut> {
    sides::left_out(a, b, question.across)
}

fn no_figures(pairs: &[sides::Pair<'_>], metrics: &[String]) -> NothingInCommon {
    let runs = pairs.iter().flat_map(|(a, b)| a.iter().chain(b));
    let mut known: Vec<String> = runs.flat_map(|run| run.metrics.keys().cloned()).collect();
    known.sort_unstable();
    known.dedup();
    let mut near: Vec<String> = Vec::new();
    for metric in metrics.iter().filter(|metric| !known.contains(metric)) {
        near.extend(
            nearest(metric, known.iter().map(String::as_str)).into_iter().map(str::to_owned),
        );
    }
    NothingInCommon::Figures { metrics: metrics.to_vec(), near }
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

/// Whether a figure can be better or worse.
fn is_judged(figure: &Figure) -> bool {
    figure.reason.is_none() && find(&figure.metric).is_some_and(|metric| metric.better.is_some())
}

fn values(runs: &[&Run], name: &str) -> Vec<f64> {
    runs.iter().filter_map(|run| run.metrics.get(name).copied().flatten()).collect()
}

/// The figures of both sides without intervals and verdicts.
fn figures(a: &[&Run], b: &[&Run], wanted: &[String]) -> Vec<Figure> {
    let names = names(a, b, wanted);
    let representatives = facts::representatives(&names, a, b);
    let reasons: Vec<_> = names.iter().map(|name| remarks::obstacle(name, a, b)).collect();
    let of_name = |(at, name): (usize, &String)| {
        let (sum_a, sum_b) = (Values::of(&values(a, name)), Values::of(&values(b, name)));
        let difference = sum_b.mean - sum_a.mean;
        // A figure that may be judged does not hide behind one that may not.
        let other = representatives[at];
        let is_hidden = other != at && (reasons[other].is_none() || reasons[at].is_some());
        Figure {
            metric: name.clone(),
            label: label(name),
            a: sum_a,
            b: sum_b,
            difference,
            change: (sum_a.mean != 0.0).then(|| difference / sum_a.mean.abs()),
            interval: None,
            outcome: Outcome::Unknown,
            reason: reasons[at].clone(),
            same_fact_as: is_hidden.then(|| names[other].clone()),
            marks: remarks::of_sides(name, a, b),
        }
    };
    names.iter().enumerate().map(of_name).collect()
}

/// Adds intervals and verdicts. Figures of one fact have one verdict.
fn judge(figures: &mut [Figure], (a, b): (&[&Run], &[&Run]), question: &Question, chance: f64) {
    for figure in figures.iter_mut() {
        let (of_a, of_b) = (values(a, &figure.metric), values(b, &figure.metric));
        figure.interval = difference_of_means(&of_a, &of_b, chance, question.seed);
        if figure.reason.is_none() {
            figure.outcome = outcome(figure, question.threshold);
        }
    }
    let verdicts: Vec<(String, Outcome)> =
        figures.iter().map(|figure| (figure.metric.clone(), figure.outcome)).collect();
    for figure in figures.iter_mut() {
        let other = figure.same_fact_as.as_ref().filter(|_| figure.reason.is_none());
        let found = other.and_then(|other| verdicts.iter().find(|(metric, _)| metric == other));
        if let Some((_, outcome)) = found {
            figure.outcome = *outcome;
        }
    }
}

fn outcome(figure: &Figure, threshold: Option<f64>) -> Outcome {
    let Figure { metric, a, difference, change, interval, .. } = figure;
    let is_large = |threshold: f64| change.is_none_or(|change| change.abs() > threshold);
    let is_beyond = match (interval, threshold) {
        _ if *difference == 0.0 => false,
        (Some(interval), _) if interval.contains(0.0) => false,
        (Some(interval), None) => {
            let allowed = NEGLIGIBLE * a.mean.abs();
            interval.low < -allowed || interval.high > allowed
        }
        (_, threshold) => is_large(threshold.unwrap_or(THRESHOLD)),
    };
    match find(metric).and_then(|metric| metric.better) {
        _ if !is_beyond => Outcome::Same,
        None => Outcome::Different,
        Some(Better::Higher) if *difference > 0.0 => Outcome::Better,
        Some(Better::Lower) if *difference < 0.0 => Outcome::Better,
        Some(_) => Outcome::Worse,
    }
}
