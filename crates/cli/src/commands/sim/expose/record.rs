//! The run directory of an exposed drive: its requests and its work as one phase.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::target::Identity;
use base::{Nanos, TelemetryRow};
use device::host::environment::environment;
use expose::Pace;
use expose::disk::accounting::{DiskEvent, Follower};
use result::report::GRAPHED_PHASE;
use result::schema::{Phase, Run, RunStatus};
use result::stats::latency::{Latencies, marks_of_end};
use result::stats::rates;
use result::store::ios::{IosChoice, IosPhase, IosWriter, NO_JOB, WhenFull};
use result::store::{RunWriter, StoreError, preflight};
use run::recorder::Recorder;
use run::session::bare_run;
use serde_json::Value;

use crate::ui::out::talk;
use session::job::unix_ns;

/// Name of the test in `run.json`.
pub const TEST: &str = "expose";

/// Time between two writes of the run directory.
const SAVE: Duration = Duration::from_secs(30);

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
    /// The file of single requests, or `None` if none is wanted.
    ios: Option<(IosChoice, IosWriter)>,
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
        Ok(Self { run, writer, recorder, ios: None, saved: Instant::now() })
    }

    /// Keeps single requests in a file, from now on; call it before the drive has any.
    pub fn keep_ios(&mut self, choice: IosChoice, pace: Pace) -> Result<(), StoreError> {
        // On the fast clock time stands still while a client waits for the writer.
        let when_full = if pace == Pace::Fast { WhenFull::Wait } else { WhenFull::Lose };
        let mut writer = IosWriter::create(self.writer.path(), choice, self.run.seed, when_full)?;
        let mut recorder = locked(&self.recorder);
        let (name, start) = (GRAPHED_PHASE.to_owned(), recorder.start());
        let phase = IosPhase { index: 0, name, jobs: Vec::new(), start, workers: 1 };
        *recorder = recorder.clone().with_taps(writer.taps(phase));
        self.ios = Some((choice, writer));
        Ok(())
    }

    /// Completes the file of single requests.
    fn end_ios(&mut self) {
        let Some((choice, writer)) = self.ios.take() else { return };
        let mut recorder = locked(&self.recorder);
        // A copy has no tap: the last rows are on their way.
        *recorder = recorder.clone();
        for warning in writer.finish().enter(choice, &mut self.run) {
            talk!("{warning}");
            self.run.warnings.push(warning);
        }
    }

    /// The follower for the disk.
    pub fn follower(&self) -> Follower {
        let recorder = Arc::clone(&self.recorder);
        Box::new(move |event| {
            let mut recorder = locked(&recorder);
            match event {
                DiskEvent::Request(op, end) => {
                    recorder.completed(op, end);
                    recorder.point(op, end.submitted, end, NO_JOB);
                }
                DiskEvent::Second(row, now) => {
                    recorder.telemetry_mut().push(*row);
                    recorder.passed(now);
                }
            }
        })
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
        self.end_ios();
        self.writer.finish(&self.run)?;
        Ok(self.writer.path().to_owned())
    }
}

fn locked(recorder: &Mutex<Recorder>) -> MutexGuard<'_, Recorder> {
    recorder.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use base::{OpKind, Rng};
    use expose::plan::Shape;
    use expose::request::{Action, Request};
    use expose::{Contents, Disk};
    use io::engine::sim;
    use result::store::RunDir;

    use super::*;

    /// A request as its row must have it: kind, first byte, begin and end.
    type Row = (OpKind, u64, u64, u64);

    const CAPACITY_BYTES: u64 = 1 << 24;

    fn drawn(rng: &mut Rng) -> (OpKind, Request) {
        let (offset, bytes) = (rng.below(CAPACITY_BYTES - 65536), 1 + rng.below(65536));
        let (kind, action) = [
            (OpKind::Read, Action::Read),
            (OpKind::Write, Action::Write),
            (OpKind::Deallocate, Action::Trim),
            (OpKind::Flush, Action::Flush),
        ][rng.below(4) as usize];
        let (offset, bytes) = if kind == OpKind::Flush { (0, 0) } else { (offset, bytes) };
        let data = if kind == OpKind::Write { vec![1; bytes as usize] } else { Vec::new() };
        (kind, Request { fua: rng.below(2) == 0, data, ..Request::new(action, offset, bytes) })
    }

    #[test]
    fn each_request_has_its_row() {
        let library = tempfile::tempdir().expect("a directory");
        let settings = [("scale".to_owned(), "1/1024".to_owned())];
        let name = "samsung-840-pro-256gb";
        let config = sim::configure(name, &settings).expect("a drive");
        let (identity, _) = sim::describe("sim:test", name, &settings).expect("a drive");
        let shape = Shape::of(&config);
        let contents = Contents::in_memory(shape, shape.capacity_bytes).expect("memory");
        let mut disk: Disk<(OpKind, u64)> = Disk::new(config, contents);
        let totals = disk.totals();
        let parts = ("ssdlab sim expose".to_owned(), BTreeMap::new());
        let record = Record::create(library.path(), &identity, parts, 7, totals.now);
        let mut record = record.expect("a library");
        record.keep_ios(IosChoice::All, Pace::Fast).expect("space");
        disk.accounting_mut().follow(record.follower(), totals);

        let (mut rng, mut expected): (_, Vec<Row>) = (Rng::new(27), Vec::new());
        for round in 0..400 {
            for _ in 0..1 + rng.below(8) {
                let (kind, request) = drawn(&mut rng);
                disk.submit((kind, request.offset), request);
            }
            for finished in disk.run() {
                assert!(finished.result.is_ok(), "round {round}: {finished:?}");
                let (kind, offset) = finished.token;
                expected.push((kind, offset, finished.submitted.0, finished.done.0));
            }
        }
        let totals = disk.totals();
        let row = disk.accounting().open_row(&totals);
        let path = record.finish(&Present { now: totals.now, row }).expect("a run directory");

        let run = RunDir::open(&path).expect("a run directory");
        let mut rows: Vec<Row> = Vec::new();
        let has_file = run.ios(|part| {
            for (index, kind) in part.kinds.iter().enumerate() {
                let (begin, end) = (part.due_ns[index], part.done_ns[index]);
                rows.push((*kind, part.offset_bytes[index], begin, end));
            }
        });
        assert!(has_file.expect("an intact file"), "there is a file");
        assert!(expected.len() > 1000 && rows == expected, "{} rows", rows.len());
        let (phase, ios) = (&run.run().phases[0], run.run().ios.as_ref());
        assert_eq!((phase.ios, phase.ios_lost), (expected.len() as u64, 0));
        assert_eq!(ios.map(|ios| ios.rows), Some(phase.ios));
    }
}
