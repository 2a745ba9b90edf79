//! Fits: a drive model from measured runs.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use pyo3::prelude::*;
use result::schema::Run;
use result::store::{RunDir, StoreError};
use session::pool::Limits;
use study::fit::{self, Question};

use crate::background;
use crate::errors::Failure;

/// The question, as the Python side asks it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    runs: Vec<PathBuf>,
    hold_out: Vec<PathBuf>,
    base: String,
    known: Vec<String>,
    scale: String,
    tolerance: f64,
    seed: u64,
    jobs: Option<u32>,
}

impl Asked {
    fn answer(&self, stop: &AtomicBool, ended: Sender<usize>) -> Result<fit::Fit, Failure> {
        let read = |paths: &[PathBuf]| {
            let runs = paths.iter().map(|path| Ok(RunDir::open(path)?.run().clone()));
            runs.collect::<Result<Vec<Run>, StoreError>>()
        };
        let (runs, hold_out) = (read(&self.runs)?, read(&self.hold_out)?);
        let scale =
            self.scale.parse().map_err(|error| Failure::usage(format!("`scale`: {error}")))?;
        let question = Question {
            runs: &runs,
            hold_out: &hold_out,
            base: &self.base,
            known: &self.known,
            scale,
            tolerance: self.tolerance,
            seed: self.seed,
        };
        let note = |more| _ = ended.send(more);
        Ok(fit::fit(&question, Limits::new(self.jobs), stop, &note)?)
    }
}

/// Fits a model; the answer as JSON.
#[pyfunction]
pub(crate) fn fit_model(
    py: Python<'_>,
    asked: Asked,
    observer: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut count = 0;
    let observe = |py: Python<'_>, more: usize| {
        count += more;
        observer.as_ref().map_or(Ok(()), |observer| observer.call1(py, (count,)).map(drop))
    };
    let work = |stop: &_, ended| asked.answer(stop, ended);
    let background::Outcome { result, stopped_by } =
        background::carry_out(py, work, observe, |_| ());
    stopped_by.map_or(Ok(()), Err)?;
    Ok(serde_json::to_string(&result?).map_err(Failure::from)?)
}

/// The model file of an answer.
#[pyfunction]
pub(crate) fn fit_toml(answer: &str, name: &str) -> PyResult<String> {
    let fit: fit::Fit = serde_json::from_str(answer).map_err(Failure::from)?;
    Ok(fit.to_toml(name))
}

/// Write amplification of uniform random writes, see [`fit::write_amplification`].
#[pyfunction]
pub(crate) fn write_amplification(alpha: f64) -> f64 {
    fit::write_amplification(alpha)
}
