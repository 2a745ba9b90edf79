//! From a request to a run directory: purge, drive, record, write, phase by phase.
//!
//! After any early end (by the user, the target, the disk), all data so far are written and the
//! result contains the status.

mod bare;
mod commands;
mod data_sample;
mod host;
mod in_use;
mod ios;
mod jobs;
mod null_load;
pub mod outline;
mod plan;
mod purge;
mod request;
mod resume;
mod watches;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use base::{Facts, Nanos};
use device::host::processors::ProcessorTime;
use load::{Generator, Workload};
use result::rows::PhaseRows;
use result::schema::{Load, Phase, Run, RunStatus};
use result::store::{RunWriter, StoreError, preflight};
use target::{Identity, Target, TargetError};

pub use self::bare::{TOOL_VERSION, bare_run};
use self::host::HostWatch;
use self::in_use::UseWatch;
use self::null_load::{FastLoads, Threads};
pub use self::outline::Outline;
pub use self::plan::{Plan, plan};
pub use self::request::{Control, Outcome, Request};
use self::resume::Continuation;
pub use self::resume::check_continuation;
use crate::error::RunError;
use crate::event::{Event, Length};
use crate::health::Watch;
use crate::jobs::JobRecord;
use crate::power::PowerWatch;
use crate::pulse::{self, Pulse};
use crate::recorder::Recorder;
use crate::replay::Meter;
use crate::suite::{
    Action, Conditions, Figures, Formula, Measurements, PhaseSpec, Step, conditions,
};
use crate::workers::{self, Workers};

/// Runs a test on a target and writes its run directory.
///
/// # Errors
/// Before anything is measured: where the request does not fit or the library cannot be written. After
/// that only [`RunError::Rescued`] (and [`RunError::NotRescued`] where even the rescue failed): a failing
/// target is part of the [`Outcome`].
pub fn run<T: Target>(
    target: &mut T,
    request: &Request,
    control: &mut Control<'_>,
) -> Result<Outcome, RunError> {
    let plan = plan(request, &target.identity(), &target.limits())?;
    let continuation = Continuation::of(request, &plan, &target.identity())?;
    if !request.workers.is_plain() {
        // Only to hear that it cannot be done, before anything is.
        target.workers(&[])?;
    }
    target.confine(plan.span.span_bytes);
    preflight(&request.library, rows_expected(&plan.procedure.steps))?;
    ios::preflight(request)?;
    let start = |meter| PowerWatch::start(meter, target.now());
    let power = request.meter.as_ref().map(start).transpose()?;
    let mut run = new_run(request, &plan, &target.identity(), (control.unix_ns)());
    let meter = power.iter().map(|power| ("meter".to_owned(), power.description().to_owned()));
    run.environment.extend(meter);
    let home = request.workers.home_processor(target).filter(|_| plan.has_single_commands());
    run.environment.extend(workers::home_record(home));
    let writer = create_dir(request, &mut run)?;
    (control.observer)(&started(&run, &plan));
    let mut session = Session::new(request, &plan, run, writer, power);
    session.home = home;
    session.begin_ios(request, target.identity().kind.is_simulated());
    let first = continuation.step;
    session.take_over(continuation, &mut *control.observer)?;
    session.watch_health(target);
    let is_real = target.identity().kind.has_engine();
    session.pulse = is_real.then(Pulse::start).flatten();
    session.reads_as_found |= is_real && plan.only_reads();
    if session.reads_as_found {
        session.sample_data(target, &plan, control.interrupted);
    }
    let (uses, stop) = (UseWatch::over(target).map(Arc::new), control.interrupted);
    session.uses.clone_from(&uses);
    std::thread::scope(|scope| {
        // Dropped at the end of the steps, which ends the watch.
        let (_steps, ended) = channel();
        if let Some(uses) = &uses {
            scope.spawn(move || uses.keep_looking(&ended, stop));
        }
        for step in &plan.procedure.steps[first..] {
            session.step(target, step, control)?;
            if session.run.status != RunStatus::Running {
                break;
            }
        }
        Ok::<_, RunError>(())
    })?;
    // It may have found somebody after the last phase, which concerns no later run.
    uses.and_then(|uses| uses.found(stop));
    session.rest_as_found(target);
    session.end_watches();
    session.finish(control)
}

/// Creates the run directory, under another name if one of the same second has it.
fn create_dir(request: &Request, run: &mut Run) -> Result<RunWriter, RunError> {
    // The salt keeps runs apart that start in the same second on the same drive.
    let salt = run.started_unix_ns ^ u64::from(std::process::id()) << 40 ^ run.seed;
    Ok(RunWriter::create_new(&request.library, run, salt)?)
}

