//! A figure as the user expects it: `iops_steady_mean >= 20000`.

use std::fmt;
use std::str::FromStr;

use base::Nanos;
use serde::Serialize;

use crate::metrics::{Unit, find};
use crate::schema::{MarkKind, Run};

/// A relation between a figure and a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// The relations by their signs; a longer sign stands before its beginning.
const SIGNS: [(&str, Relation); 4] = [
    (">=", Relation::AtLeast),
    ("<=", Relation::AtMost),
    (">", Relation::Above),
    ("<", Relation::Below),
];

/// An expected figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    metric: String,
    relation: Relation,
    limit: f64,
    text: String,
}

/// The answer of a run to an expectation.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Answer {
    /// The expectation as typed.
    pub expectation: String,
    /// The figure of the run, or `None` if it has none.
    pub value: Option<f64>,
    /// Whether the run meets the expectation; a figure that is missing or not what its name says
    /// meets none.
    pub is_met: bool,
    /// The reason why the figure meets no such expectation whatever its value, or `None` if its
    /// value decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// Warnings about the figure: two regimes, an unsteady state, and so on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
}

impl Expectation {
    /// The name of its metric.
    pub fn metric(&self) -> &str {
        &self.metric
    }

    /// The answer of a run.
    pub fn answer(&self, run: &Run) -> Answer {
        let value = run.metrics.get(&self.metric).copied().flatten();
        let is_within = value.is_some_and(|value| match self.relation {
            Relation::AtLeast => value >= self.limit,
            Relation::AtMost => value <= self.limit,
            Relation::Above => value > self.limit,
            Relation::Below => value < self.limit,
        });
        let of_figure = run.marks.iter().filter(|mark| mark.metric == self.metric);
        let marks = of_figure.clone().map(|mark| mark.text.clone()).collect();
        let obstacle = of_figure.clone().find(|mark| self.is_barred(mark.kind));
        let obstacle = obstacle.map(|mark| mark.text.clone());
        let is_met = is_within && obstacle.is_none();
        Answer { expectation: self.text.clone(), value, is_met, obstacle, marks }
    }

    /// Whether no figure with such a mark meets it. A figure that is at least its value may be above
    /// any limit.
    fn is_barred(&self, kind: MarkKind) -> bool {
        let is_upper = matches!(self.relation, Relation::AtMost | Relation::Below);
        kind.disqualifies() || kind == MarkKind::AtLeast && is_upper
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reason why a text is no expectation.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum ExpectationError {
    /// There is no relation.
    #[error(
        "`{0}` has none of >=, <=, > and <; expected METRIC >= VALUE such as 'iops_steady_mean >= 20000'"
    )]
    Relation(String),
    /// The catalogue has no such metric.
    #[error(
        "there is no metric `{0}`; docs/reference/metrics.md lists all of them, `ssdlab show RUN --format json` those of a run"
    )]
    Metric(String),
    /// The limit is no value of the metric.
    #[error("`{value}` is no value of {metric}; expected {expected}")]
    Value {
        /// Name of the metric.
        metric: String,
        /// The limit as typed.
        value: String,
        /// Values that would do.
        expected: &'static str,
    },
}

impl FromStr for Expectation {
    type Err = ExpectationError;

    fn from_str(text: &str) -> Result<Self, ExpectationError> {
        let parts = SIGNS.iter().find_map(|(sign, relation)| {
            let (metric, value) = text.split_once(sign)?;
            Some((metric.trim(), *relation, value.trim()))
        });
        let (metric, relation, value) =
            parts.ok_or_else(|| ExpectationError::Relation(text.to_owned()))?;
        let row = find(metric).ok_or_else(|| ExpectationError::Metric(metric.to_owned()))?;
        let limit = limit(value, row.unit).ok_or_else(|| ExpectationError::Value {
            metric: metric.to_owned(),
            value: value.to_owned(),
            expected: expected(row.unit),
        })?;
        Ok(Self { metric: metric.to_owned(), relation, limit, text: text.trim().to_owned() })
    }
}

/// A number in the unit of the metric, a time such as `5ms`, or a share in percent.
fn limit(text: &str, unit: Unit) -> Option<f64> {
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    let time = || text.parse::<Nanos>().ok().map(|time| time.0 as f64);
    number(text).or_else(|| match unit {
        Unit::Ns => time(),
        Unit::Us => time().map(|ns| ns / 1e3),
        Unit::S => time().map(|ns| ns / 1e9),
        Unit::Min => time().map(|ns| ns / 60e9),
        Unit::Share => text.strip_suffix('%').and_then(number).map(|percent| percent / 100.0),
        _ => None,
    })
}

fn expected(unit: Unit) -> &'static str {
    match unit {
        Unit::Ns => "a number of ns, or a time such as 5ms",
        Unit::Us | Unit::S | Unit::Min => "a number, or a time such as 5ms",
        Unit::Share => "a share from 0 to 1, or percent such as 5%",
        _ => "a number such as 20000",
    }
}
