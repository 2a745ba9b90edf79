//! Errors as exceptions, with the word and the exit code of the program.

use std::error::Error;

use load::trace::TraceError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use result::store::StoreError;
use run::RunError;
use session::exit::{self, EXIT_USAGE};
use target::TargetError;

/// An error with its word and exit code, before it is an exception.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) reason: String,
    pub(crate) exit_code: u8,
    pub(crate) message: String,
}

impl Failure {
    /// An argument that cannot be used.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { reason: "usage".to_owned(), exit_code: EXIT_USAGE, message: message.into() }
    }

    fn new((reason, exit_code): (&'static str, u8), error: &dyn Error) -> Self {
        Self { reason: reason.to_owned(), exit_code, message: message(error) }
    }

    /// The exception, as `ssdlab._errors.exception` makes it.
    pub(crate) fn exception(&self, py: Python<'_>) -> PyErr {
        static MAKER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let maker = MAKER.get_or_try_init(py, || {
            py.import("ssdlab._errors")?.getattr("exception").map(Bound::unbind)
        });
        let made = maker
            .and_then(|maker| maker.bind(py).call1((&self.message, &self.reason, self.exit_code)));
        match made {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    }
}

/// The error with its causes; a cause that the error repeats already is omitted.
fn message(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    text
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| failure.exception(py))
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Self::new(exit::of_target(&error), &error)
    }
}

impl From<&RunError> for Failure {
    fn from(error: &RunError) -> Self {
        Self::new(exit::of_run(error), error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::from(&error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::new(exit::of_store(&error), &error)
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::new(exit::of_trace(&error), &error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::usage(error.to_string())
    }
}
