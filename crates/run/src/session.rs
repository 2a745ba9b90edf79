//! From a request to a run directory: purge, drive, record, write, phase by phase.
//!
//! Whatever ends a run early (the user, the target, the disk), what was measured is written and the
//! result says how it ended.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Nanos;
use io::{Identity, Limits, PurgeMethod, Target};
use load::Generator;
use result::rows::PhaseRows;
use result::run_id::run_id;
use result::schema::{Phase, Run, RunStatus, SCHEMA_VERSION};
use result::store::{RunWriter, StoreError, preflight};

use crate::drive::{End, drive};
use crate::error::RunError;
use crate::event::{Event, Length};
use crate::params::Params;
use crate::recorder::Recorder;
use crate::span::SpanRequest;
use crate::suite::{Action, PhaseSpec, Test};

/// What to run and where to put the result.
#[derive(Clone, Debug)]
pub struct Request {
    /// The test.
    pub test: Test,
    /// Its `--set` settings.
    pub settings: Vec<(String, String)>,
    /// Part of the LBA space.
    pub span: SpanRequest,
    /// Seed of every random choice.
    pub seed: u64,
    /// Directory of run directories.
    pub library: PathBuf,
    /// The command that repeats the run, for the result.
    pub command: String,
    /// Kernel, CPU, … for the result.
    pub environment: BTreeMap<String, String>,
    /// Warnings known before the start.
    pub warnings: Vec<String>,
}

/// What a run needs from outside: the stop button, an ear, a calendar.
pub struct Control<'a> {
    /// Set to stop the run; what was measured is kept.
    pub interrupted: &'a AtomicBool,
    /// Hears what happens.
    pub observer: &'a mut dyn FnMut(&Event),
    /// Wall clock, ns since the Unix epoch.
    pub unix_ns: fn() -> u64,
}

/// A run directory and how it ended.
#[derive(Debug)]
pub struct Outcome {
    /// The run directory.
    pub dir: PathBuf,
    /// What is in its `run.json`.
    pub run: Run,
    /// What the target failed with, where it did.
    pub failure: Option<RunError>,
}

/// A test resolved against a target, before anything is touched.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its parameters.
    pub params: Params,
    /// Part of the LBA space.
    pub span: result::schema::Span,
    /// Its phases.
    pub phases: Vec<PhaseSpec>,
}

/// Resolves a request against a target without touching it.
///
/// # Errors
/// Where a parameter, the span or a workload does not fit the target.
pub fn plan(request: &Request, identity: &Identity, limits: &Limits) -> Result<Plan, RunError> {
    let params = Params::new(request.test.params(), &request.settings)?;
    let span = request.span.resolve(identity)?;
    let phases = request.test.phases(&params, span.span_bytes)?;
    for phase in &phases {
        let Action::Load { workload, .. } = &phase.action else { continue };
        workload.check(limits.logical_block_bytes)?;
        if workload.queue_depth > limits.queue_depth_max {
            return Err(RunError::Usage(format!(
                "queue depth {} is more than the {} commands that {} takes at a time; lower it with \
                 --set queue_depth={}",
                workload.queue_depth, limits.queue_depth_max, identity.name, limits.queue_depth_max
            )));
        }
        if workload.block_bytes > limits.transfer_bytes_max {
            return Err(RunError::Usage(format!(
                "a block of {} bytes is longer than the {} bytes that {} takes in one command",
                workload.block_bytes, limits.transfer_bytes_max, identity.name
            )));
        }
    }
    Ok(Plan { params, span, phases })
}

/// Runs a test on a target and writes its run directory.
///
/// # Errors
/// Before anything is measured: where the request does not fit or the library cannot be written. After
/// that only [`RunError::Rescued`] (and [`RunError::Store`] where even the rescue failed): a failing
/// target is part of the [`Outcome`].
pub fn run<T: Target>(
    target: &mut T,
    request: &Request,
    control: &mut Control<'_>,
) -> Result<Outcome, RunError> {
    let plan = plan(request, &target.identity(), &target.limits())?;
    preflight(&request.library, seconds_expected(&plan.phases))?;
    let mut run = new_run(request, &plan, &target.identity(), (control.unix_ns)())?;
    let writer = create_dir(request, &mut run)?;
    (control.observer)(&started(&run, &plan));
    let mut session = Session { test: request.test, run, writer, failure: None };
    for phase in &plan.phases {
        session.phase(target, phase, request.seed, control)?;
        if session.run.status != RunStatus::Running {
            break;
        }
    }
    session.finish(control)
}

