//! One run directory as a row of the library and as a packed file.

use std::collections::BTreeMap;

use base::Identity;
use serde::{Deserialize, Serialize};

use super::{FigureMark, LibraryRun, RunCandidate};
use crate::report::{RunView, packed, view};
use crate::store::RunDir;

/// Properties of a target that decide a comparison; the packed file has all of them.
const DETAILS: [&str; 2] = ["host", "scale"];

/// A run as an index keeps it: the row of the library, with target and parameters of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The row, without places in a library.
    pub run: LibraryRun,
    /// The measured target.
    #[serde(deserialize_with = "crate::schema::measured")]
    pub target: Identity,
    /// Resolved parameters.
    pub config: BTreeMap<String, serde_json::Value>,
}

/// A sound run in the form of the Bench.
#[derive(Clone, Debug)]
pub struct Digest {
    pub row: Row,
    /// The JSON of a [`RunView`] as a zlib stream.
    pub packed: Vec<u8>,
}

impl Digest {
    /// Reads a run directory whole, and checks it.
    ///
    /// # Errors
    /// The obstacle in words, without the path of the library: readers of the Bench see it.
    pub fn of(found: &RunCandidate) -> Result<Self, String> {
        if let Some(obstacle) = &found.obstacle {
            return Err(obstacle.clone());
        }
        let whole = |error: &dyn std::error::Error| {
            error.to_string().replace(&*found.path.to_string_lossy(), &found.name)
        };
        let dir = RunDir::open(&found.path).map_err(|error| whole(&error))?;
        dir.check().map_err(|error| whole(&error))?;
        let view = view(&dir).map_err(|error| whole(&error))?;
        Self::of_view(&found.name, view).map_err(|error| whole(&error))
    }

    fn of_view(name: &str, mut view: RunView) -> Result<Self, serde_json::Error> {
        // A copy of a run directory is a run of its own.
        name.clone_into(&mut view.run_id);
        Ok(Self { packed: packed(&view)?, row: row(&view) })
    }
}

fn row(view: &RunView) -> Row {
    let known = |(name, value): (&String, &Option<f64>)| Some((name.clone(), (*value)?));
    let marks = view.marks.iter();
    let run = LibraryRun {
        name: view.run_id.clone(),
        suite_version: view.suite_version,
        test: view.test.clone(),
        status: view.status,
        started: view.started.clone(),
        drive: 0,
        conditions: 0,
        quick: view.quick,
        span: view.span.clone(),
        figures: view.metrics.iter().filter_map(known).collect(),
        marks: marks
            .map(|mark| FigureMark { metric: mark.metric.clone(), kind: mark.kind })
            .collect(),
        origin: view.origin.clone(),
        outcome: view.verdict.as_ref().map(|verdict| verdict.outcome),
    };
    Row { run, target: compared(&view.target), config: view.config.clone() }
}

/// The target with what tells drives apart and decides a comparison.
fn compared(target: &Identity) -> Identity {
    let mut target = target.clone();
    target.engine.clear();
    target.details.retain(|key, _| DETAILS.contains(&key.as_str()));
    target
}
