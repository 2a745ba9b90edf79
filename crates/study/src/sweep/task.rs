//! One run of a sweep: a request without state, and its outcome.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Bytes;
use base::text::shortened;
use result::bench::FigureMark;
use result::schema::{Mark, Request, RunStatus, Setting};
use run::RunError;
use serde::{Deserialize, Serialize};
use target::TargetSpec;

use super::design::{Point, points};
use super::spec::{Spec, text, usage};
use crate::simulate::{simulate, temporary_library};
use session::pool::Demand;
use session::request;
use session::targets::{self, Requirements};

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its number, from 0 on.
    pub number: u64,
    /// The run.
    pub request: Request,
}

/// The outcome of a task. It depends on the task alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The number of the task.
    pub number: u64,
    /// The error, or `None` if the run is complete.
    pub error: Option<String>,
    /// The figures that are known.
    #[serde(with = "exact")]
    pub metrics: BTreeMap<String, f64>,
    /// The marks of figures that are not what their names say, or unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<FigureMark>,
}

/// Figures as texts: the shortest that are read back as the same number to the last bit, which the
/// numbers of `serde_json` are not. An outcome is the same however it was passed on.
mod exact {
    use std::collections::BTreeMap;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        metrics: &BTreeMap<String, f64>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let texts = metrics.iter().map(|(name, value)| (name, value.to_string()));
        texts.collect::<BTreeMap<_, _>>().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<String, f64>, D::Error> {
        let texts = BTreeMap::<String, String>::deserialize(from)?;
        let number =
            |(name, text): (String, String)| Ok((name, text.parse().map_err(D::Error::custom)?));
        texts.into_iter().map(number).collect()
    }
}

impl Spec {
    /// The tasks that are known before any run, in their order: all, or the first round of an adaptive
    /// design.
    ///
    /// # Errors
    /// [`RunError::Usage`] for a value that no run has.
    pub fn tasks(&self) -> Result<Vec<Task>, RunError> {
        let points = points(self)?;
        (0..points.len() as u64 * u64::from(self.repeat))
            .map(|number| self.task(&points, number))
            .collect()
    }

    /// The task of this number; `points` reach as far.
    pub(super) fn task(&self, points: &[Point], number: u64) -> Result<Task, RunError> {
        let repeat = u64::from(self.repeat);
        let point = usize::try_from(number / repeat).ok().and_then(|place| points.get(place));
        let point = point.ok_or_else(|| usage(format!("there is no task {number}")))?;
        Ok(Task { number, request: self.request(point, number % repeat)? })
    }

    fn request(&self, values: &Point, repetition: u64) -> Result<Request, RunError> {
        let fixed = self.fixed.iter().map(|(name, value)| Ok((name.clone(), text(name, value)?)));
        let mut all: BTreeMap<_, _> = fixed.collect::<Result<_, RunError>>()?;
        all.extend(self.vary.keys().cloned().zip(values.iter().cloned()));
        let drive = all.remove("drive");
        let drive = drive.ok_or_else(|| usage("`drive` names no drive model".to_owned()))?;
        let test = all.remove("test").unwrap_or_else(|| "consistency".to_owned());
        let seed = all.remove("seed").map_or(Ok(1), |seed| seed.parse::<u64>());
        let seed = seed.map_err(|error| usage(format!("`seed`: {error}")))?;
        let span = all.remove("span").map(|span| span.parse::<Bytes>()).transpose();
        let span = span.map_err(|error| usage(format!("`span`: {error}")))?;
        let spare = all.remove("spare").filter(|spare| spare != "default");
        let (settings, keys): (BTreeMap<_, _>, BTreeMap<_, _>) =
            all.into_iter().partition(|(name, _)| name.starts_with("set."));
        Ok(Request {
            spare,
            span_bytes: span.map(|bytes| bytes.0),
            settings: settings.into_iter().map(setting).collect(),
            seed: seed.wrapping_add(repetition),
            ..request::plain(&test, &target(&drive, &keys)?)
        })
    }
}

