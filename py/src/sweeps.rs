//! Sweeps: their tasks as documents, the book of outcomes, and all of them on the threads of this process.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use study::pool::Limits;
use study::sweep::{self, Outcome, Task};

use crate::background;
use crate::errors::Failure;

/// The directory of a sweep.
#[pyclass(frozen, module = "ssdlab._native")]
pub(crate) struct Book(Mutex<sweep::Book>);

impl Book {
    fn book(&self) -> MutexGuard<'_, sweep::Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Book {
    #[new]
    fn new(py: Python<'_>, dir: PathBuf, text: &str) -> PyResult<Self> {
        let book = py.detach(|| sweep::Book::open(&dir, text)).map_err(Failure::from)?;
        Ok(Self(Mutex::new(book)))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.book().len())
    }

    /// The tasks without an outcome, each as JSON.
    fn pending(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let texts = py.detach(|| {
            let pending = self.book().pending();
            pending.iter().map(serde_json::to_string).collect::<Result<_, _>>()
        });
        Ok(texts.map_err(Failure::from)?)
    }

    /// The place for run directories, or `None` if only figures are kept.
    fn runs_dir(&self, py: Python<'_>) -> Option<PathBuf> {
        py.detach(|| self.book().runs_dir().map(PathBuf::from))
    }

    /// Notes the outcome of a task.
    fn note(&self, py: Python<'_>, outcome: &str) -> PyResult<()> {
        let noted = py.detach(|| {
            let outcome: Outcome = serde_json::from_str(outcome)?;
            Ok::<_, Failure>(self.book().note(outcome)?)
        });
        Ok(noted?)
    }

    /// Writes the table; returns its path.
    fn write(&self, py: Python<'_>) -> PyResult<PathBuf> {
        Ok(py.detach(|| self.book().write()).map_err(Failure::from)?)
    }

    /// Carries out every pending task on the threads of this process; `observer` gets the number of
    /// outcomes of this call after each.
    fn carry_out(
        &self,
        py: Python<'_>,
        jobs: Option<u32>,
        observer: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let mut count = 0_usize;
        let observe = |py: Python<'_>, (): ()| {
            count += 1;
            observer.as_ref().map_or(Ok(()), |observer| observer.call1(py, (count,)).map(drop))
        };
        let work = |stop: &_, ended: std::sync::mpsc::Sender<()>| {
            let pending = self.book().pending();
            let demands = sweep::demands(&pending)?;
            let note = |_: &_, _: &_| _ = ended.send(());
            let limits = Limits::new(jobs);
            sweep::carry_out(&pending, &demands, limits, stop, &self.0, note)
        };
        let background::Outcome { result, stopped_by } = background::carry_out(py, work, observe);
        stopped_by.map_or(Ok(()), Err)?;
        Ok(result.map_err(Failure::from)?)
    }
}

/// Carries out one task, given as JSON; the outcome as JSON.
#[pyfunction]
pub(crate) fn carry_out_task(
    py: Python<'_>,
    task: &str,
    runs: Option<PathBuf>,
) -> PyResult<String> {
    let task: Task = serde_json::from_str(task).map_err(Failure::from)?;
    let work = |stop: &_, _: std::sync::mpsc::Sender<()>| task.carry_out(runs.as_deref(), stop);
    let background::Outcome { result, stopped_by } =
        background::carry_out(py, work, |_, ()| Ok(()));
    stopped_by.map_or(Ok(()), Err)?;
    let outcome = result.map_err(Failure::from)?;
    let outcome = outcome.ok_or_else(|| Failure::usage("the task was stopped"))?;
    Ok(serde_json::to_string(&outcome).map_err(Failure::from)?)
}
