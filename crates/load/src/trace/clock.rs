//! The clock of a trace file: it may go back, be a counter that wraps, or have coarse steps.
//!
//! A step back has one of three reasons. **Disorder**: several processors or volumes wrote one
//! file, or a log is in the order of completion; the I/O is sorted to its place and counted.
//! **A wrap**: the clock is a counter of 32 bits; the time goes on. **A restart**: a second
//! recording stands in the file; it is put behind the first, because sorting both together would
//! be a load that never was. A step back is a restart if it is longer than disorder is (1 s, or
//! 0.1 s if it leads to the first time of the recording), the service time does not explain it, and
//! the I/Os after it stay there: a single I/O with a wrong time is no recording.

use std::collections::VecDeque;

use super::format::{Raw, RawSource};
use super::{Problems, TraceError};

/// A longer step back is no disorder.
const DISORDER_NS_MAX: u64 = 1_000_000_000;

/// A longer step back to the first time of a recording, or before, is no disorder.
const DISORDER_AT_START_NS_MAX: u64 = 100_000_000;

/// I/Os behind a step back that tell a recording from a wrong time.
const AHEAD_IOS: usize = 8;

/// Values of a counter of 32 bits.
const LAP: u64 = 1 << 32;

/// The longest pause across a wrap, in values of the counter.
const WRAP_PAUSE_MAX: u64 = LAP >> 4;

/// Shorter steps of a clock are fine enough for pauses and bursts.
const COARSE_NS_MIN: u64 = 10_000_000;

/// A clock is coarse if at least one I/O among this number has the time of the one before.
const REPEATS: u64 = 4;

/// Fewest steps of a clock that have a divisor by more than chance.
const STEPS_MIN: u64 = 3;

/// I/Os in the order of a file, with times that go on.
pub(super) struct Clock {
    raw: Box<dyn RawSource>,
    ahead: VecDeque<Raw>,
    ended: bool,
    /// Unit of a clock that may be a counter of 32 bits, in ns; `None` if it is none.
    pub(super) counter_ns: Option<u64>,
    /// The present recording; `None` before the first I/O.
    recording: Option<Recording>,
    steps: Steps,
    moved_ios: u64,
    restarts: u64,
    wraps: u64,
}

/// A recording with one clock. Times are those of the file.
#[derive(Clone, Copy)]
struct Recording {
    first_ns: u64,
    latest_ns: u64,
    /// Added to a time of the file, it gives the time in the trace.
    shift_ns: u64,
    /// Time in the trace before which the recording has no I/O.
    floor_ns: u64,
    /// Whether the counter has wrapped in it.
    wrapped: bool,
}

impl Recording {
    fn time_ns(&self, file_ns: u64) -> u64 {
        let time_ns = file_ns.saturating_add(self.shift_ns).max(self.floor_ns);
        time_ns.min(i64::MAX as u64)
    }
}

impl Clock {
    /// The I/Os of `raw`, whose times may be a counter of 32 bits in units of `counter_ns`.
    pub(super) fn new(raw: Box<dyn RawSource>, counter_ns: Option<u64>) -> Self {
        Self {
            raw,
            ahead: VecDeque::new(),
            ended: false,
            counter_ns,
            recording: None,
            steps: Steps::default(),
            moved_ios: 0,
            restarts: 0,
            wraps: 0,
        }
    }

    /// The source of the I/Os.
    pub(super) fn raw(&self) -> &dyn RawSource {
        &*self.raw
    }

