//! Figures that tell one fact: a rate in IOPS and in MB/s, or the mean latency at one queue depth.
//!
//! The catalogue says which figures may mirror each other ([`Metric::mirrors`]); the numbers of both
//! sides decide whether they do. Figures with equal values in all runs are one fact as well.

use super::values;
use crate::metrics::{Metric, Relation, Unit, find};
use crate::schema::Run;

/// Largest deviation from a relation, as a share: figures of a step begin and end within a second.
const TOLERANCE: f64 = 0.005;
/// From this mean size of commands on, the data rate is the figure that people read.
const LARGE_COMMAND_BYTES: f64 = 65_536.0;

/// For each of the names the place of the figure that stands for its fact, which may be its own.
pub(super) fn representatives(names: &[String], a: &[&Run], b: &[&Run]) -> Vec<usize> {
    let of_figure = |name: &String| [values(a, name), values(b, name)].concat();
    let all: Vec<Vec<f64>> = names.iter().map(of_figure).collect();
    let mut first: Vec<usize> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let is_same = |other: &usize| tells_the_same(name, &names[*other], &all[at], &all[*other]);
        let found = (0..at).find(|other| is_same(other)).map(|other| first[other]);
        first.push(found.unwrap_or(at));
    }
    let of_large_commands = |root: usize| {
        let rate =
            (0..names.len()).find(|at| first[*at] == root && unit(&names[*at]) == Unit::MbPerS);
        rate.filter(|rate| unit(&names[root]) == Unit::Iops && is_large(&all[*rate], &all[root]))
    };
    first.iter().map(|root| of_large_commands(*root).unwrap_or(*root)).collect()
}

fn unit(name: &str) -> Unit {
    find(name).map_or(Unit::Ratio, |metric| metric.unit)
}

fn is_large(mb_per_s: &[f64], iops: &[f64]) -> bool {
    let mut commands = mb_per_s.iter().zip(iops);
    commands.all(|(mb_per_s, iops)| mb_per_s * 1e6 >= iops * LARGE_COMMAND_BYTES)
}

/// Whether the figure `name` tells nothing that the `other` one does not, by their values in all
/// runs.
fn tells_the_same(name: &str, other: &str, values: &[f64], others: &[f64]) -> bool {
    let (Some(metric), Some(other_metric)) = (find(name), find(other)) else { return false };
    if values.len() != others.len() {
        return false;
    }
    let is_equal = metric.unit == other_metric.unit && metric.better == other_metric.better;
    if is_equal && values == others && values.iter().any(|value| *value != 0.0) {
        return true;
    }
    relation(metric, name, other).is_some_and(|relation| holds(relation, values, others))
}

/// The relation of a figure to the other one by the catalogue, or `None` without any.
fn relation(metric: &Metric, name: &str, other: &str) -> Option<Relation> {
    let before = name.rsplit_once('.').map(|(before, _)| format!("{before}."));
    let end = other.strip_prefix(before.unwrap_or_default().as_str())?;
    metric.mirrors.iter().find(|mirror| mirror.of == end).map(|mirror| mirror.relation)
}

fn holds(relation: Relation, values: &[f64], others: &[f64]) -> bool {
    let constant = |(value, other): (&f64, &f64)| match relation {
        Relation::Proportional => value / other,
        Relation::Inverse => value * other,
    };
    let constants: Vec<f64> = values.iter().zip(others).map(constant).collect();
    let (low, high) = constants
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    constants.iter().all(|value| value.is_finite() && *value > 0.0) && high - low <= TOLERANCE * low
}