/// Makes the run directory, under another name where one of the same second has it.
fn create_dir(request: &Request, run: &mut Run) -> Result<RunWriter, RunError> {
    const ATTEMPTS: u64 = 100;
    for attempt in 0..ATTEMPTS {
        // The salt keeps runs apart that start in the same second on the same drive.
        let salt = run.started_unix_ns ^ u64::from(std::process::id()) << 40 ^ run.seed;
        let (time, variant) = (run.started_unix_ns, &run.span.variant);
        run.run_id = run_id(time, &run.test, &run.target.name, variant, salt.wrapping_add(attempt));
        match RunWriter::create(&request.library, run) {
            Err(StoreError::RunExists { .. }) if attempt + 1 < ATTEMPTS => {}
            other => return Ok(other?),
        }
    }
    Err(RunError::Usage("no free name for the run directory".to_owned()))
}

/// Rows to expect in the result, for the check of free space.
fn seconds_expected(phases: &[PhaseSpec]) -> u64 {
    const SLOW_FILL_BYTES_PER_S: u64 = 50_000_000;
    let seconds = phases.iter().map(|phase| match phase.length() {
        Length::Time(duration) => duration.0 / Nanos::SECOND.0,
        Length::Bytes(bytes) => bytes / SLOW_FILL_BYTES_PER_S,
        Length::Unknown => 0,
    });
    seconds.sum()
}

fn started(run: &Run, plan: &Plan) -> Event {
    Event::Started {
        run_id: run.run_id.clone(),
        target: run.target.name.clone(),
        variant: run.span.variant.clone(),
        seed: run.seed,
        config: plan.params.iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
    }
}

fn new_run(
    request: &Request,
    plan: &Plan,
    identity: &Identity,
    unix_ns: u64,
) -> Result<Run, RunError> {
    let test = request.test.name();
    Ok(Run {
        schema_version: SCHEMA_VERSION,
        run_id: String::new(),
        tool_version: concat!("ssdlab ", env!("CARGO_PKG_VERSION")).to_owned(),
        test: test.to_owned(),
        status: RunStatus::Running,
        started_unix_ns: unix_ns,
        finished_unix_ns: 0,
        target: target_record(identity),
        environment: request.environment.clone(),
        seed: request.seed,
        config: request.test.config(&plan.params)?,
        command: request.command.clone(),
        span: plan.span.clone(),
        purge: None,
        phases: Vec::new(),
        metrics: BTreeMap::new(),
        findings: Vec::new(),
        warnings: request.warnings.clone(),
    })
}

fn target_record(identity: &Identity) -> result::schema::Target {
    let identity = identity.clone();
    result::schema::Target {
        kind: identity.kind.name().to_owned(),
        name: identity.name,
        spec: identity.spec,
        serial: identity.serial,
        firmware: identity.firmware,
        capacity_bytes: identity.capacity_bytes,
        raw_bytes: identity.raw_bytes,
        engine: identity.engine,
        details: identity.details,
    }
}

fn purge_record(
    considered: &[io::PurgeOption],
    method: Option<&PurgeMethod>,
) -> result::schema::Purge {
    let considered = considered.iter().map(|option| result::schema::PurgeOption {
        method: option.method.name().to_owned(),
        obstacle: option.obstacle.clone(),
    });
    result::schema::Purge {
        method: method.map(|method| method.name().to_owned()),
        considered: considered.collect(),
    }
}

/// A run under way.
struct Session {
    test: Test,
    run: Run,
    writer: RunWriter,
    failure: Option<RunError>,
}