/// Expected rows of the result, for the check of free space.
fn rows_expected(steps: &[Step]) -> u64 {
    const SLOW_FILL_BYTES_PER_S: u64 = 50_000_000;
    let seconds = |phase: &PhaseSpec| match phase.length() {
        Length::Time(duration) => duration.0 / Nanos::SECOND.0,
        Length::Bytes(bytes) => bytes / SLOW_FILL_BYTES_PER_S,
        Length::Unknown => 0,
    };
    let of_step = |step: &Step| {
        let once = step.phases().iter().map(seconds).sum::<u64>();
        once.saturating_mul(step.rounds_max().into())
    };
    steps.iter().map(of_step).fold(0, u64::saturating_add)
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

fn new_run(request: &Request, plan: &Plan, identity: &Identity, unix_ns: u64) -> Run {
    let bare = bare_run(request.test.name(), identity, unix_ns);
    Run {
        target: Identity { facts: facts(request, identity), ..bare.target },
        environment: request.environment.clone(),
        seed: request.seed,
        config: plan.procedure.config.clone(),
        command: request.command.clone(),
        request: request.recorded.clone(),
        invocation: request.invocation.clone(),
        about: request.about.clone(),
        repeat: request.repeat,
        span: plan.span.clone(),
        warnings: warnings(request, plan),
        left_out: request.left_out.clone(),
        ..bare
    }
}

/// The warnings known before the first phase; a quick form comes first.
fn warnings(request: &Request, plan: &Plan) -> Vec<String> {
    let is_quick = request.recorded.as_ref().is_some_and(|recorded| recorded.quick);
    let form = request.test.quick().filter(|_| is_quick).map(|form| {
        let (name, lost) = (request.test.name(), form.lost);
        format!("the quick form of `{name}`, which does not tell: {lost}")
    });
    let others = request.warnings.iter().chain(&plan.procedure.notes);
    form.into_iter().chain(others.cloned()).collect()
}

/// The facts that the target knows, or those of the request, or those of the run to continue.
fn facts(request: &Request, identity: &Identity) -> Facts {
    let earlier = request.resume.as_ref().map(|dir| &dir.run().target.facts);
    let all = [Some(&identity.facts), Some(&request.facts), earlier];
    let known = all.into_iter().flatten().find(|facts| !facts.is_empty());
    known.cloned().unwrap_or_default()
}

/// A run in progress.
struct Session {
    /// The figures, from all measurements so far.
    figures: Formula<Figures>,
    seed: u64,
    /// Whether the run only reads, and so finds the data that others left.
    reads_as_found: bool,
    workers: Workers,
    /// The processor on which the thread stays while it issues one command at a time.
    home: Option<usize>,
    /// Number of phases with random addresses so far; each gets a separate seed.
    random_phases: u64,
    /// Offset of the target's clock: the end of the phases of an earlier run.
    clock_offset_ns: u64,
    run: Run,
    /// The rows of each phase of `run`.
    rows: Vec<PhaseRows>,
    /// The result of replaying a trace, or `None` if none was replayed.
    replay: Option<Meter>,
    /// The jobs of all phases that had several.
    jobs: Vec<JobRecord>,
    /// The conditions of the figures, as far as the plan has them.
    conditions: Conditions,
    /// Warnings that do not come from the figures.
    warnings: Vec<String>,
    writer: RunWriter,
    /// The writer of `ios.parquet`, or `None` without that file.
    ios: Option<ios::Ios>,
    failure: Option<RunError>,
    /// The loads to repeat without a drive.
    fast_loads: FastLoads,
    power: Option<PowerWatch>,
    /// The watch over the program, or `None` on a target in virtual time.
    pulse: Option<Pulse>,
    /// Processor time of the threads of the last load but that of the session.
    workers_time: ProcessorTime,
    /// Largest share of a second of the last jobs in which the processors had work, or `None` if nobody looked.
    busiest_second_share: Option<f64>,
    /// The watch over the drive's health, or `None` if it reports none.
    health: Option<Watch>,
    /// The watch over other users of the target, or `None` if nobody can use it.
    uses: Option<Arc<UseWatch>>,
    /// Whether the target rests: no code may send it a command.
    is_resting: Arc<AtomicBool>,
    /// Whether the power-saving settings of link and drive differ from the original ones.
    rest_switched: bool,
}

impl Session {
    /// Copies the valid parts of an earlier run.
    fn take_over(
        &mut self,
        earlier: Continuation,
        observer: &mut dyn FnMut(&Event),
    ) -> Result<(), RunError> {
        let Continuation { kept, purge, health_before, resumed: Some(resumed), what, .. } = earlier
        else {
            return Ok(());
        };
        observer(&Event::Resumed { run_id: resumed.run_id.clone(), what });
        if let (Some((first, _)), Some((last, _))) = (kept.first(), kept.last()) {
            self.warn(format!(
                "the phases from `{}` to `{}` were measured by the earlier run {}",
                first.name, last.name, resumed.run_id
            ));
        }
        if let Some(run) = earlier.earlier.as_ref().filter(|_| !kept.is_empty()) {
            resume::keep_beside(&mut self.run.environment, &run.run().environment);
        }
        self.random_phases = earlier.random_phases;
        self.run.resumed = Some(resumed);
        self.run.purge = purge;
        self.run.health = health_before
            .map(|before| result::schema::Health { before: Some(before), ..Default::default() });
        for (phase, rows) in kept {
            self.clock_offset_ns = phase.start_ns.saturating_add(phase.duration_ns);
            let name = phase.name.clone();
            self.run.phases.push(phase);
            let added = self.writer.add_phase(&self.run, &name, &rows);
            self.rows.push(rows);
            self.or_rescue(added)?;
        }
        self.keep_ios(earlier.earlier.as_ref());
        self.warn_if_overwritten();
        self.save()
    }

    fn new(
        request: &Request,
        plan: &Plan,
        run: Run,
        writer: RunWriter,
        power: Option<PowerWatch>,
    ) -> Self {
        let warnings = run.warnings.clone();
        Self {
            figures: plan.procedure.figures.clone(),
            seed: request.seed,
            reads_as_found: request.read_only,
            workers: request.workers,
            home: None,
            random_phases: 0,
            clock_offset_ns: 0,
            run,
            rows: Vec::new(),
            replay: None,
            jobs: Vec::new(),
            conditions: conditions::planned(&plan.procedure),
            warnings,
            writer,
            ios: None,
            failure: None,
            fast_loads: FastLoads::default(),
            power,
            pulse: None,
            workers_time: ProcessorTime::default(),
            busiest_second_share: None,
            health: None,
            uses: None,
            is_resting: Arc::default(),
            rest_switched: false,
        }
    }

    fn step<T: Target>(
        &mut self,
        target: &mut T,
        step: &Step,
        control: &mut Control<'_>,
    ) -> Result<(), RunError> {
        match step {
            Step::Phase(phase) => self.kept_phase(target, phase, control)?,
            Step::Adapted { actual, .. } => {
                let phase = actual.of(&self.measured());
                self.kept_phase(target, &phase, control)?;
            }
            Step::Rounds { rounds_max, phases, settled } => {
                for round in 1..=*rounds_max {
                    self.round(target, phases, round, control)?;
                    if self.run.status != RunStatus::Running || settled.of(&self.measured()) {
                        break;
                    }
                }
            }
            Step::Chosen { phases, wanted, .. } => {
                for phase in phases {
                    let running = self.run.status == RunStatus::Running;
                    if running && wanted.of(&self.measured()).contains(&phase.name) {
                        self.kept_phase(target, phase, control)?;
                    }
                }
            }
        }
        self.save()
    }

    /// The phases of a round under names that end in its number, as long as the run continues.
    fn round<T: Target>(
        &mut self,
        target: &mut T,
        phases: &[PhaseSpec],
        round: u32,
        control: &mut Control<'_>,
    ) -> Result<(), RunError> {
        for phase in phases {
            let name = format!("{}.r{round}", phase.name);
            self.kept_phase(target, &PhaseSpec { name, ..phase.clone() }, control)?;
            if self.run.status != RunStatus::Running {
                break;
            }
        }
        self.save()
    }

    fn measured(&self) -> Measurements<'_> {
        Measurements {
            run: &self.run,
            rows: &self.rows,
            replay: self.replay.as_ref(),
            jobs: &self.jobs,
        }
    }

    /// Writes figures and rows to disk, so that a later crash does not lose them.
    fn save(&mut self) -> Result<(), RunError> {
        self.take_figures();
        let written = self.writer.write(&self.run);
        self.or_rescue(written)
    }

    /// Does one phase and keeps its measurements.
    fn kept_phase<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        control: &mut Control<'_>,
    ) -> Result<(), RunError> {
        let PhaseSpec { name, what, .. } = spec;
        let (length, what) = (spec.length(), what.clone());
        (control.observer)(&Event::PhaseStarted { name: name.clone(), what, length });
        if control.interrupted.load(Ordering::Relaxed) {
            self.run.status = RunStatus::Interrupted;
            return Ok(());
        }
        if self.is_used_by_others(control) {
            return Ok(());
        }
        self.look_between_phases();
        let (begin, host) = (Pulse::now(), self.is_host_told(spec).then(HostWatch::begin));
        let (mut phase, mut rows) = self.phase(target, spec, control);
        let others = std::mem::take(&mut self.workers_time);
        let busiest = self.busiest_second_share.take();
        phase.host = host.map(|host| host.end(others, busiest));
        phase.stops = self.pulse.as_ref().map_or_else(Vec::new, |pulse| pulse.stops_since(begin));
        pulse::warning(name, &phase.stops).into_iter().for_each(|warning| self.warn(warning));
        phase.complete &= !self.is_used_by_others(control);
        self.look_between_phases();
        if let Some(power) = &self.power {
            power.fill(phase.start_ns, &mut rows.seconds);
        }
        phase.start_ns = phase.start_ns.saturating_add(self.clock_offset_ns);
        if let (Action::Load { workload, .. }, Some(_)) = (&spec.action, &phase.host) {
            self.fast_loads.add(self.run.phases.len(), &phase, workload);
        }
        let (ios, duration) = (phase.ios, Nanos(phase.duration_ns));
        (control.observer)(&Event::PhaseEnded { name: name.clone(), ios, duration });
        self.run.phases.push(phase);
        self.rows.push(rows);
        let Some(rows) = self.rows.last() else { return Ok(()) };
        let kept = self.writer.add_phase(&self.run, name, rows);
        self.or_rescue(kept)
    }

    /// Whether a phase issues commands to a real target; jobs have due times that the host may miss on any clock but a
    /// virtual one.
    fn is_host_told(&self, spec: &PhaseSpec) -> bool {
        let kind = self.run.target.kind;
        match spec.action {
            Action::Load { .. } | Action::Replay(_) => kind.has_engine(),
            Action::Jobs(_) => !kind.is_simulated(),
            _ => false,
        }
    }

    /// Whether somebody else uses the target, which ends the run. A run that has failed keeps its
    /// reason: the target may be gone.
    fn is_used_by_others(&mut self, control: &Control<'_>) -> bool {
        if self.failure.is_some() {
            return false;
        }
        let found = self.uses.as_ref().and_then(|uses| uses.look(control.interrupted));
        found.map(|error| self.fail(error.into())).is_some()
    }

    fn phase<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        control: &mut Control<'_>,
    ) -> (Phase, PhaseRows) {
        let confirmed = target.confirm_identity();
        let start = target.now();
        let mut what = spec.what.clone();
        let done = match &spec.action {
            Action::Load { workload, duration, zones } => {
                let seed = self.phase_seed(workload.order.is_random());
                let generators = Generator::shares(workload, seed, self.workers.count);
                let length = *duration;
                let recorder = zones.map_or_else(
                    || Recorder::new(start, length),
                    |zones| Recorder::of_zones(start, zones),
                );
                let taps = self.taps(spec, start, Vec::new(), generators.len());
                let recorder = recorder.with_taps(taps);
                return match confirmed {
                    Ok(()) => self.load(target, spec, generators, recorder, control),
                    Err(error) => self.driven(target, spec, recorder, Err(error.into())),
                };
            }
            Action::Replay(replay) => return self.replay(target, spec, replay, control),
            Action::Jobs(jobs) => {
                let names = jobs.jobs.iter().map(|job| job.name.clone()).collect();
                let taps = self.taps(spec, start, names, 1);
                let recorder = Recorder::new(start, jobs.duration).with_taps(taps);
                return match confirmed {
                    Ok(()) => self.jobs(target, spec, jobs, recorder, control),
                    Err(error) => self.driven(target, spec, recorder, Err(error.into())),
                };
            }
            Action::Purge => confirmed.and_then(|()| self.purge(target, control)).map(|method| {
                what = format!("{what}; method: {}", method.name());
            }),
            Action::PurgeToScale(scale) => {
                confirmed.and_then(|()| self.purge_to_scale(target, *scale))
            }
            Action::Deallocate { offset_bytes, len_bytes } => {
                confirmed.and_then(|()| target.deallocate(*offset_bytes, *len_bytes))
            }
            Action::Age(past) => target.age(*past),
            Action::ManageZones { order, writes } => {
                return match confirmed {
                    Ok(()) => self.manage_zones(target, spec, (*order, writes), control),
                    Err(error) => {
                        let recorder = Recorder::new(start, None);
                        self.driven(target, spec, recorder, Err(error.into()))
                    }
                };
            }
            Action::Idle(duration) => return self.idle(target, spec, *duration, control),
            Action::SetRest(rest) => return self.set_rest(target, spec, *rest),
        };
        let interrupted = control.interrupted.load(Ordering::Relaxed);
        let mut phase = phase_record(spec, what, start, target.now());
        phase.complete = done.is_ok() && !interrupted;
        match done {
            Err(TargetError::Interrupted(state)) => {
                self.warn(state);
                self.run.status = RunStatus::Interrupted;
            }
            Err(error) => {
                phase.errors = 1;
                self.fail(error.into());
            }
            Ok(()) if interrupted => self.run.status = RunStatus::Interrupted,
            Ok(()) => {}
        }
        (phase, PhaseRows::default())
    }

    /// The first phase with random addresses uses the seed of the run, independent of other phases;
    /// the later ones must not repeat its addresses.
    fn phase_seed(&mut self, is_random: bool) -> u64 {
        const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
        let seed = self.seed.wrapping_add(self.random_phases.wrapping_mul(STRIDE));
        self.random_phases += u64::from(is_random);
        seed
    }

    fn fail(&mut self, error: RunError) {
        self.run.status = RunStatus::Failed;
        self.warn(format!("the run ended early: {error}"));
        self.failure = Some(error);
    }

    fn warn(&mut self, warning: String) {
        self.run.warnings.push(warning.clone());
        self.warnings.push(warning);
    }

    fn take_figures(&mut self) {
        let measured = self.measured();
        let figures = self.figures.of(&measured).with_marks(&measured);
        let Figures { metrics, marks, mut tables, verdict, findings, warnings } = figures;
        let common = conditions::of_run(&self.conditions, &self.run);
        for table in &mut tables {
            table.conditions = conditions::of_table(&table.conditions, &common);
        }
        self.run.marks = marks;
        self.run.marks.extend(pulse::marks(&self.run.phases, &metrics));
        self.run.metrics = metrics;
        self.run.tables = tables;
        self.run.verdict = verdict;
        self.run.findings = findings;
        self.run.warnings = self.warnings.iter().cloned().chain(warnings).collect();
    }

    fn finish(mut self, control: &mut Control<'_>) -> Result<Outcome, RunError> {
        if self.run.status == RunStatus::Running {
            let threads = Threads { workers: self.workers, home: self.home, seed: self.seed };
            let fast_loads = std::mem::take(&mut self.fast_loads);
            fast_loads.repeat(&mut self.run.phases, threads, control.interrupted);
            self.run.status = RunStatus::Complete;
        }
        self.end_ios();
        self.run.finished_unix_ns = (control.unix_ns)();
        // Some figures need the readings of the drive's health, which end with the run.
        self.take_figures();
        for warning in &self.run.warnings {
            (control.observer)(&Event::Warning(warning.clone()));
        }
        let written = self.writer.finish(&self.run);
        self.or_rescue(written)?;
        let dir = self.writer.path().to_owned();
        Ok(Outcome { dir, run: self.run, failure: self.failure })
    }

    /// Saves all measurements elsewhere if the library cannot be written.
    fn or_rescue(&mut self, written: Result<(), StoreError>) -> Result<(), RunError> {
        let Err(source) = written else { return Ok(()) };
        if self.run.status == RunStatus::Running {
            self.run.status = RunStatus::Failed;
        }
        self.warn(format!("the library could not be written: {source}"));
        self.drop_ios();
        match self.writer.rescue(&std::env::temp_dir(), &self.run) {
            Ok(rescued) => Err(RunError::Rescued { source, rescued }),
            Err(_) => Err(RunError::NotRescued { source, kept: self.writer.path().to_owned() }),
        }
    }
}

/// A phase without commands, from `start` to `end`.
fn phase_record(spec: &PhaseSpec, what: String, start: Nanos, end: Nanos) -> Phase {
    Phase {
        name: spec.name.clone(),
        what,
        start_ns: start.0,
        duration_ns: end.0.saturating_sub(start.0),
        load: match &spec.action {
            Action::Load { workload, .. } => Some(load_record(workload)),
            _ => None,
        },
        ..Phase::default()
    }
}

/// The commands of a workload for `run.json`.
fn load_record(workload: &Workload) -> Load {
    Load {
        read_percent: workload.mix.read_percent(),
        deallocate_percent: workload.mix.deallocate_percent(),
        block_bytes: workload.block_bytes,
        order: workload.order.to_string(),
        queue_depth: workload.queue_depth,
        rate: workload.pacing.highest_iops().map(|_| workload.pacing.to_string()),
        offset_bytes: workload.span_offset_bytes,
        span_bytes: workload.span_bytes,
    }
}
