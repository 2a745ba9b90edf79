//! Functions of Python as policies of a simulated drive.
//!
//! The drive works without the GIL and takes it for each question. An exception of a function is kept until the call
//! that runs the drive ends; the drive goes on without the function until then.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use io::engine::sim::OwnPolicies;
use numpy::PyArray1;
use pyo3::prelude::*;
use sim::ftl::gc::own::{Candidates, VictimChoice};
use sim::ftl::pacing;
use sim::ftl::pacing::own::Pace;
use sim::ftl::placement::own;
use sim::ftl::placement::own::StreamChoice;
use sim::ftl::policies::Policies;
use target::TargetError;

use crate::errors::Failure;

/// The superblocks among which a policy chooses, in the order of their numbers: an entry of each array is one of them.
/// An array is made when it is asked for.
#[pyclass(frozen, module = "ssdlab._native")]
pub(crate) struct Blocks(Candidates);

#[pymethods]
impl Blocks {
    fn __len__(&self) -> usize {
        self.0.superblocks.len()
    }

    /// Number of the superblock.
    #[getter]
    fn index<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.0.superblocks)
    }

    /// Valid pages.
    #[getter]
    fn valid<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.0.valid_pages)
    }

    /// Superblocks that have been closed since it was, itself included.
    #[getter]
    fn age<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.0.ages)
    }

    /// Erases.
    #[getter]
    fn erases<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.0.erases)
    }

    /// Stream that wrote it: its placement handle.
    #[getter]
    fn stream<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        PyArray1::from_iter(py, self.0.streams.iter().map(|stream| stream.handle()))
    }

    /// Whether garbage collection wrote it.
    #[getter]
    fn moved<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        PyArray1::from_iter(py, self.0.streams.iter().map(|stream| stream.is_moved()))
    }

    /// Pages of data in each.
    #[getter]
    fn pages(&self) -> u32 {
        self.0.superblock_pages
    }
}

/// The pages that the host wrote since the last question, in order.
#[pyclass(frozen, get_all, module = "ssdlab._native")]
pub(crate) struct Writes {
    /// Logical page.
    page: Py<PyArray1<u64>>,
    /// Pages that the host wrote since the earlier write of this page, this one included; 0 for its first write.
    interval: Py<PyArray1<u32>>,
    /// Stream to which it went.
    stream: Py<PyArray1<u8>>,
    /// Number of streams.
    streams: u8,
}

#[pymethods]
impl Writes {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.page.bind(py).len()
    }
}

/// Fill level of the drive.
#[pyclass(frozen, get_all, module = "ssdlab._native")]
pub(crate) struct Level {
    /// Pages that can be written before an erase.
    writable: u64,
    /// Valid pages of the newest victim at the time of its choice.
    victim_valid: u32,
    /// Pages of data in a superblock.
    pages: u32,
}

/// Functions of Python in the place of policies of a model.
#[derive(Clone, Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Functions {
    /// Their names, for the name of the drive.
    pub(crate) words: String,
    policy: Option<Function>,
    stream: Option<Function>,
    pace: Option<Function>,
}

/// A function, which clones without the GIL.
#[derive(Clone, Debug)]
struct Function(Arc<Py<PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Function {
    type Error = PyErr;

    fn extract(function: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Arc::new(function.to_owned().unbind())))
    }
}

impl Functions {
    /// The functions as policies of a new drive.
    pub(crate) fn calls(&self) -> Calls {
        Calls { functions: self.clone(), line: Line::default() }
    }
}

/// The functions as policies of a drive and of its copies.
#[derive(Clone)]
pub(crate) struct Calls {
    functions: Functions,
    line: Line,
}

impl Calls {
    pub(crate) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// The policies, or `None` if there is no function.
    pub(crate) fn own(&self) -> Option<OwnPolicies> {
        let Functions { words, policy, stream, pace } = self.functions.clone();
        let line = || self.line.clone();
        let mut policies = Policies::default();
        if let Some(function) = &policy {
            policies = policies.with_victims(Victims { function: function.clone(), line: line() });
        }
        if let Some(function) = &stream {
            policies = policies.with_streams(Streams { function: function.clone(), line: line() });
        }
        if let Some(function) = &pace {
            policies = policies.with_pace(Tempo {
                function: function.clone(),
                line: line(),
                price: 0,
                rest: 0,
                asked_again_after: 0,
            });
        }
        (policy.is_some() || stream.is_some() || pace.is_some())
            .then_some(OwnPolicies { words, policies })
    }

    /// The outcome of work of a drive on this thread: the exception of a function comes before the drive's words for it.
    pub(crate) fn outcome(&self, outcome: Result<(), TargetError>) -> PyResult<()> {
        let this = thread::current().id();
        match self.line.take_raised(|thread| thread == this) {
            Some(error) => Err(error),
            None => Ok(outcome.map_err(Failure::from)?),
        }
    }

    /// The exception of a function on any thread.
    pub(crate) fn take_raised(&self) -> Option<PyErr> {
        self.line.take_raised(|_| true)
    }

    /// Ends a function that another thread carries out.
    pub(crate) fn interrupt(&self, py: Python<'_>) {
        let thread = self.line.thread.load(Ordering::Relaxed);
        if thread != 0
            && let Err(error) = py
                .import("ssdlab._policy")
                .and_then(|module| module.call_method1("interrupt", (thread,)))
        {
            error.write_unraisable(py, None);
        }
    }
}