    /// The next I/O with its time in the trace, sorted or not; `None` at the end.
    ///
    /// # Errors
    /// If the rest of the file cannot be read.
    pub(super) fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        self.look_ahead(1)?;
        let Some(mut raw) = self.ahead.pop_front() else { return Ok(None) };
        let file_ns = raw.record.issue_ns;
        raw.record.issue_ns = self.time_ns(file_ns, raw.service_ns)?;
        Ok(Some(raw))
    }

    /// Adds what the clock did to the problems of the source.
    pub(super) fn add_to(&self, problems: &mut Problems) {
        problems.moved_ios += self.moved_ios;
        problems.clock_restarts += self.restarts;
        problems.clock_wraps += self.wraps;
        problems.remarks.extend(self.steps.remark());
    }

    fn look_ahead(&mut self, ios: usize) -> Result<(), TraceError> {
        while self.ahead.len() < ios && !self.ended {
            match self.raw.next_raw()? {
                Some(raw) => self.ahead.push_back(raw),
                None => self.ended = true,
            }
        }
        Ok(())
    }

    fn time_ns(&mut self, file_ns: u64, service_ns: Option<u64>) -> Result<u64, TraceError> {
        let Some(mut recording) = self.recording else {
            let recording = Recording {
                first_ns: file_ns,
                latest_ns: file_ns,
                shift_ns: 0,
                floor_ns: 0,
                wrapped: false,
            };
            self.recording = Some(recording);
            self.steps.add(None, file_ns);
            return Ok(recording.time_ns(file_ns));
        };
        let latest_ns = recording.latest_ns;
        if let Some(lap_ns) = self.before_the_wrap(&recording, file_ns) {
            self.moved_ios += 1;
            recording.shift_ns = recording.shift_ns.saturating_sub(lap_ns);
            return Ok(recording.time_ns(file_ns));
        }
        if file_ns >= latest_ns {
            self.steps.add(Some(latest_ns), file_ns);
            recording.latest_ns = file_ns;
        } else if self.is_disorder(&recording, file_ns, service_ns)? {
            self.steps.add(Some(latest_ns), file_ns);
            self.moved_ios += 1;
        } else if let Some(lap_ns) = self.lap_ns(latest_ns, file_ns) {
            self.wraps += 1;
            recording.shift_ns = recording.shift_ns.saturating_add(lap_ns);
            (recording.latest_ns, recording.first_ns) = (file_ns, 0);
            recording.wrapped = true;
        } else {
            self.restarts += 1;
            let floor_ns = recording.time_ns(latest_ns);
            let shift_ns = floor_ns.saturating_sub(file_ns);
            let (first_ns, latest_ns) = (file_ns, file_ns);
            recording = Recording { first_ns, latest_ns, shift_ns, floor_ns, wrapped: false };
        }
        self.recording = Some(recording);
        Ok(recording.time_ns(file_ns))
    }

    /// Whether an earlier time than the latest one is a matter of order only.
    fn is_disorder(
        &mut self,
        recording: &Recording,
        file_ns: u64,
        service_ns: Option<u64>,
    ) -> Result<bool, TraceError> {
        let Recording { first_ns, latest_ns, .. } = *recording;
        let is_start = file_ns <= first_ns;
        let most_ns = if is_start { DISORDER_AT_START_NS_MAX } else { DISORDER_NS_MAX };
        // A log in the order of completion has the I/O at its end.
        let end_ns = service_ns.map_or(file_ns, |service_ns| file_ns.saturating_add(service_ns));
        if latest_ns - file_ns <= most_ns || end_ns >= latest_ns {
            return Ok(true);
        }
        self.look_ahead(AHEAD_IOS)?;
        let times = self.ahead.iter().map(|raw| raw.record.issue_ns);
        let back = times.filter(|ns| ns.abs_diff(latest_ns) < ns.abs_diff(file_ns)).count();
        Ok(self.ahead.is_empty() || back * 2 > self.ahead.len())
    }

    /// Length of a lap of the counter if the step back is its wrap, else `None`.
    fn lap_ns(&self, latest_ns: u64, file_ns: u64) -> Option<u64> {
        let lap_ns = self.lap()?;
        let pause_ns = (file_ns + lap_ns).checked_sub(latest_ns).filter(|_| latest_ns < lap_ns)?;
        (pause_ns <= WRAP_PAUSE_MAX * (lap_ns / LAP)).then_some(lap_ns)
    }

    /// Length of a lap if the time belongs before the last wrap of the counter, else `None`.
    fn before_the_wrap(&self, recording: &Recording, file_ns: u64) -> Option<u64> {
        let lap_ns = self.lap().filter(|_| recording.wrapped)?;
        // A longer way is a pause.
        let back_ns = recording.latest_ns.saturating_add(lap_ns).saturating_sub(file_ns);
        let is_before = file_ns < lap_ns && back_ns <= DISORDER_NS_MAX.min(lap_ns / 4);
        is_before.then_some(lap_ns)
    }

    fn lap(&self) -> Option<u64> {
        self.counter_ns.and_then(|unit_ns| LAP.checked_mul(unit_ns))
    }
}

