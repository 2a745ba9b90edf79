//! Phases that issue commands: a workload, or a trace.

use base::Nanos;
use io::Target;
use load::Generator;
use result::rows::PhaseRows;
use result::schema::{Phase, RunStatus};

use super::{Control, Session, phase_record};
use crate::drive::{End, drive};
use crate::error::RunError;
use crate::event::Event;
use crate::recorder::Recorder;
use crate::replay::{Meter, Observer, ReplaySpec, replay};
use crate::suite::{PhaseSpec, storage_bench};

impl Session {
    /// Issues a workload.
    pub(super) fn load<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        mut generator: Generator,
        mut recorder: Recorder,
        duration: Option<Nanos>,
        control: &mut Control<'_>,
    ) -> (Phase, PhaseRows) {
        let start = target.now();
        let deadline = duration.map(|duration| Nanos(start.0.saturating_add(duration.0)));
        let observer = &mut *control.observer;
        let end = target.confirm_identity().and_then(|()| {
            let seconds = |recorder: &Recorder| observer(&second_event(recorder));
            drive(target, &mut generator, deadline, &mut recorder, control.interrupted, seconds)
        });
        if let (Ok(End::Complete), Some(deadline)) = (&end, deadline) {
            target.idle_until(deadline);
        }
        let end = end.map_err(RunError::from);
        self.driven(target, spec, start, recorder, end)
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
            let mut meter = Meter::new(&feed.info().streams);
            let recorders = (&mut recorder, &mut meter);
            let end = replay(target, replayed, &mut feed, recorders, &mut observer);
            let remarks = storage_bench::remarks(&feed, replayed);
            remarks.into_iter().for_each(|remark| self.warn(remark));
            self.replay = Some(meter);
            end
        });
        self.driven(target, spec, start, recorder, end)
    }

    /// The record and the rows of a phase of commands that has come to an end.
    fn driven<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        start: Nanos,
        mut recorder: Recorder,
        end: Result<End, RunError>,
    ) -> (Phase, PhaseRows) {
        target.telemetry_take(recorder.telemetry_mut());
        let failed = recorder.first_error.map(|(op, errno)| command_failed(&op, errno));
        let mut phase = phase_record(spec, spec.what.clone(), start, start);
        phase.complete = matches!(end, Ok(End::Complete));
        (phase.ios, phase.bytes) = (recorder.ios, recorder.bytes);
        (phase.errors, phase.ios_after_end) = (recorder.errors, recorder.ios_after_end);
        let (rows, length) = recorder.finish(target.now());
        phase.duration_ns = length.0;
        match (end, failed) {
            (Err(error), _) => self.fail(error),
            (Ok(_), Some(failed)) => self.fail(failed.into()),
            (Ok(End::Interrupted), None) => self.run.status = RunStatus::Interrupted,
            (Ok(_), None) => {}
        }
        (phase, rows)
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