/// The way from the functions of a drive to its caller; copies of the drive share it.
#[derive(Clone, Default)]
struct Line {
    /// Exceptions that no caller has got, with the threads on which the drives work.
    raised: Arc<Mutex<Vec<(ThreadId, PyErr)>>>,
    /// The thread that carries a function out, as Python numbers it; 0: none does.
    thread: Arc<AtomicU64>,
}

impl fmt::Debug for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Line")
    }
}

impl Line {
    fn take_raised(&self, is_wanted: impl Fn(ThreadId) -> bool) -> Option<PyErr> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        let place = raised.iter().position(|&(thread, _)| is_wanted(thread))?;
        Some(raised.swap_remove(place).1)
    }

    /// Asks a function; its exception is kept.
    fn ask<T>(
        &self,
        Function(function): &Function,
        ask: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, String> {
        Python::attach(|py| {
            let number = py
                .import("threading")
                .and_then(|module| module.call_method0("get_ident")?.extract::<u64>());
            self.thread.store(number.unwrap_or(0), Ordering::Relaxed);
            let answer = ask(py, function.bind(py));
            self.thread.store(0, Ordering::Relaxed);
            answer.map_err(|error| {
                let words = error.to_string();
                let raised = (thread::current().id(), error);
                self.raised.lock().unwrap_or_else(PoisonError::into_inner).push(raised);
                words
            })
        })
    }
}

#[derive(Clone, Debug)]
struct Victims {
    function: Function,
    line: Line,
}

impl VictimChoice for Victims {
    fn choose(&mut self, candidates: Candidates) -> Result<usize, String> {
        let last = candidates.superblocks.len() - 1;
        self.line.ask(&self.function, |_, function| {
            let answer = function.call1((Blocks(candidates),))?;
            answer.extract::<usize>().map_err(|_| {
                Failure::usage(format!(
                    "the policy returned {}; expected an index from 0 to {last}",
                    words_of(&answer)
                ))
                .into()
            })
        })
    }

    fn copied(&self) -> Box<dyn VictimChoice> {
        Box::new(self.clone())
    }
}

#[derive(Clone, Debug)]
struct Streams {
    function: Function,
    line: Line,
}

impl StreamChoice for Streams {
    fn assign(&mut self, writes: own::Writes) -> Result<Vec<u8>, String> {
        let own::Writes { pages, intervals, streams, stream_count } = writes;
        self.line.ask(&self.function, |py, function| {
            let writes = Writes {
                page: PyArray1::from_vec(py, pages).unbind(),
                interval: PyArray1::from_vec(py, intervals).unbind(),
                stream: PyArray1::from_vec(py, streams).unbind(),
                streams: stream_count,
            };
            let answer = function.call1((writes,))?;
            py.import("ssdlab._policy")?.call_method1("streams", (answer,))?.extract::<Vec<u8>>()
        })
    }

    fn copied(&self) -> Box<dyn StreamChoice> {
        Box::new(self.clone())
    }
}

/// One in so many parts of a page.
const PRICE_PARTS: u64 = 1 << 16;
/// Parts of a superblock that the host writes between two questions.
const QUESTIONS_PER_SUPERBLOCK: u32 = 64;

#[derive(Clone, Debug)]
struct Tempo {
    function: Function,
    line: Line,
    /// Parts of a page to move for each page of the host, by the last answer.
    price: u64,
    /// Parts of a page that are owed and not yet requested.
    rest: u64,
    /// Pages of the host up to the next question.
    asked_again_after: u32,
}

impl Pace for Tempo {
    fn owed_pages(&mut self, level: pacing::Level, host_pages: u32) -> Result<u64, String> {
        if self.asked_again_after == 0 {
            let most = f64::from(level.superblock_pages);
            let price = self.line.ask(&self.function, |_, function| {
                let pacing::Level { writable_pages, superblock_pages, victim_valid_pages } = level;
                let answer = function.call1((Level {
                    writable: writable_pages,
                    victim_valid: victim_valid_pages,
                    pages: superblock_pages,
                },))?;
                let price = answer.extract::<f64>().ok().filter(|price| (0.0..=most).contains(price));
                price.ok_or_else(|| {
                    Failure::usage(format!(
                        "the pace returned {}; expected pages to move for each page written, 0 to {most}",
                        words_of(&answer)
                    ))
                    .into()
                })
            })?;
            self.price = (price * PRICE_PARTS as f64).round() as u64;
            self.asked_again_after = (level.superblock_pages / QUESTIONS_PER_SUPERBLOCK).max(1);
        }
        self.asked_again_after = self.asked_again_after.saturating_sub(host_pages);
        self.rest += self.price * u64::from(host_pages);
        let most = u64::from(level.superblock_pages);
        let owed_pages = (self.rest / PRICE_PARTS).min(most);
        self.rest -= owed_pages * PRICE_PARTS;
        Ok(owed_pages)
    }

    fn copied(&self) -> Box<dyn Pace> {
        Box::new(self.clone())
    }
}

/// The text of a value, shortened.
fn words_of(value: &Bound<'_, PyAny>) -> String {
    let words = value.repr().map_or_else(|error| error.to_string(), |words| words.to_string());
    base::text::shortened(&words)
}