impl Session {
    fn phase<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        seed: u64,
        control: &mut Control<'_>,
    ) -> Result<(), RunError> {
        let PhaseSpec { name, what, .. } = spec;
        let (name, what) = ((*name).to_owned(), what.clone());
        let length = spec.length();
        (control.observer)(&Event::PhaseStarted { name: name.clone(), what, length });
        if control.interrupted.load(Ordering::Relaxed) {
            self.run.status = RunStatus::Interrupted;
            return Ok(());
        }
        let start = target.now();
        let rows = match &spec.action {
            Action::Purge => self.purge(target, spec, start),
            Action::Load { workload, duration } => {
                let generator = Generator::new(workload.clone(), seed);
                self.load(target, spec, generator, *duration, control)
            }
        };
        if let Some(phase) = self.run.phases.last() {
            let (ios, duration) = (phase.ios, Nanos(phase.duration_ns));
            (control.observer)(&Event::PhaseEnded { name: name.clone(), ios, duration });
        }
        self.figures(&name, &rows);
        let written = self.writer.write_phase(&self.run, &name, &rows);
        self.or_rescue(written)
    }

    fn purge<T: Target>(&mut self, target: &mut T, spec: &PhaseSpec, start: Nanos) -> PhaseRows {
        let considered = target.purge_options();
        let purged = target.confirm_identity().and_then(|()| target.purge());
        self.run.purge = Some(purge_record(&considered, purged.as_ref().ok()));
        if matches!(purged, Ok(PurgeMethod::Overwrite)) {
            self.run.warnings.push(
                "the drive was only overwritten, not purged: it does not start in its fresh state"
                    .to_owned(),
            );
        }
        let what = match &purged {
            Ok(method) => format!("{}; method: {}", spec.what, method.name()),
            Err(_) => spec.what.clone(),
        };
        let duration = Nanos(target.now().0.saturating_sub(start.0));
        let complete = purged.is_ok();
        self.run.phases.push(Phase {
            name: spec.name.to_owned(),
            what,
            start_ns: start.0,
            duration_ns: duration.0,
            ios: 0,
            bytes: 0,
            errors: u64::from(!complete),
            ios_after_end: 0,
            complete,
        });
        if let Err(error) = purged {
            self.fail(error.into());
        }
        PhaseRows::default()
    }

    fn load<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        mut generator: Generator,
        duration: Option<Nanos>,
        control: &mut Control<'_>,
    ) -> PhaseRows {
        let start = target.now();
        let deadline = duration.map(|duration| Nanos(start.0.saturating_add(duration.0)));
        let mut recorder = Recorder::new(start, duration);
        let observer = &mut *control.observer;
        let end = target.confirm_identity().and_then(|()| {
            let seconds = |recorder: &Recorder| observer(&second_event(recorder));
            drive(target, &mut generator, deadline, &mut recorder, control.interrupted, seconds)
        });
        if let (Ok(End::Complete), Some(deadline)) = (&end, deadline) {
            target.idle_until(deadline);
        }
        target.telemetry_take(recorder.telemetry_mut());
        let failed = recorder.first_error.map(|(op, errno)| command_failed(&op, errno));
        let mut phase = Phase {
            name: spec.name.to_owned(),
            what: spec.what.clone(),
            start_ns: start.0,
            duration_ns: 0,
            ios: recorder.ios,
            bytes: recorder.bytes,
            errors: recorder.errors,
            ios_after_end: recorder.ios_after_end,
            complete: matches!(end, Ok(End::Complete)),
        };
        let (rows, length) = recorder.finish(target.now());
        phase.duration_ns = length.0;
        self.run.phases.push(phase);
        match (end, failed) {
            (Err(error), _) => self.fail(error.into()),
            (Ok(_), Some(failed)) => self.fail(failed.into()),
            (Ok(End::Interrupted), None) => self.run.status = RunStatus::Interrupted,
            (Ok(_), None) => {}
        }
        rows
    }

    fn fail(&mut self, error: RunError) {
        self.run.status = RunStatus::Failed;
        self.run.warnings.push(format!("the run ended early: {error}"));
        self.failure = Some(error);
    }

    /// Figures as of now, so that a later crash still leaves them.
    fn figures(&mut self, phase: &str, rows: &PhaseRows) {
        if phase == self.test.measured_phase() {
            let figures = self.test.figures(&self.run, rows);
            self.run.metrics = figures.metrics;
            self.run.findings = figures.findings;
            self.run.warnings.extend(figures.warnings);
        }
    }

    fn finish(mut self, control: &mut Control<'_>) -> Result<Outcome, RunError> {
        if self.run.status == RunStatus::Running {
            self.run.status = RunStatus::Complete;
        }
        self.run.finished_unix_ns = (control.unix_ns)();
        for warning in &self.run.warnings {
            (control.observer)(&Event::Warning(warning.clone()));
        }
        let written = self.writer.finish(&self.run);
        self.or_rescue(written)?;
        let dir = self.writer.path().to_owned();
        Ok(Outcome { dir, run: self.run, failure: self.failure })
    }

    /// Where the library cannot be written, puts everything measured so far elsewhere.
    fn or_rescue(&mut self, written: Result<(), StoreError>) -> Result<(), RunError> {
        let Err(source) = written else { return Ok(()) };
        if self.run.status == RunStatus::Running {
            self.run.status = RunStatus::Failed;
        }
        self.run.warnings.push(format!("the library could not be written: {source}"));
        let elsewhere = std::env::temp_dir().join("ssdlab-rescued");
        match self.writer.rescue(&elsewhere, &self.run) {
            Ok(rescued) => Err(RunError::Rescued { source, rescued }),
            Err(_) => Err(source.into()),
        }
    }
}

fn second_event(recorder: &Recorder) -> Event {
    let Some(row) = recorder.seconds().last() else { return Event::Warning(String::new()) };
    let ios: u64 = row.ios.iter().sum();
    Event::Second {
        second: row.second,
        iops: ios as f64 / Nanos(row.duration_ns).as_secs_f64(),
        bytes_done: recorder.bytes,
        elapsed: Nanos(row.start_ns + row.duration_ns),
        latency_ns_p99: row.latency_ns_p99,
    }
}

fn command_failed(op: &base::Op, errno: i32) -> io::IoError {
    let (kind, len, offset) = (op.kind.name(), op.len, op.offset);
    io::IoError::Device {
        context: format!("{kind} of {len} bytes at offset {offset} failed"),
        source: std::io::Error::from_raw_os_error(errno),
    }
}
