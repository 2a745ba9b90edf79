//! The readings of a meter beside a run, aligned with the run's seconds.
//!
//! A separate thread collects readings; at the end of a phase they become mean and peak power of
//! its rows. Between two readings power follows a straight line, so that readings need not be
//! evenly spaced.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use base::Nanos;
use device::meter::{self, Faults, Meter, MeterSpec, Reading};
use result::rows::SecondRow;
use target::{Identity, TargetError};

use crate::error::RunError;

/// Longest wait for the first reading of a meter.
const FIRST_READING_MAX: Duration = Duration::from_secs(5);
/// Longest wait for the readings of the last moments of a phase.
const LATE_MAX: Duration = Duration::from_secs(1);
/// Interval at which the thread checks the stop button.
const PATIENCE: Duration = Duration::from_millis(50);
/// Readings further apart than this leave a gap between them.
const GAP_MAX_NS: u64 = 3_000_000_000;
/// Most stored readings, over an hour at a thousand per second; with more, the meter is not read.
const READINGS_MAX: usize = 1 << 22;

/// Makes sure that a meter and this target fit together.
///
/// # Errors
/// If the target is simulated: a meter knows nothing of virtual time.
pub(crate) fn check(meter: Option<&MeterSpec>, identity: &Identity) -> Result<(), RunError> {
    match meter {
        Some(meter) if identity.kind.is_simulated() => Err(RunError::Usage(format!(
            "`--meter {meter}` reads a real drive, but {} is simulated: it has a clock of its own and counts its \
             energy itself; leave --meter away",
            identity.name
        ))),
        _ => Ok(()),
    }
}

/// Reads a meter from its creation until [`PowerWatch::finish`].
pub(crate) struct PowerWatch {
    shared: Arc<WatchState>,
    reading: JoinHandle<WatchResult>,
    description: String,
    /// The meter's clock at time zero of the target's.
    origin_ns: u64,
}

#[derive(Default)]
struct WatchState {
    readings: Mutex<Vec<Reading>>,
    is_over: AtomicBool,
    full_count: AtomicUsize,
}

struct WatchResult {
    faults: Faults,
    failure: Option<TargetError>,
}

impl WatchState {
    fn readings(&self) -> std::sync::MutexGuard<'_, Vec<Reading>> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PowerWatch {
    /// Opens the meter and waits for its first reading; the target's clock stands at `target_now`.
    ///
    /// # Errors
    /// If the meter cannot be opened, or gives no reading for 5 s.
    pub(crate) fn start(spec: &MeterSpec, target_now: Nanos) -> Result<Self, TargetError> {
        let mut meter = meter::open(spec)?;
        let origin_ns = meter::now_ns().saturating_sub(target_now.0);
        let first = first_readings(meter.as_mut(), spec)?;
        let description = meter.describe();
        let shared = Arc::new(WatchState { readings: Mutex::new(first), ..WatchState::default() });
        let reading = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || collect(meter.as_mut(), &shared)
        });
        Ok(Self { shared, reading, description, origin_ns })
    }

    /// The meter's description.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// Adds the power to the rows of a phase that began at `start_ns` of the target's clock, and
    /// drops the readings up to its end.
    pub(crate) fn fill(&self, start_ns: u64, rows: &mut [SecondRow]) {
        let Some(end_ns) = rows.last().map(|row| row.start_ns + row.duration_ns) else { return };
        let start_ns = self.origin_ns + start_ns;
        self.wait_for(start_ns + end_ns);
        let mut readings = self.shared.readings();
        for row in rows {
            let from_ns = start_ns + row.start_ns;
            let power = over(&readings, from_ns, from_ns + row.duration_ns);
            row.power_uw_mean = power.map(|power| power.mean_uw);
            row.power_uw_max = power.map(|power| power.max_uw);
        }
        let past = readings.partition_point(|reading| reading.at_ns <= start_ns + end_ns);
        // The last one before the next phase is where its first straight line begins.
        readings.drain(..past.saturating_sub(1));
    }

    fn wait_for(&self, end_ns: u64) {
        let begun = Instant::now();
        let is_there = || self.shared.readings().last().is_some_and(|last| last.at_ns >= end_ns);
        while !is_there() && begun.elapsed() < LATE_MAX && !self.reading.is_finished() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends the reading; returns the reasons to trust the figures less.
    pub(crate) fn finish(self) -> Vec<String> {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let Ok(WatchResult { faults, failure }) = self.reading.join() else {
            return vec!["the watch over the meter died".to_owned()];
        };
        let failure = failure.map(|error| format!("the meter was lost: {}", error.with_cause()));
        let faults = faults.first.map(|first| {
            format!("what the meter said was no reading {} times; the first: {first}", faults.count)
        });
        let full = (self.shared.full_count.load(Ordering::Relaxed) > 0).then(|| {
            format!("a phase had more than {READINGS_MAX} readings; those beyond came late or not at all")
        });
        failure.into_iter().chain(faults).chain(full).collect()
    }
}

fn first_readings(meter: &mut dyn Meter, spec: &MeterSpec) -> Result<Vec<Reading>, TargetError> {
    let (begun, mut readings) = (Instant::now(), Vec::new());
    while readings.is_empty() {
        if begun.elapsed() >= FIRST_READING_MAX {
            let amiss = meter.faults().first.as_ref();
            let amiss = amiss.map_or_else(String::new, |first| format!("; {first}"));
            return Err(TargetError::Device {
                context: format!("--meter {spec} gave no reading within 5 s{amiss}"),
                source: std::io::ErrorKind::TimedOut.into(),
            });
        }
        meter.read(PATIENCE, &mut readings)?;
    }
    Ok(readings)
}

