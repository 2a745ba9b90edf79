//! Sweeps: their tasks as documents, the book of outcomes, and all of them on the threads of this process.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use run::RunError;
use session::pool::Limits;
use study::sweep::{self, Outcome, Task};

use crate::background;
use crate::errors::Failure;

/// The directory of a sweep.
#[pyclass(frozen, module = "ssdlab._native")]
pub(crate) struct Book {
    book: Mutex<sweep::Book>,
    demands: Mutex<sweep::Demands>,
}

impl Book {
    fn book(&self) -> MutexGuard<'_, sweep::Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn demands(&self) -> MutexGuard<'_, sweep::Demands> {
        self.demands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Book {
    #[new]
    fn new(py: Python<'_>, dir: PathBuf, text: &str) -> PyResult<Self> {
        let book = py.detach(|| sweep::Book::open(&dir, text)).map_err(Failure::from)?;
        Ok(Self { book: Mutex::new(book), demands: Mutex::default() })
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.book().len())
    }

    /// Whether this task has an outcome.
    fn has(&self, py: Python<'_>, number: u64) -> bool {
        py.detach(|| self.book().has(number))
    }

    /// The number of outcomes so far.
    fn noted(&self, py: Python<'_>) -> usize {
        py.detach(|| self.book().outcomes().count())
    }

    /// The numbers of the tasks without an outcome, of one round if the design has rounds.
    fn pending(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        Ok(py.detach(|| self.book().pending()).map_err(Failure::from)?)
    }

    /// A task as JSON.
    fn task(&self, py: Python<'_>, number: u64) -> PyResult<String> {
        let text = py.detach(|| {
            let task = self.book().task(number)?;
            Ok::<_, Failure>(serde_json::to_string(&task)?)
        });
        Ok(text?)
    }

    /// The most memory that the drive of one of these tasks takes; 0 if none of them exists.
    fn memory_bytes(&self, py: Python<'_>, numbers: Vec<u64>) -> PyResult<u64> {
        let most = py.detach(|| {
            let (book, mut demands) = (self.book(), self.demands());
            let memory_bytes = |number| {
                let demand = demands.of(&book.task(number)?);
                Ok(demand.map_or(0, |demand| demand.memory_bytes))
            };
            numbers.into_iter().map(memory_bytes).collect::<Result<Vec<_>, RunError>>()
        });
        Ok(most.map_err(Failure::from)?.into_iter().max().unwrap_or(0))
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

    /// Carries out every task without an outcome on the threads of this process; `observer` gets the number of
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
        let work = |stop: &AtomicBool, ended: std::sync::mpsc::Sender<()>| {
            while !stop.load(Ordering::Relaxed) {
                let round = sweep::round(&self.book)?;
                if round.is_empty() {
                    break;
                }
                let demands = sweep::demands(&round)?;
                let note = |_: &_, _: &_| _ = ended.send(());
                sweep::carry_out(&round, &demands, Limits::new(jobs), stop, &self.book, note)?;
            }
            Ok::<_, RunError>(())
        };
        let background::Outcome { result, stopped_by } =
            background::carry_out(py, work, observe, |_| ());
        stopped_by.map_or(Ok(()), Err)?;
        Ok(result.map_err(Failure::from)?)
    }
}

/// Free memory of this machine.
#[pyfunction]
pub(crate) fn free_memory_bytes() -> u64 {
    Limits::new(None).memory_bytes()
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
        background::carry_out(py, work, |_, ()| Ok(()), |_| ());
    stopped_by.map_or(Ok(()), Err)?;
    let outcome = result.map_err(Failure::from)?;
    let outcome = outcome.ok_or_else(|| Failure::usage("the task was stopped"))?;
    Ok(serde_json::to_string(&outcome).map_err(Failure::from)?)
}

/// The version whose outcomes are the same on every machine.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    run::TOOL_VERSION
}
