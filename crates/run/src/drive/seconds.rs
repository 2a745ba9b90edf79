//! The seconds of a phase: telemetry of each, and a call of the observer.

use base::Nanos;
use target::Target;

use crate::recorder::Recorder;

/// Makes the target report telemetry for every second of the phase, and for the rest after the last
/// whole one.
pub(crate) fn start_telemetry<T: Target>(target: &mut T, recorder: &Recorder) {
    target.telemetry_start(Nanos::SECOND);
    if let Some(end) = recorder.deadline() {
        target.telemetry_stop_at(end);
    }
}

/// The seconds so far.
pub(crate) struct Seconds {
    count: usize,
}

impl Seconds {
    /// Begins with the phase.
    pub(crate) fn start<T: Target>(target: &mut T, recorder: &Recorder) -> Self {
        start_telemetry(target, recorder);
        Self { count: 0 }
    }

    /// Advances to `now`; calls `on_second` if at least one more second has been recorded.
    #[inline]
    pub(crate) fn passed<T: Target>(
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
