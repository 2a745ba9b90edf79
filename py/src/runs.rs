//! A test on a target, with every guard of the program.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use io::EngineChoice;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use result::schema::{About, Request, Setting};
use run::{Control, Event, Outcome, RunError, Workers};
use session::job::{Job, Origin, plan, unix_ns};
use session::request;
use session::targets::{self, Requirements};
use target::{PurgeMethod, TargetSpec};

use crate::background;
use crate::errors::Failure;
use crate::policies::Functions;

/// The run, as the Python side asks for it; nothing here confirms anything but `erase`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Call {
    test: String,
    target: String,
    library: PathBuf,
    settings: Vec<(String, String)>,
    spare: Option<String>,
    span_bytes: Option<u64>,
    purge: Option<String>,
    seed: u64,
    workers: u32,
    engine: Option<String>,
    erase: Vec<String>,
    erase_signatures: bool,
    read_only: bool,
    facts: Vec<PathBuf>,
    label: Option<String>,
    note: Option<String>,
    tags: Vec<String>,
}

impl Call {
    fn request(&self) -> Request {
        let plain = request::plain(&self.test, &self.target);
        let settings = self.settings.iter().cloned();
        Request {
            spare: self.spare.clone(),
            span_bytes: self.span_bytes,
            settings: settings.map(|(name, value)| Setting { name, value }).collect(),
            purge: self.purge.clone(),
            seed: self.seed,
            workers: self.workers,
            engine: self.engine.clone().unwrap_or(plain.engine.clone()),
            ..plain
        }
    }

    /// Reads the arguments, before anything is looked at.
    fn read(&self) -> Result<Read, Failure> {
        let (recorded, spec) = (self.request(), self.target.parse::<TargetSpec>()?);
        let about =
            About { label: self.label.clone(), note: self.note.clone(), tags: self.tags.clone() };
        let run::Request { test, workers, .. } = request::to_run(&recorded, self.library.clone())?;
        Ok(Read {
            spec,
            write: test.writes(),
            workers,
            origin: Origin { about, ..Origin::default() },
            purge: self.purge.as_deref().map(str::parse).transpose()?,
            engine: recorded.engine.parse()?,
            recorded,
        })
    }

    fn carry_out(
        &self,
        Read { spec, recorded, origin, write, workers, purge, engine }: Read,
        button: &AtomicBool,
        events: Sender<Event>,
    ) -> Result<Outcome, Failure> {
        let requirements = Requirements {
            write,
            read_only: self.read_only,
            erase: &self.erase,
            erase_signatures: self.erase_signatures,
            purge,
            engine,
            workers,
            facts: &self.facts,
            library: Some(Path::new(&self.library)),
            parallel: false,
        };
        let inspection = targets::inspect(vec![spec.clone()], requirements)?;
        let inspected = inspection.target(&spec)?;
        let job = Job::new(recorded.clone(), &plan(&recorded, inspected)?, inspected);
        let held = inspection.hold()?;
        let restored = targets::restore_left_behind().map(|outcome| match outcome {
            Ok(words) => format!("restored: {words}"),
            Err(error) => error.to_string(),
        });
        restored.for_each(|words| _ = events.send(Event::Warning(words)));
        let mut observer = |event: &Event| _ = events.send(event.clone());
        let control = Control { interrupted: button, observer: &mut observer, unix_ns };
        Ok(job.perform(&origin, &self.library, &held, control)?)
    }
}

/// The arguments of a run as values.
struct Read {
    spec: TargetSpec,
    recorded: Request,
    origin: Origin,
    write: bool,
    workers: Workers,
    purge: Option<PurgeMethod>,
    engine: EngineChoice,
}

/// Runs a test; returns the run directory and the error that ended the run early, or `None`.
///
/// The measured part of a run that Ctrl-C or an exception of a policy stops is kept; the exception has a note that names it.
#[pyfunction]
pub(crate) fn perform(
    py: Python<'_>,
    call: Call,
    observer: Option<Py<PyAny>>,
    policies: Functions,
) -> PyResult<(PathBuf, Option<Py<PyAny>>)> {
    let mut read = py.detach(|| call.read())?;
    let calls = policies.calls();
    read.origin.policies = calls.own();
    let work = |button: &AtomicBool, events| call.carry_out(read, button, events);
    let observe = |py: Python<'_>, event: Event| match (&observer, words(py, &event)?) {
        (Some(observer), Some(words)) => observer.call1(py, words).map(drop),
        _ => Ok(()),
    };
    let background::Outcome { result, stopped_by } =
        background::carry_out(py, work, observe, |py| calls.interrupt(py));
    let raised = calls.take_raised();
    if let Some(error) = stopped_by.or(raised) {
        if let Ok(outcome) = &result {
            let kept = format!("what was measured is kept in {}", outcome.dir.display());
            error.value(py).call_method1("add_note", (kept,))?;
        }
        return Err(error);
    }
    let Outcome { dir, failure, .. } = result?;
    let failure = failure.as_ref().map(rescued);
    Ok((dir, failure.map(|failure| failure.exception(py).into_value(py).into_any())))
}

fn rescued(error: &RunError) -> Failure {
    Failure::from(error)
}

/// The name and the members of an event; `None` for events without a reader.
fn words<'py>(
    py: Python<'py>,
    event: &Event,
) -> PyResult<Option<(&'static str, Bound<'py, PyDict>)>> {
    let members = PyDict::new(py);
    let name = match event {
        Event::Started { run_id, target, .. } => {
            members.set_item("run_id", run_id)?;
            members.set_item("target", target)?;
            "started"
        }
        Event::PhaseStarted { name, what, .. } => {
            members.set_item("phase", name)?;
            members.set_item("what", what)?;
            "phase"
        }
        Event::Second { second, iops, bytes_done, latency_ns_p99, .. } => {
            members.set_item("second", second)?;
            members.set_item("iops", iops)?;
            members.set_item("bytes_done", bytes_done)?;
            members.set_item("latency_ns_p99", latency_ns_p99)?;
            "second"
        }
        Event::PhaseEnded { name, ios, duration } => {
            members.set_item("phase", name)?;
            members.set_item("ios", ios)?;
            members.set_item("duration_ns", duration.0)?;
            "phase_ended"
        }
        Event::Warning(text) => {
            members.set_item("text", text)?;
            "warning"
        }
        Event::Resumed { .. } => return Ok(None),
    };
    Ok(Some((name, members)))
}
