//! Seconds of a phase as they pass: telemetry of each, and a word to the observer.

use base::Nanos;
use target::capability::Telemetry;

use crate::recorder::Recorder;

/// Has the target tell of every second of the phase, and of what is left of it after the last whole one.
pub(crate) fn start_telemetry<T: Telemetry>(target: &mut T, recorder: &Recorder) {
    target.telemetry_start(Nanos::SECOND);
    if let Some(end) = recorder.deadline() {
        target.telemetry_stop_at(end);
    }
}

/// The seconds that have passed.
pub(crate) struct Seconds {
    count: usize,
}

impl Seconds {
    /// Begins with the phase.
    pub(crate) fn start<T: Telemetry>(target: &mut T, recorder: &Recorder) -> Self {
        start_telemetry(target, recorder);
        Self { count: 0 }
    }

    /// Notes that it is `now`; calls `on_second` if at least one more second has been recorded.
    #[inline]
    pub(crate) fn passed<T: Telemetry>(
        &mut self,
        now: Nanos,
        target: &mut T,
        recorder: &mut Recorder,
        on_second: impl FnOnce(&Recorder),
    ) {
        recorder.passed(now);
        if recorder.seconds().len() > self.count {
            self.count = recorder.seconds().len();
            target.telemetry_take(recorder.telemetry_mut());
            on_second(recorder);
        }
    }
}
