//! The figures of repeated runs: mean, median and interval.

use serde::Serialize;

use super::bootstrap::{Interval, mean};
use super::remarks::remarks;
use super::{Values, names};
use crate::schema::Run;

/// Chance of a mean beyond each end of an interval: 95 of 100 intervals contain it.
const CHANCE: f64 = 0.025;

/// A figure of repeated runs.
#[derive(Clone, Debug, Serialize)]
pub struct RepeatedFigure {
    /// Name of the metric.
    pub metric: String,
    /// Its values over the runs.
    pub values: Values,
    /// The interval of the mean, or `None` with a single run.
    pub interval: Option<Interval>,
    /// Warnings about the values, each with the number of its runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
}

/// The figures that all of these runs have, in the order of the catalogue.
pub fn repeated(runs: &[&Run], seed: u64) -> Vec<RepeatedFigure> {
    let of = |metric: String| {
        let value = |run: &&Run| run.metrics.get(&metric).copied().flatten();
        let values: Vec<f64> = runs.iter().filter_map(value).collect();
        let (interval, marks) = (mean(&values, CHANCE, seed), remarks(runs, &metric));
        RepeatedFigure { values: Values::of(&values), interval, marks, metric }
    };
    names(runs, &[], &[]).into_iter().map(of).collect()
}
