//! The verdict on a fingerprint, from the runs of its cells.

use std::fmt;

use crate::claim::{Fingerprint, Measurement};
use crate::expectation::Values;
use crate::store::Runs;

/// Whether a claim holds for the simulated drives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All expectations hold, or as many as the claim demands.
    Holds,
    /// Too many do not.
    DoesNotHold,
    /// There is no figure, for this reason.
    NotTested(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => f.write_str("holds"),
            Self::DoesNotHold => f.write_str("does not hold"),
            Self::NotTested(reason) => write!(f, "not tested: {reason}"),
        }
    }
}

/// A fingerprint with its figures.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The figures, as far as they are known.
    pub values: Values,
    /// The verdict.
    pub verdict: Verdict,
    /// The expectations that do not hold.
    pub failed: Vec<String>,
}

/// Judges a fingerprint at a scale, or at full size with `None`.
#[must_use]
pub fn judge(fingerprint: &Fingerprint, scale: Option<&str>, runs: &Runs) -> Judged {
    let measurements: Vec<_> = fingerprint.measurements(scale).collect();
    judge_of(fingerprint, &measurements, runs)
}

/// The same for these figures.
pub(crate) fn judge_of(
    fingerprint: &Fingerprint,
    measurements: &[(&String, Measurement)],
    runs: &Runs,
) -> Judged {
    let mut values = Values::new();
    let mut reason = None;
    for (name, measurement) in measurements {
        match value(measurement, runs) {
            Ok(value) => {
                values.insert((*name).clone(), value);
            }
            Err(message) => reason = reason.or(Some(message)),
        }
    }
    if let Some(reason) = reason {
        return Judged { values, verdict: Verdict::NotTested(reason), failed: Vec::new() };
    }
    let all = &fingerprint.expectations;
    let failed: Vec<_> = all.iter().filter(|expectation| !expectation.holds(&values)).collect();
    let holds = (all.len() - failed.len()) as f64 >= fingerprint.share.as_f64() * all.len() as f64;
    let verdict = if holds { Verdict::Holds } else { Verdict::DoesNotHold };
    Judged { values, verdict, failed: failed.iter().map(ToString::to_string).collect() }
}

fn value(measurement: &Measurement, runs: &Runs) -> Result<Option<f64>, String> {
    let Measurement { cell, figure } = measurement;
    match runs.get(cell) {
        Some(Ok(dir)) => figure.of(dir, cell.time_scale()).map_err(|error| error.to_string()),
        Some(Err(reason)) if reason == "no model" => Err(format!("no model of {}", cell.drive)),
        Some(Err(reason)) => Err(format!("{}: {reason}", cell.drive)),
        None => Err("not run".to_owned()),
    }
}