fn collect(meter: &mut dyn Meter, shared: &WatchState) -> WatchResult {
    let mut batch = Vec::new();
    while !shared.is_over.load(Ordering::Relaxed) {
        if shared.readings().len() >= READINGS_MAX {
            shared.full_count.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(PATIENCE);
            continue;
        }
        if let Err(failure) = meter.read(PATIENCE, &mut batch) {
            return WatchResult { faults: meter.faults().clone(), failure: Some(failure) };
        }
        shared.readings().append(&mut batch);
    }
    WatchResult { faults: meter.faults().clone(), failure: None }
}

/// Power over an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Power {
    mean_uw: u64,
    max_uw: u64,
}

/// Mean and peak over an interval; `None` if less than half of it lies between readings.
fn over(readings: &[Reading], from_ns: u64, to_ns: u64) -> Option<Power> {
    let first = readings.partition_point(|reading| reading.at_ns <= from_ns).saturating_sub(1);
    let inside = readings[first..].windows(2).take_while(|pair| pair[0].at_ns < to_ns);
    // Twice the energy, so that the mean of both ends needs no halving; in µW x ns.
    let (mut doubled, mut known_ns, mut max_uw) = (0_i128, 0, i64::MIN);
    for pair in inside {
        let [a, b] = [pair[0], pair[1]];
        let (begin_ns, end_ns) = (a.at_ns.max(from_ns), b.at_ns.min(to_ns));
        if b.at_ns - a.at_ns > GAP_MAX_NS || begin_ns >= end_ns {
            continue;
        }
        let (begin_uw, end_uw) = (between(a, b, begin_ns), between(a, b, end_ns));
        doubled += i128::from(begin_uw + end_uw) * i128::from(end_ns - begin_ns);
        known_ns += end_ns - begin_ns;
        max_uw = max_uw.max(begin_uw).max(end_uw);
    }
    if known_ns == 0 || known_ns < (to_ns - from_ns) / 2 {
        return None;
    }
    let mean_uw = doubled / (2 * i128::from(known_ns));
    Some(Power { mean_uw: mean_uw.max(0) as u64, max_uw: max_uw.max(0) as u64 })
}

/// Power on the straight line from `a` to `b`.
fn between(a: Reading, b: Reading, at_ns: u64) -> i64 {
    let (rise, length_ns) = (i128::from(b.power_uw - a.power_uw), i128::from(b.at_ns - a.at_ns));
    a.power_uw + (rise * i128::from(at_ns - a.at_ns) / length_ns.max(1)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn readings(points: impl IntoIterator<Item = (u64, i64)>) -> Vec<Reading> {
        points.into_iter().map(|(ms, power_uw)| Reading { at_ns: ms * MS, power_uw }).collect()
    }

    fn power(readings: &[Reading], from_ms: u64, to_ms: u64) -> Option<(u64, u64)> {
        over(readings, from_ms * MS, to_ms * MS).map(|power| (power.mean_uw, power.max_uw))
    }

    #[test]
    fn power_goes_in_a_straight_line_between_readings() {
        let ramp = readings([(0, 0), (400, 400), (1_000, 1_000), (2_000, 2_000)]);
        assert_eq!(power(&ramp, 0, 1_000), Some((500, 1_000)));
        assert_eq!(power(&ramp, 500, 1_500), Some((1_000, 1_500)), "cut at both ends");
        assert_eq!(power(&ramp, 1_100, 1_200), Some((1_150, 1_200)), "between two readings");
    }

    #[test]
    fn the_mean_of_a_known_wave_is_its_mean() {
        // A square wave of 1 W and 3 W with a period of 100 ms and a third of it high, read every millisecond.
        let wave = (0..10_000).map(|ms| (ms, if ms % 100 < 33 { 3_000_000 } else { 1_000_000 }));
        let wave = readings(wave);
        for start in [0, 17, 4_321] {
            let (mean, max) = power(&wave, start, start + 1_000).unwrap();
            let off = (mean as f64 / 1_660_000.0 - 1.0).abs();
            assert!(off < 0.002 && max == 3_000_000, "{mean} from {start} ms on");
        }
        let sine = readings((0..3_000).map(|ms| {
            let turn = std::f64::consts::TAU * ms as f64 / 250.0;
            (ms, (2e6 + 1.5e6 * turn.sin()).round() as i64)
        }));
        let (mean, max) = power(&sine, 1_000, 2_000).unwrap();
        assert!((mean as f64 / 2e6 - 1.0).abs() < 1e-4, "{mean}");
        assert!((max as f64 / 3.5e6 - 1.0).abs() < 1e-4, "{max}");
    }

    #[test]
    fn what_was_not_read_is_not_made_up() {
        let holed = readings([(0, 5), (500, 5), (4_000, 9), (5_000, 9)]);
        assert_eq!(power(&holed, 0, 1_000), Some((5, 5)), "half of it is enough");
        assert_eq!(power(&holed, 0, 1_002), None);
        assert_eq!(power(&holed, 1_000, 2_000), None, "a hole of 3.5 s");
        assert_eq!(power(&holed, 5_000, 6_000), None, "after the last");
        assert_eq!(power(&[], 0, 1_000), None);
        assert_eq!(power(&readings([(0, 5), (0, 7)]), 0, 0), None);
    }

    #[test]
    fn noise_below_zero_does_not_lift_the_mean() {
        let noise = readings((0..=1_000).map(|ms| (ms, if ms % 2 == 0 { 6 } else { -4 })));
        assert_eq!(power(&noise, 0, 1_000), Some((1, 6)));
    }
}
