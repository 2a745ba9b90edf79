//! Run directories and libraries: as documents in JSON.

use std::path::PathBuf;

use pyo3::prelude::*;
use result::compare::{Across, Question, compare as judge};
use result::schema::Run;
use result::store::{self, RunDir, StoreError};

use crate::errors::Failure;

/// A run of a library: name, path, `run.json` or the error against it.
type Entry = (String, PathBuf, Option<String>, Option<String>);

/// The `run.json` of a run directory, as this version understands it.
#[pyfunction]
pub(crate) fn run_json(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let text = py.detach(|| document(&RunDir::open(&path)?));
    Ok(text?)
}

fn document(dir: &RunDir) -> Result<String, Failure> {
    Ok(serde_json::to_string(dir.run())?)
}

/// The run directory of a name within a library: a path, `latest`, a run id or its beginning.
#[pyfunction]
pub(crate) fn resolve_run(library: PathBuf, name: &str) -> PyResult<PathBuf> {
    Ok(store::resolve_run(&library, name).map_err(Failure::from)?)
}

/// Every run of a library, the oldest first.
#[pyfunction]
pub(crate) fn list_runs(py: Python<'_>, library: PathBuf) -> PyResult<Vec<Entry>> {
    let entry = |entry: store::LibraryEntry| {
        let read = entry.run.map_err(Failure::from).and_then(|dir| document(&dir));
        let (text, error) = match read {
            Ok(text) => (Some(text), None),
            Err(failure) => (None, Some(failure.message)),
        };
        (entry.name, entry.path, text, error)
    };
    let listed = py.detach(|| {
        let entries = store::list(&library)?;
        Ok::<_, StoreError>(entries.into_iter().map(entry).collect())
    });
    Ok(listed.map_err(Failure::from)?)
}

/// Is B worse than A? The comparisons as JSON.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    a: Vec<PathBuf>,
    b: Vec<PathBuf>,
    threshold: Option<f64>,
    metrics: Vec<String>,
    seed: u64,
    across: Option<String>,
) -> PyResult<String> {
    let text = py.detach(|| {
        let across: Option<Across> = across
            .map(|name| name.parse())
            .transpose()
            .map_err(|error: String| Failure::usage(format!("across: {error}")))?;
        let read = |paths: &[PathBuf]| {
            let runs = paths.iter().map(|path| Ok(RunDir::open(path)?.run().clone()));
            runs.collect::<Result<Vec<Run>, StoreError>>()
        };
        let (a, b) = (read(&a)?, read(&b)?);
        let (a, b): (Vec<_>, Vec<_>) = (a.iter().collect(), b.iter().collect());
        let compared = judge(&a, &b, &Question { threshold, metrics, seed, across });
        let compared = compared.map_err(|error| Failure::usage(error.to_string()))?;
        Ok::<_, Failure>(serde_json::to_string(&compared)?)
    });
    Ok(text?)
}