/// The steps of a clock from I/O to I/O.
#[derive(Default)]
struct Steps {
    ios: u64,
    /// I/Os with the time of the one before, and with another time.
    repeats: u64,
    steps: u64,
    /// The greatest common divisor of all steps; 0 before the first.
    unit_ns: u64,
}

impl Steps {
    fn add(&mut self, before_ns: Option<u64>, file_ns: u64) {
        self.ios += 1;
        let Some(before_ns) = before_ns else { return };
        let step_ns = before_ns.abs_diff(file_ns);
        self.repeats += u64::from(step_ns == 0);
        self.steps += u64::from(step_ns > 0);
        if self.unit_ns == 0 || !step_ns.is_multiple_of(self.unit_ns) {
            self.unit_ns = gcd(self.unit_ns, step_ns);
        }
    }

    /// The sentence on a coarse clock, or `None` if it is fine.
    fn remark(&self) -> Option<String> {
        let has_steps = self.steps >= STEPS_MIN && self.unit_ns >= COARSE_NS_MIN;
        let is_coarse = has_steps && self.repeats * REPEATS >= self.ios;
        is_coarse.then(|| {
            format!(
                "the clock of the trace is coarse, with steps of {}: {} of {} I/Os have the time of the one before, so \
                 shorter pauses and bursts are not those of the load",
                base::Nanos(self.unit_ns),
                self.repeats,
                self.ios
            )
        })
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Record;
    use base::OpKind;

    const MS: u64 = 1_000_000;
    const S: u64 = 1000 * MS;

    struct Times(std::vec::IntoIter<(u64, Option<u64>)>);

    impl RawSource for Times {
        fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
            let next = self.0.next();
            Ok(next.map(|(issue_ns, service_ns)| Raw {
                record: Record::new(issue_ns, OpKind::Read, 0, 1),
                service_ns,
            }))
        }

        fn problems(&self) -> Problems {
            Problems::default()
        }
    }

    fn told(times: Vec<(u64, Option<u64>)>, counter_ns: Option<u64>) -> (Vec<u64>, Problems) {
        let mut clock = Clock::new(Box::new(Times(times.into_iter())), counter_ns);
        let next = || clock.next_raw().unwrap().map(|raw| raw.record.issue_ns);
        let times = std::iter::from_fn(next).collect();
        let mut problems = Problems::default();
        clock.add_to(&mut problems);
        (times, problems)
    }

    fn of(times: &[u64]) -> (Vec<u64>, Problems) {
        told(times.iter().map(|&ns| (ns, None)).collect(), None)
    }

    #[test]
    fn a_second_recording_follows_the_first() {
        let (times, problems) = of(&[0, S, 2 * S, 0, S, 2 * S]);
        assert_eq!(times, [0, S, 2 * S, 2 * S, 3 * S, 4 * S]);
        assert_eq!((problems.clock_restarts, problems.moved_ios), (1, 0));
        // The start of a recording is told from disorder by a tenth of a second.
        let short: Vec<u64> = (0..40).map(|i| 50 + i % 20 * 10 * MS).collect();
        let (times, problems) = of(&short);
        assert!(times.is_sorted() && problems.clock_restarts == 1, "{times:?}");
        assert_eq!(times[39] - times[0], 380 * MS);
    }

    #[test]
    fn a_disordered_second_recording_stays_behind_the_first() {
        let (times, problems) = of(&[0, 50 * S, 9 * S, 8 * S + 900 * MS, 10 * S, 11 * S, 12 * S]);
        assert_eq!(times, [0, 50, 50, 50, 51, 52, 53].map(|s| s * S));
        assert_eq!((problems.clock_restarts, problems.moved_ios), (1, 1));
    }

