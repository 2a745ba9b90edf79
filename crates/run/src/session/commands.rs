//! Phases that are recorded second by second: a workload, a trace, or a rest.

use std::sync::atomic::Ordering;

use base::{Completion, Data, Identity, Nanos, Op, OpKind, Status};
use device::host::affinity::Stay;
use load::{Generator, Pacing, Workload};
use result::rows::{PhaseRows, SecondRow};
use result::schema::{Phase, RunStatus};
use result::stats::findings::time;
use result::stats::latency::WAIT_NS;
use target::Rest;
use target::Target;
use target::TargetError;
use target::ZoneOrder;

use super::{Control, Session, phase_record};
use crate::drive::{End, drive, start_telemetry};
use crate::error::{RunError, command_failed};
use crate::event::Event;
use crate::recorder::Recorder;
use crate::replay::{Meter, Observer, ReplaySpec, replay};
use crate::suite::{PhaseSpec, storage_bench};
use crate::workers::{Second, drive_workers};

impl Session {
    /// Issues a workload, with one thread for each of its parts.
    pub(super) fn load<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        mut generators: Vec<Generator>,
        mut recorder: Recorder,
        control: &mut Control<'_>,
    ) -> (Phase, PhaseRows) {
        self.look_for_data(target, &mut recorder);
        let deadline = recorder.deadline();
        let pacing = generators[0].workload().pacing;
        let is_single = generators[0].workload().queue_depth == 1;
        // The threads that watch were started before: they may run elsewhere.
        let _stay = self.home.filter(|_| is_single).and_then(|home| Stay::on(&[home]));
        let observer = &mut *control.observer;
        let end = if generators.len() == 1 && !self.workers.is_pinned() {
            let told = |recorder: &Recorder| observer(&second_event(recorder));
            let generator = &mut generators[0];
            drive(target, generator, deadline, &mut recorder, control.interrupted, told)
        } else {
            let told = |(row, bytes): &Second| observer(&row_event(row, *bytes));
            let pin = self.workers.is_pinned();
            drive_workers(target, generators, pin, &mut recorder, control.interrupted, told)
        };
        if let (Ok(End::Complete), Some(deadline)) = (&end, deadline) {
            target.idle_until(deadline);
        }
        if recorder.ios_not_issued > 0 {
            let counts = (recorder.ios, recorder.ios_not_issued);
            self.warn(not_kept_up(&format!("phase `{}`", spec.name), pacing, counts));
        }
        self.driven(target, spec, recorder, end.map_err(RunError::from))
    }

    /// Replays a trace.
    pub(super) fn replay<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        replayed: &ReplaySpec,
        control: &mut Control<'_>,
    ) -> (Phase, PhaseRows) {
        let start = target.now();
        let mut recorder = Recorder::new(start, None);
        let observer = &mut *control.observer;
        let mut on_second = |recorder: &Recorder| observer(&second_event(recorder));
        let mut observer = Observer { interrupted: control.interrupted, on_second: &mut on_second };
        let opened = target.confirm_identity().map_err(RunError::from);
        let end = opened.and_then(|()| replayed.feed()).and_then(|mut feed| {
            let streams = &feed.info().streams;
            let mut meter = Meter::new(streams);
            let taps = self.taps(spec, start, streams.clone(), 1);
            recorder = Recorder::new(start, None).with_taps(taps);
            recorder.unwritten_before = target.unwritten_reads();
            let recorders = (&mut recorder, &mut meter);
            let end = replay(target, replayed, &mut feed, recorders, &mut observer);
            let remarks = storage_bench::remarks(&feed, replayed);
            let who = format!("phase `{}`", spec.name);
            let remarks = remarks.into_iter().chain(meter.backlog.sentence(&who, start));
            remarks.for_each(|remark| self.warn(remark));
            meter.changes = feed.changes();
            self.replay = Some(meter);
            end
        });
        self.driven(target, spec, recorder, end)
    }

    /// Gives an order to each zone after some writes into it, and records the time of the order as that of a
    /// deallocation. A pause before it lets what has been written reach the NAND.
    pub(super) fn manage_zones<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        (order, writes): (ZoneOrder, &Workload),
        control: &mut Control<'_>,
    ) -> (Phase, PhaseRows) {
        let mut recorder = Recorder::new(target.now(), None);
        start_telemetry(target, &recorder);
        let zone_bytes = target.limits().zones.map_or(u64::MAX, |zones| zones.size_bytes);
        let mut end = Ok(End::Complete);
        for zone in 0..writes.span_bytes / zone_bytes {
            let offset = zone * zone_bytes;
            let into =
                Workload { span_offset_bytes: offset, span_bytes: zone_bytes, ..writes.clone() };
            let took = write_all(target, into).and_then(|()| {
                target.idle_until(Nanos(target.now().0.saturating_add(Nanos::SECOND.0)));
                Ok((target.now(), target.manage_zone(zone as u32, order)?))
            });
            match took {
                Err(error) => end = Err(error),
                Ok((submitted, took)) => {
                    let done = Nanos(submitted.0.saturating_add(took.0));
                    let (tag, status) = (0, Status::Ok);
                    let ended = Completion { tag, status, submitted, done };
                    recorder.completed(&order_at(offset), &ended);
                }
            }
            target.telemetry_take(recorder.telemetry_mut());
            (control.observer)(&second_event(&recorder));
            if control.interrupted.load(Ordering::Relaxed) {
                end = end.map(|_| End::Interrupted);
            }
            if !matches!(end, Ok(End::Complete)) {
                break;
            }
        }
        self.driven(target, spec, recorder, end.map_err(RunError::from))
    }

    /// Leaves the target alone, and checks the stop button once per second.
    pub(super) fn idle<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        duration: Nanos,
        control: &mut Control<'_>,
    ) -> (Phase, PhaseRows) {
        let start = target.now();
        let until = Nanos(start.0.saturating_add(duration.0));
        let mut recorder = Recorder::new(start, Some(duration));
        start_telemetry(target, &recorder);
        self.is_resting.store(true, Ordering::Relaxed);
        while target.now() < until && !control.interrupted.load(Ordering::Relaxed) {
            let second = target.now().0.saturating_add(Nanos::SECOND.0);
            target.idle_until(Nanos(second).min(until));
            recorder.passed(target.now());
            target.telemetry_take(recorder.telemetry_mut());
            (control.observer)(&second_event(&recorder));
        }
        self.is_resting.store(false, Ordering::Relaxed);
        let interrupted = control.interrupted.load(Ordering::Relaxed);
        let end = if interrupted { End::Interrupted } else { End::Complete };
        self.driven(target, spec, recorder, Ok(end))
    }

    /// Switches the permission of link and drive to rest. If that fails, only the figures that need
    /// it are missing.
    pub(super) fn set_rest<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        rest: Rest,
    ) -> (Phase, PhaseRows) {
        let start = target.now();
        let switched = target.set_rest(rest);
        self.rest_switched = true;
        let mut phase = phase_record(spec, spec.what.clone(), start, target.now());
        phase.complete = switched.is_ok();
        match switched {
            Ok(words) => phase.what = format!("{}: {words}", spec.what),
            Err(error) => {
                phase.errors = 1;
                self.warn(format!("could not {}: {}", spec.what, error.with_cause()));
            }
        }
        (phase, PhaseRows::default())
    }

    /// Restores the switched settings; if that fails, the target's journal keeps them for the next
    /// start.
    pub(super) fn rest_as_found<T: Target>(&mut self, target: &mut T) {
        if !std::mem::take(&mut self.rest_switched) {
            return;
        }
        if let Err(error) = target.set_rest(Rest::AsFound) {
            let error = error.with_cause();
            self.warn(format!("what link and drive may do at rest is not put back: {error}"));
        }
    }

    /// The record and the rows of a completed phase of commands.
    pub(super) fn driven<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        mut recorder: Recorder,
        end: Result<End, RunError>,
    ) -> (Phase, PhaseRows) {
        // A phase that ends by itself, or is stopped, ends now, in the midst of a second.
        target.telemetry_stop_at(target.now());
        target.telemetry_take(recorder.telemetry_mut());
        let failed = recorder
            .first_error
            .map(|(op, errno)| command_failed(&op, errno, target.failure_words()));
        let start = recorder.start();
        let Phase { name, what, load, .. } = phase_record(spec, spec.what.clone(), start, start);
        let mut phase = Phase { name, what, load, ..recorder.record() };
        phase.complete = matches!(end, Ok(End::Complete));
        self.workers_time = recorder.processor_time;
        let (busy_ns, unwritten_before) = (recorder.busy_ns, recorder.unwritten_before);
        let reads_constant = recorder.reads_constant;
        let (rows, length) = recorder.finish(target.now());
        phase.duration_ns = length.0;
        if self.is_host_measured(&phase) && length.0 > 0 {
            phase.host_busy_share = Some(busy_ns as f64 / length.0 as f64);
        }
        let unwritten = target.unwritten_reads().zip(unwritten_before);
        let unwritten = unwritten.map(|(now, before)| now.saturating_sub(before));
        phase.reads_unwritten = unwritten.or(reads_constant);
        self.tell_what_was_outstanding(&phase, &rows);
        match (end, failed) {
            (Err(error), _) => self.fail(error),
            (Ok(_), Some(failed)) => self.fail(failed.into()),
            (Ok(End::Interrupted), None) => self.run.status = RunStatus::Interrupted,
            (Ok(End::Overlong), None) => self.fail(overlong(spec, &phase)),
            (Ok(_), None) => {}
        }
        (phase, rows)
    }

    /// Lets a run that only reads count the reads that find no data: as the target tells, or by their content.
    pub(super) fn look_for_data<T: Target>(&self, target: &T, recorder: &mut Recorder) {
        if self.reads_as_found {
            recorder.unwritten_before = target.unwritten_reads();
            recorder.reads_constant = Some(0);
        }
    }

    /// Whether the processor time of the threads of a phase tells that the host limits it: not if
    /// they are busy waiting, for completions or for due times.
    fn is_host_measured(&self, phase: &Phase) -> bool {
        let Identity { kind, engine, .. } = &self.run.target;
        let polls = ["polled", "submission thread"].iter().any(|word| engine.contains(word));
        let is_closed = phase.load.as_ref().is_some_and(|load| load.rate.is_none());
        is_closed && !polls && kind.has_engine()
    }

    /// Warns if latencies of a phase come from commands that were outstanding at its end or at a
    /// failure.
    fn tell_what_was_outstanding(&mut self, phase: &Phase, rows: &PhaseRows) {
        if let Some(longest_ns) = phase.latency_ns_max_after_end.filter(|ns| *ns >= WAIT_NS) {
            self.warn(late_ends(phase, longest_ns));
        }
        let is_data = self.run.data_sample.is_some_and(|sample| sample.constants_are_data());
        if phase.reads_unwritten.is_some_and(|reads| reads > 0) && !is_data {
            self.warn(unwritten(phase, self.reads_as_found));
        }
        if phase.ios_unanswered > 0 {
            let longest_ns = rows.seconds.iter().filter_map(|row| row.latency_ns_max).max();
            self.warn(unanswered(phase, longest_ns.unwrap_or_default()));
        }
    }
}

