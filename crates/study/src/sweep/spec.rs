//! The description of a sweep.

use std::collections::BTreeMap;

use base::Bytes;
use base::text::{close_to, shortened_words};
use run::RunError;
use serde::Deserialize;
use toml::Value;

/// The most points of a sweep.
const POINTS_MAX: u64 = 1_000_000;
/// The most bytes of the texts of all runs; those of a million points of ten values take half.
const TEXT_BYTES_MAX: u64 = 1 << 30;
/// Memory of a text beside its bytes.
const TEXT_BYTES: u64 = 40;

/// A sweep, as its file describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Choice of the points.
    #[serde(default)]
    pub design: Design,
    /// Points of a design that draws them, or `None` for a grid.
    pub points: Option<u64>,
    /// The figure that an adaptive design resolves, or `None` for other designs.
    pub goal: Option<String>,
    /// Points of a round of an adaptive design, or `None` for 20.
    pub round: Option<u64>,
    /// Seed of the choice of points.
    #[serde(default = "one")]
    pub seed: u64,
    /// Runs of each point, each with the next seed.
    #[serde(default = "once")]
    pub repeat: u32,
    /// Whether the run directories are kept in `runs/`; otherwise only their figures are.
    #[serde(default)]
    pub keep_runs: bool,
    /// The figures to keep; empty for all.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// The values that all points share.
    #[serde(default)]
    pub fixed: BTreeMap<String, Value>,
    /// The values that differ.
    pub vary: BTreeMap<String, Axis>,
}

fn one() -> u64 {
    1
}

fn once() -> u32 {
    1
}

/// The choice of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Every combination.
    #[default]
    Grid,
    /// Points drawn independently and evenly.
    Random,
    /// A Latin hypercube: each axis is cut into as many parts as there are points, and every part
    /// has one point (McKay, Beckman and Conover 1979).
    Lhs,
    /// Rounds of points, the first a Latin hypercube, the others where the goal is predicted worst.
    Adaptive,
}

/// Points of a round of an adaptive design that does not say how many.
const ROUND: u64 = 20;

/// The most points of an adaptive design, which compares each with each.
const ADAPTIVE_MAX: u64 = 10_000;

/// The values of one axis.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Axis {
    /// These values.
    Listed(Vec<Value>),
    /// An interval.
    Range(Range),
}

/// An interval of numbers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Its first value.
    pub from: Value,
    /// Its last value.
    pub to: Value,
    /// Number of values in a grid; absent in designs that draw points.
    pub steps: Option<u32>,
    /// Whether the values are even in their logarithm.
    #[serde(default)]
    pub log: bool,
}

impl Spec {
    /// Reads a description.
    ///
    /// # Errors
    /// [`RunError::Usage`] with the place of the fault.
    pub fn parse(text: &str) -> Result<Self, RunError> {
        let spec: Self =
            toml::from_str(text).map_err(|error| usage(shortened_words(&error.to_string())))?;
        spec.check()?;
        Ok(spec)
    }

    fn check(&self) -> Result<(), RunError> {
        if self.vary.is_empty() {
            return Err(usage("[vary] names no value; a sweep needs at least one".to_owned()));
        }
        if let Some(twice) = self.vary.keys().find(|name| self.fixed.contains_key(*name)) {
            return Err(usage(format!("`{twice}` is in [fixed] and in [vary]; leave one away")));
        }
        let mut wanted = self.metrics.iter().chain(&self.goal);
        if let Some(unknown) = wanted.find(|name| result::metrics::find(name).is_none()) {
            let known = result::metrics::catalogue().iter().map(|metric| metric.name.as_str());
            return Err(usage(format!(
                "there is no metric `{unknown}`{}; docs/reference/metrics.md lists all of them",
                close_to(unknown, known)
            )));
        }
        for (name, axis) in &self.vary {
            axis.check(name, self.design)?;
        }
        if self.repeat == 0 {
            return Err(usage("`repeat = 0` runs nothing; expected at least 1".to_owned()));
        }
        let runs = self.runs_count()?;
        if !(1..=POINTS_MAX).contains(&runs) {
            return Err(usage(format!("{runs} runs; expected 1 to {POINTS_MAX}")));
        }
        let texts = self.fixed.values().map(|value| text_bytes(std::slice::from_ref(value)));
        let texts = texts.chain(self.vary.values().map(Axis::text_bytes));
        let bytes = texts.fold(0, u64::saturating_add).saturating_mul(runs);
        if bytes > TEXT_BYTES_MAX {
            return Err(usage(format!(
                "the values of {runs} runs take {} of memory, and may take {}; expected fewer runs, fewer \
                 values or shorter texts",
                Bytes(bytes).rounded(),
                Bytes(TEXT_BYTES_MAX).rounded()
            )));
        }
        self.check_adaptive()
    }