    #[test]
    fn disorder_and_a_single_wrong_time_are_no_recording() {
        let jumbled: Vec<u64> = (0..1000).map(|i| 5 * S + (i ^ 3) * MS).collect();
        let (times, problems) = of(&jumbled);
        assert_eq!((times, problems.clock_restarts), (jumbled, 0));
        assert!(problems.moved_ios > 400, "{problems:?}");
        let wrong: Vec<u64> = (0..100).map(|i| if i == 50 { 0 } else { 9 * S + i * MS }).collect();
        let (times, problems) = of(&wrong);
        assert_eq!((times, problems.clock_restarts, problems.moved_ios), (wrong, 0, 1));
    }

    #[test]
    fn a_log_in_the_order_of_completion_is_sorted() {
        // An I/O of 5 s ends behind many that began after it.
        let ios = |begin: u64| (begin * 10 * MS, Some(MS));
        let mut log: Vec<_> = (0..600).map(ios).collect();
        log.insert(501, (10 * MS, Some(5 * S)));
        let (_, problems) = told(log, None);
        assert_eq!((problems.clock_restarts, problems.moved_ios), (0, 1));
    }

    #[test]
    fn a_counter_of_32_bits_goes_on() {
        let us = 1000;
        let last = LAP - 1;
        let times = [last - 7, last - 2, 4, last, 9, 20].map(|count| (count * us, None)).to_vec();
        let (found, problems) = told(times.clone(), Some(us));
        let expected = [last - 7, last - 2, LAP + 4, last, LAP + 9, LAP + 20];
        assert_eq!(found, expected.map(|count| count * us));
        assert_eq!((problems.clock_wraps, problems.clock_restarts, problems.moved_ios), (1, 0, 1));
        // Without such a counter, and after a pause that is no pause, it is a second recording.
        assert_eq!(told(times, None).1.clock_restarts, 2);
        // A long pause after the wrap is a pause.
        let late = LAP / 4 * 3;
        let pause = [last - 7, 4, 5, 6, 7, 8, 9, late, late + 1];
        let (found, problems) = told(pause.map(|count| (count * us, None)).to_vec(), Some(us));
        assert_eq!(found[7..], [LAP + late, LAP + late + 1].map(|count| count * us));
        assert_eq!((problems.clock_wraps, problems.moved_ios), (1, 0));
        let half = [LAP / 2, 5, 6, 7].map(|count| (count * us, None)).to_vec();
        let (_, problems) = told(half, Some(us));
        assert_eq!((problems.clock_wraps, problems.clock_restarts), (0, 1));
    }

    #[test]
    fn a_coarse_clock_is_named_and_a_steady_pace_is_not_one() {
        let told = |times: &[u64]| of(times).1.remarks.join(" ");
        let coarse: Vec<u64> = (0..60).map(|i| 77 * S + i / 6 * S).collect();
        let text = told(&coarse);
        assert!(text.contains("steps of 1s: 50 of 60 I/Os"), "{text}");
        let paced: Vec<u64> = (0..60).map(|i| i * S).collect();
        assert_eq!(told(&paced), "");
        let fine: Vec<u64> = (0..60).map(|i| i / 6 * S + i % 2).collect();
        assert_eq!(told(&fine), "");
    }

    #[test]
    fn hostile_times_do_not_overflow() {
        let most = i64::MAX as u64;
        let wild: Vec<u64> = (0..64).map(|i| if i / 9 % 2 == 0 { most - i } else { i }).collect();
        for counter_ns in [None, Some(1), Some(u64::MAX)] {
            let (times, _) = told(wild.iter().map(|&ns| (ns, Some(most))).collect(), counter_ns);
            assert!(times.iter().all(|&ns| ns <= most));
            let (times, _) = told(wild.iter().map(|&ns| (ns, None)).collect(), counter_ns);
            assert!(times.iter().all(|&ns| ns <= most));
        }
    }
}