/// Issues a workload of writes to its end, one command at a time.
fn write_all<T: Target>(target: &mut T, writes: Workload) -> Result<(), TargetError> {
    let mut generator = Generator::new(writes, 0);
    let mut ended = Vec::new();
    while let Some(op) = generator.next_op(0) {
        target.submit(&[op]);
        while ended.is_empty() {
            target.reap(1, &mut ended)?;
        }
        if let Some(Status::Failed { errno }) = ended.pop().map(|end| end.status) {
            return Err(command_failed(&op, errno, target.failure_words()));
        }
    }
    Ok(())
}

/// An order to a zone as the rows count it.
const fn order_at(offset: u64) -> Op {
    let data = Data::Incompressible;
    Op { kind: OpKind::Deallocate, data, fua: false, placement: 0, len: 0, tag: 0, offset }
}

pub(super) fn second_event(recorder: &Recorder) -> Event {
    let Some(row) = recorder.seconds().last() else { return Event::Warning(String::new()) };
    row_event(row, recorder.bytes)
}

fn row_event(row: &SecondRow, bytes_done: u64) -> Event {
    let ios: u64 = row.ios.iter().sum();
    Event::Second {
        second: row.second,
        iops: ios as f64 / Nanos(row.duration_ns).as_secs_f64(),
        bytes_done,
        elapsed: Nanos(row.start_ns + row.duration_ns),
        latency_ns_p99: row.latency_ns_p99,
    }
}

