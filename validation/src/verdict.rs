//! The verdict on a fingerprint, from the runs of its cells.

use std::collections::BTreeSet;
use std::fmt;

use crate::claim::{Fingerprint, Measurement};
use crate::expectation::NamedValues;
use crate::record::{FigureOrigin, FigureRecord};
use crate::store::Runs;

/// Whether a claim holds for the simulated drives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All expectations hold.
    Holds,
    /// Some do not.
    DoesNotHold,
    /// Some figures are of an earlier version; with those, all expectations held or not.
    Stale { held: bool },
    /// There is no figure, for this reason.
    NotTested(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => f.write_str("holds"),
            Self::DoesNotHold => f.write_str("does not hold"),
            Self::Stale { held: true } => f.write_str("stale: it held"),
            Self::Stale { held: false } => f.write_str("stale: it did not hold"),
            Self::NotTested(reason) => write!(f, "not tested: {reason}"),
        }
    }
}

/// A fingerprint with its figures.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The figures, as far as they are known.
    pub values: NamedValues,
    pub verdict: Verdict,
    /// The expectations that do not hold.
    pub failed: Vec<String>,
    /// The origins of the figures that are not of a run but of the record.
    pub origins: BTreeSet<FigureOrigin>,
}

/// Judges a fingerprint by its runs.
pub fn judge(fingerprint: &Fingerprint, runs: &Runs) -> Judgement {
    judge_or_recall(fingerprint, runs, &FigureRecord::default())
}

/// Judges a fingerprint by the record where there is no run.
pub fn judge_or_recall(fingerprint: &Fingerprint, runs: &Runs, record: &FigureRecord) -> Judgement {
    let (mut values, mut origins) = (NamedValues::new(), BTreeSet::new());
    let mut reason = None;
    for (name, measurement) in &fingerprint.figures {
        let recalled = || record.recall(&fingerprint.id, name, &measurement.cell);
        match value(measurement, runs) {
            Ok(value) => {
                values.insert(name.clone(), value);
            }
            Err(message) => match recalled() {
                Some(recalled) => {
                    values.insert(name.clone(), recalled.value);
                    origins.insert(recalled.origin);
                }
                None => reason = reason.or(Some(message)),
            },
        }
    }
    if let Some(reason) = reason {
        let verdict = Verdict::NotTested(reason);
        return Judgement { values, verdict, failed: Vec::new(), origins };
    }
    let all = &fingerprint.expectations;
    let failed: Vec<_> = all.iter().filter(|expectation| !expectation.holds(&values)).collect();
    let verdict = match failed.is_empty() {
        held if !origins.is_empty() => Verdict::Stale { held },
        true => Verdict::Holds,
        false => Verdict::DoesNotHold,
    };
    Judgement { values, verdict, failed: failed.iter().map(ToString::to_string).collect(), origins }
}

/// Notes the figures of a fingerprint that runs give, with the version of the program.
pub fn note(fingerprint: &Fingerprint, runs: &Runs, record: &mut FigureRecord, version: &str) {
    for (name, measurement) in &fingerprint.figures {
        if let Ok(value) = value(measurement, runs) {
            record.note(&fingerprint.id, name, &measurement.cell, value, version);
        }
    }
}

fn value(measurement: &Measurement, runs: &Runs) -> Result<Option<f64>, String> {
    let Measurement { cell, figure } = measurement;
    match runs.get(cell) {
        Some(Ok(dir)) => figure.of(dir, cell).map_err(|error| error.to_string()),
        Some(Err(reason)) if reason == "no model" => Err(format!("no model of {}", cell.drive)),
        Some(Err(reason)) => Err(format!("{}: {reason}", cell.drive)),
        None => Err("not run".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Theme;

    #[test]
    fn a_claim_without_runs_is_judged_by_the_record_and_says_its_version() {
        let text = "heading = 'h'\n[[fingerprint]]\nid = 'x'\nclaim = 'c'\nsource = 's'\n\
                    role = 'predicted'\ndrive = 'crucial-m4-128gb'\ntest = 'linear'\nexpect = ['rate > 100']\n\
                    figures.rate = { mb_per_s = 'mean', phase = 'write' }\n";
        let theme = Theme::read("x", text).unwrap();
        let fingerprint = &theme.fingerprints[0];
        let cell = &fingerprint.figures["rate"].cell;
        let verdict = |record: &FigureRecord| judge_or_recall(fingerprint, &Runs::new(), record);
        let mut record = FigureRecord::default();
        assert!(matches!(verdict(&record).verdict, Verdict::NotTested(_)));
        record.note("x", "rate", &cell.with_value("gc.free_low", "4"), Some(90.0), "one");
        let judged = verdict(&record);
        assert_eq!(judged.verdict, Verdict::Stale { held: false });
        assert!(judged.origins.iter().all(|origin| origin.is_of_another_model));
        record.note("x", "rate", cell, Some(175.0), "two");
        let judged = verdict(&record);
        assert_eq!((judged.verdict, judged.origins.len()), (Verdict::Stale { held: true }, 1));
        assert!(judged.origins.iter().all(|origin| !origin.is_of_another_model));
    }
}