fn setting((name, value): (String, String)) -> Setting {
    Setting { name: name.trim_start_matches("set.").to_owned(), value }
}

/// The target string of a drive with changed values.
fn target(drive: &str, keys: &BTreeMap<String, String>) -> Result<String, RunError> {
    let pairs: Vec<_> = keys.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if let Some(bad) =
        pairs.iter().chain([&drive.to_owned()]).find(|it| it.contains(['&', '?', '#']))
    {
        return Err(usage(format!("`{}` cannot stand in a target string", shortened(bad))));
    }
    let mark = if pairs.is_empty() { "" } else { "?" };
    Ok(format!("sim:{}{mark}{}", drive.trim_start_matches("sim:"), pairs.join("&")))
}

impl Task {
    /// Its demands beside other tasks.
    ///
    /// # Errors
    /// [`RunError::Usage`] if there is no such drive.
    pub fn demand(&self) -> Result<Demand, RunError> {
        let spec: TargetSpec = self.request.target.parse()?;
        let inspection = targets::inspect(vec![spec.clone()], Requirements::READ)?;
        let inspected = inspection.target(&spec)?;
        Ok(Demand {
            is_simulated: spec.kind().is_simulated(),
            memory_bytes: inspected.memory_bytes,
            length: inspected.identity.capacity_bytes,
            batch: 0,
            lane: 0,
        })
    }

    /// Carries the task out; `None` if `stop` ended it. The run directory goes into `runs`, or is
    /// removed. A run that cannot be done is an outcome: the other points do not depend on it.
    ///
    /// # Errors
    /// If there is no place for the run directory.
    pub fn carry_out(
        &self,
        runs: Option<&Path>,
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, RunError> {
        let temporary = if runs.is_none() { Some(temporary_library()?) } else { None };
        let library =
            runs.or(temporary.as_ref().map(tempfile::TempDir::path)).unwrap_or(Path::new("."));
        let done = self.run(library, stop);
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let failed = |error: RunError| Outcome {
            number: self.number,
            error: Some(error.to_string()),
            metrics: BTreeMap::new(),
            marks: Vec::new(),
        };
        Ok(Some(done.unwrap_or_else(failed)))
    }

    /// The outcome of the run, complete or not.
    fn run(&self, library: &Path, stop: &AtomicBool) -> Result<Outcome, RunError> {
        let outcome = simulate(&self.request, library, stop)?;
        let metrics = outcome.run.metrics.iter();
        let metrics = metrics.filter_map(|(name, value)| Some((name.clone(), (*value)?)));
        let marks = outcome.run.marks.iter().filter(|mark| mark.kind.disqualifies());
        let of_figure = |mark: &Mark| FigureMark { metric: mark.metric.clone(), kind: mark.kind };
        let (number, marks) = (self.number, marks.map(of_figure).collect());
        let metrics = metrics.collect();
        let incomplete = (outcome.run.status != RunStatus::Complete).then(|| {
            let words = outcome.failure.map(|error| error.to_string());
            words.unwrap_or_else(|| "the run is not complete".to_owned())
        });
        Ok(Outcome { number, error: incomplete, metrics, marks })
    }
}

#[cfg(test)]
mod tests {
    use result::schema::MarkKind;

    use super::*;

    #[test]
    fn an_outcome_is_passed_on_to_the_last_bit() {
        let mut rng = base::Rng::new(7);
        for number in 0..2000 {
            let value = f64::from_bits(rng.next_u64());
            let value = if value.is_finite() { value } else { 0.1 };
            let metrics = BTreeMap::from([("waf".to_owned(), value)]);
            let marks = vec![FigureMark { metric: "waf".to_owned(), kind: MarkKind::Scale }];
            let outcome = Outcome { number, error: None, metrics, marks };
            let text = serde_json::to_string(&outcome).unwrap();
            assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome, "{text}");
        }
    }
}
