//! The request for a run, its surroundings and its outcome.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use base::Facts;
use device::meter::MeterSpec;
use result::schema::{self, About, Invocation, Repeat, Run};
use result::store::RunDir;
use result::store::ios::IosChoice;

use crate::error::RunError;
use crate::event::Event;
use crate::span::SpanRequest;
use crate::suite::Test;
use crate::workers::Workers;

/// The test to run and the place of its result.
#[derive(Clone, Debug)]
pub struct Request {
    pub test: Test,
    /// Its `--set` settings.
    pub settings: Vec<(String, String)>,
    /// Part of the LBA space.
    pub span: SpanRequest,
    /// Seed of every random choice.
    pub seed: u64,
    /// Whether only the steps that read are done, on the data that the target holds.
    pub read_only: bool,
    /// Directory of run directories.
    pub library: PathBuf,
    /// The command that repeats the run, for the result.
    pub command: String,
    /// This request as the user made it, for the result, or `None` without one.
    pub recorded: Option<schema::Request>,
    /// The words of the user about the run, for the result.
    pub about: About,
    /// The place of the run among its repetitions, or `None` if it is not repeated.
    pub repeat: Option<Repeat>,
    /// The call of ssdlab that contains the run, for the result.
    pub invocation: Option<Invocation>,
    /// The run to continue, or `None` for a new one.
    pub resume: Option<RunDir>,
    /// Kernel, CPU, … for the result.
    pub environment: BTreeMap<String, String>,
    /// Facts of a real target, which it does not know itself.
    pub facts: Facts,
    /// Warnings known before the start.
    pub warnings: Vec<String>,
    /// The tests that the review of this run omitted, for the result.
    pub left_out: Vec<String>,
    /// The meter that reads the power of the drive beside the run, or `None` without one.
    pub meter: Option<MeterSpec>,
    /// Threads that drive the target.
    pub workers: Workers,
    /// The commands that get a row in `ios.parquet`, or `None` without that file.
    pub ios: Option<IosChoice>,
}

impl Request {
    /// The test with its defaults on the whole target, without an origin.
    pub fn new(test: Test, library: PathBuf) -> Self {
        Self {
            test,
            settings: Vec::new(),
            span: SpanRequest::Default,
            seed: 1,
            read_only: false,
            library,
            command: String::new(),
            recorded: None,
            about: About::default(),
            repeat: None,
            invocation: None,
            resume: None,
            environment: BTreeMap::new(),
            facts: Facts::default(),
            warnings: Vec::new(),
            left_out: Vec::new(),
            meter: None,
            workers: Workers::default(),
            ios: None,
        }
    }
}

/// The connections of a run to the outside: the stop button, the event observer, the wall clock.
pub struct Control<'a> {
    /// Set to stop the run; the data so far are kept.
    pub interrupted: &'a AtomicBool,
    /// The observer of events.
    pub observer: &'a mut dyn FnMut(&Event),
    /// Wall clock, ns since the Unix epoch.
    pub unix_ns: fn() -> u64,
}

/// A run directory and its status.
#[derive(Debug)]
pub struct Outcome {
    /// The run directory.
    pub dir: PathBuf,
    /// The content of its `run.json`.
    pub run: Run,
    /// The error of the target, or `None` if it did not fail.
    pub failure: Option<RunError>,
}

impl Outcome {
    /// The outcome of a run that an earlier call has ended.
    pub fn of(dir: &RunDir) -> Self {
        Self { dir: dir.path().to_owned(), run: dir.run().clone(), failure: None }
    }
}
