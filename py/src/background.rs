//! Long work on a thread of its own, while the caller's thread answers Ctrl-C and reports progress.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use pyo3::prelude::*;

/// Time between two looks at the signals.
const LOOK: Duration = Duration::from_millis(50);

/// The outcome of work, and the exception that stopped it.
pub(crate) struct Outcome<R> {
    pub(crate) result: R,
    pub(crate) stopped_by: Option<PyErr>,
}

/// Does `work` without the GIL. It gets a stop button, pressed by Ctrl-C or an exception of `observe`,
/// and a channel for the events that `observe` gets with the GIL. `interrupt` ends functions of Python in the work.
///
/// A panic of the work goes on in the caller, where it becomes an exception.
pub(crate) fn carry_out<E: Send, R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool, Sender<E>) -> R + Send,
    mut observe: impl FnMut(Python<'_>, E) -> PyResult<()>,
    interrupt: impl Fn(Python<'_>),
) -> Outcome<R> {
    let button = AtomicBool::new(false);
    let (sender, mut receiver) = mpsc::channel();
    let mut stopped_by = None;
    let result = std::thread::scope(|scope| {
        let worker = scope.spawn(|| work(&button, sender));
        let mut stop = |outcome: PyResult<()>| {
            if let Err(error) = outcome
                && stopped_by.is_none()
            {
                button.store(true, Ordering::Relaxed);
                interrupt(py);
                stopped_by = Some(error);
            }
        };
        loop {
            let event;
            (receiver, event) = py.detach(move || {
                let event = receiver.recv_timeout(LOOK);
                (receiver, event)
            });
            stop(py.check_signals());
            match event {
                Ok(event) => stop(observe(py, event)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let joined = py.detach(|| worker.join());
        joined.unwrap_or_else(|panic| resume_unwind(panic))
    });
    Outcome { result, stopped_by }
}