    fn check_adaptive(&self) -> Result<(), RunError> {
        if self.design != Design::Adaptive {
            let given = [("goal", self.goal.is_some()), ("round", self.round.is_some())];
            return match given.iter().find(|(_, is_given)| *is_given) {
                Some((name, _)) => {
                    Err(usage(format!("`{name}` is for design = \"adaptive\"; leave it away")))
                }
                None => Ok(()),
            };
        }
        if self.goal.is_none() {
            return Err(usage(
                "an adaptive design needs a figure to resolve, e.g. goal = \"waf_steady\""
                    .to_owned(),
            ));
        }
        if self.round_length() == 0 {
            return Err(usage("`round = 0` adds no point; expected at least 1".to_owned()));
        }
        let points = self.points_count()?;
        if points > ADAPTIVE_MAX {
            return Err(usage(format!("{points} adaptive points; expected 1 to {ADAPTIVE_MAX}")));
        }
        let places = self.vary.values().map(Axis::places).fold(1, u64::saturating_mul);
        if points > places / 4 {
            return Err(usage(format!(
                "{points} adaptive points of {places} combinations; expected at most a quarter, or a grid"
            )));
        }
        Ok(())
    }

    /// Points of a round of an adaptive design.
    pub(super) fn round_length(&self) -> u64 {
        self.round.unwrap_or(ROUND)
    }

    /// Number of runs: the points, each with its repetitions.
    ///
    /// # Errors
    /// [`RunError::Usage`] if the design does not say how many points it has.
    pub fn runs_count(&self) -> Result<u64, RunError> {
        Ok(self.points_count()?.saturating_mul(self.repeat.into()))
    }

    /// Number of points.
    pub(super) fn points_count(&self) -> Result<u64, RunError> {
        match (self.design, self.points) {
            (Design::Grid, None) => {
                let lengths = self.vary.values().map(|axis| axis.grid_length());
                Ok(lengths.fold(1, u64::saturating_mul))
            }
            (Design::Grid, Some(points)) => Err(usage(format!(
                "`points = {points}` is not for a grid, which has every combination; leave it away, or \
                 choose design = \"random\", \"lhs\" or \"adaptive\""
            ))),
            (_, Some(points)) => Ok(points),
            (_, None) => Err(usage(
                "a design that draws its points needs their number, e.g. points = 100".to_owned(),
            )),
        }
    }
}

impl Axis {
    fn check(&self, name: &str, design: Design) -> Result<(), RunError> {
        match self {
            Self::Listed(values) if values.is_empty() => {
                Err(usage(format!("`{name}` lists no value")))
            }
            Self::Listed(values) => values.iter().try_for_each(|value| text(name, value).map(drop)),
            Self::Range(range) => range.check(name, design),
        }
    }

    /// Number of different values; many for an interval of fractions.
    fn places(&self) -> u64 {
        match self {
            Self::Listed(values) => values.len() as u64,
            Self::Range(range) if range.is_whole() => {
                range.ends().map_or(1, |(from, to)| ((to - from) as u64).saturating_add(1))
            }
            Self::Range(_) => u64::MAX,
        }
    }

    /// Memory of its longest text.
    fn text_bytes(&self) -> u64 {
        match self {
            Self::Listed(values) => text_bytes(values),
            Self::Range(_) => TEXT_BYTES,
        }
    }

    fn grid_length(&self) -> u64 {
        match self {
            Self::Listed(values) => values.len() as u64,
            Self::Range(range) => range.steps.unwrap_or(2).into(),
        }
    }
}

impl Range {
    /// First and last value.
    pub(super) fn ends(&self) -> Option<(f64, f64)> {
        let number = |value: &Value| match value {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        };
        number(&self.from).zip(number(&self.to))
    }

    /// Whether only whole numbers are meant.
    pub(super) fn is_whole(&self) -> bool {
        self.from.is_integer() && self.to.is_integer()
    }

    fn check(&self, name: &str, design: Design) -> Result<(), RunError> {
        let wrong = |rule: &str| usage(format!("`{name}`: {rule}"));
        let ends = self.ends().filter(|(from, to)| from.is_finite() && to.is_finite() && from < to);
        let Some((from, to)) = ends else {
            return Err(wrong("expected numbers with from < to; texts go into a list"));
        };
        if !(to - from).is_finite() {
            return Err(wrong("expected ends whose difference is a number"));
        }
        if self.log && from <= 0.0 {
            return Err(wrong("a logarithmic interval begins above 0"));
        }
        match (design, self.steps) {
            (Design::Grid, Some(2..)) => Ok(()),
            (Design::Random | Design::Lhs | Design::Adaptive, None) => Ok(()),
            (Design::Grid, _) => Err(wrong("an interval in a grid needs steps = 2 or more")),
            (_, Some(_)) => Err(wrong("`steps` is for a grid; this design draws its values")),
        }
    }
}

/// A value as the word of a target string or of a setting.
///
/// # Errors
/// [`RunError::Usage`] for a value that is neither text, number nor truth value.
pub(super) fn text(name: &str, value: &Value) -> Result<String, RunError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(is_true) => Ok(is_true.to_string()),
        other => Err(usage(format!(
            "`{name}` holds a {}; expected texts, numbers, true or false",
            other.type_str()
        ))),
    }
}

/// Memory of the longest of some texts.
fn text_bytes(values: &[Value]) -> u64 {
    let length = |value: &Value| value.as_str().map_or(0, str::len) as u64;
    values.iter().map(length).max().unwrap_or_default() + TEXT_BYTES
}

/// A fault of the description.
pub(super) fn usage(message: String) -> RunError {
    RunError::Usage(["sweep: ".to_owned(), message].concat())
}
