//! The run directory of an exposed drive: its requests and its work as one phase.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::target::Identity;
use base::{Completion, Nanos, Op, TelemetryRow};
use device::host::environment::environment;
use expose::disk::books::Observer;
use result::report::GRAPHED_PHASE;
use result::schema::{Phase, Run, RunStatus};
use result::stats::latency::{Latencies, marks_of_end};
use result::stats::rates;
use result::store::{RunWriter, StoreError, preflight};
use run::recorder::Recorder;
use run::session::bare_run;
use serde_json::Value;

use crate::cmd::run::unix_ns;

/// Name of the test in `run.json`.
pub const TEST: &str = "expose";

/// Time between two writes of the run directory.
const SAVE: Duration = Duration::from_secs(30);

/// Follows the disk.
struct Follower(Arc<Mutex<Recorder>>);

impl Observer for Follower {
    fn ended(&mut self, op: &Op, end: &Completion) {
        locked(&self.0).completed(op, end);
    }

    fn passed(&mut self, row: &TelemetryRow, now: Nanos) {
        let mut recorder = locked(&self.0);
        recorder.telemetry_mut().push(*row);
        recorder.passed(now);
    }
}

/// The present moment of a disk.
#[derive(Clone, Copy)]
pub struct Present {
    /// Time of its account.
    pub now: Nanos,
    /// Its work in the present second.
    pub row: TelemetryRow,
}

/// A run in progress.
pub struct Record {
    run: Run,
    writer: RunWriter,
    recorder: Arc<Mutex<Recorder>>,
    saved: Instant,
}

impl Record {
    /// Creates the run directory of a drive whose time is `now`, and which the command has made.
    pub fn create(
        library: &Path,
        identity: &Identity,
        (command, config): (String, BTreeMap<String, Value>),
        seed: u64,
        now: Nanos,
    ) -> Result<Self, StoreError> {
        preflight(library, 0)?;
        let unix_ns = unix_ns();
        let bare = bare_run(TEST, identity, unix_ns);
        let mut run = Run { environment: environment(), command, config, seed, ..bare };
        let salt = unix_ns ^ u64::from(std::process::id()) << 40;
        let writer = RunWriter::create_new(library, &mut run, salt)?;
        let recorder = Arc::new(Mutex::new(Recorder::new(now, None)));
        Ok(Self { run, writer, recorder, saved: Instant::now() })
    }

    /// The follower for the disk.
    pub fn observer(&self) -> Box<dyn Observer> {
        Box::new(Follower(Arc::clone(&self.recorder)))
    }

    /// Writes the run directory if the last time is long ago.
    pub fn save_sometimes(&mut self, present: &Present) -> Result<(), StoreError> {
        if self.saved.elapsed() < SAVE {
            return Ok(());
        }
        self.saved = Instant::now();
        self.save(present)
    }

    fn save(&mut self, present: &Present) -> Result<(), StoreError> {
        let mut recorder = locked(&self.recorder).clone();
        recorder.passed(present.now);
        recorder.telemetry_mut().push(present.row);
        let mut phase = Phase {
            name: GRAPHED_PHASE.to_owned(),
            what: "requests of other programs to the exposed drive".to_owned(),
            start_ns: recorder.start().0,
            ios: recorder.ios,
            bytes: recorder.bytes,
            errors: recorder.errors,
            ios_after_end: recorder.ios_after_end,
            ios_unanswered: recorder.ios_unanswered,
            complete: self.run.status == RunStatus::Complete,
            ..Phase::default()
        };
        let (rows, length) = recorder.finish(present.now);
        phase.duration_ns = length.0;
        self.take_figures(&phase, &rows);
        self.run.phases = vec![phase];
        self.writer.write_phase(&self.run, GRAPHED_PHASE, &rows)
    }

    fn take_figures(&mut self, phase: &Phase, rows: &result::rows::PhaseRows) {
        let name = |end: &str| format!("{TEST}.{GRAPHED_PHASE}.{end}");
        let seconds = rates::seconds(phase.duration_ns);
        let rate = |count: f64| (seconds > 0.0).then(|| count / seconds);
        let (metrics, marks) = (&mut self.run.metrics, &mut self.run.marks);
        marks.clear();
        metrics.insert(name("iops"), rate(phase.ios as f64));
        metrics.insert(name("mb_per_s"), rate(phase.bytes as f64 / 1e6));
        metrics.insert(name("waf"), rates::waf(&rows.seconds));
        let prefix = name("latency_ns");
        Latencies::of(rows, 0..u32::MAX).add_to(metrics, marks, &prefix, "");
        marks.extend(marks_of_end(phase, metrics, &prefix));
    }

    /// Writes the complete run and returns its directory.
    pub fn finish(mut self, present: &Present) -> Result<PathBuf, StoreError> {
        self.run.status = RunStatus::Complete;
        self.run.finished_unix_ns = unix_ns();
        self.save(present)?;
        self.writer.finish(&self.run)?;
        Ok(self.writer.path().to_owned())
    }
}

fn locked(recorder: &Mutex<Recorder>) -> MutexGuard<'_, Recorder> {
    recorder.lock().unwrap_or_else(PoisonError::into_inner)
}