/// Warning: a phase that should have ended by itself.
fn overlong(spec: &PhaseSpec, phase: &Phase) -> RunError {
    let context = format!(
        "phase `{}` was stopped after 30 days on the target's clock, of which there is a row for each second: it \
         had done {} commands and {} bytes; for a shorter one use less of the target (--span)",
        spec.name, phase.ios, phase.bytes
    );
    RunError::Target(TargetError::Device { context, source: std::io::ErrorKind::TimedOut.into() })
}

/// Warning: a phase whose slowest command ended after it.
fn late_ends(phase: &Phase, longest_ns: u64) -> String {
    format!(
        "phase `{}`: the longest latency, {}, is that of a command that was outstanding at its end; what ended after \
         the phase (commands: {}) counts into its latencies and not into its rates",
        phase.name,
        time(longest_ns as f64),
        phase.ios_after_end + phase.ios_unanswered
    )
}

/// Warning: a phase with reads of blocks without data.
fn unwritten(phase: &Phase, reads_as_found: bool) -> String {
    let (name, reads) = (&phase.name, phase.reads_unwritten.unwrap_or_default());
    if reads_as_found {
        return format!(
            "phase `{name}`: {reads} of {} reads found no data, only one repeated byte: blocks that were never written, or \
             were trimmed, are answered without NAND, so its figures are too good",
            phase.ios + phase.ios_after_end
        );
    }
    format!(
        "phase `{name}`: reads of blocks that were never written, or were trimmed (commands: {reads}), are answered without \
         NAND, so its figures are too good; fill the span first"
    )
}

/// Warning: a phase with commands that failed, or were outstanding at the loss of the target.
fn unanswered(phase: &Phase, longest_ns: u64) -> String {
    format!(
        "phase `{}`: what had no answer (commands: {}) counts into its latencies with the time that it waited; the \
         longest latency is at least {}",
        phase.name,
        phase.ios_unanswered,
        time(longest_ns as f64)
    )
}

/// Warning: a phase whose target was slower than the requested rate.
pub(super) fn not_kept_up(who: &str, pacing: Pacing, (ios, ios_not_issued): (u64, u64)) -> String {
    format!(
        "{who}: the target did not keep up with a rate of {pacing}: {ios} commands ended in time, and \
         {ios_not_issued} that were due found no room in the queue; their latencies are missing, so the true \
         ones are longer"
    )
}
