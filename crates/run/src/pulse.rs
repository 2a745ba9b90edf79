//! Whether the program itself runs. While it is stopped (SIGSTOP, a frozen control group) or the machine
//! sleeps, commands end and nobody takes note of it, and their latencies are not those of the drive.
//!
//! A thread looks at the clock ten times a second. It does so while the drive keeps the main loop
//! waiting, too, and so tells a drive that stalls from a program that does.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use result::report::GRAPHED_PHASE;
use result::schema::{Mark, MarkKind, Metrics, Phase, Stop};
use rustix::time::{ClockId, clock_gettime};

/// Time between two looks.
const BEAT: Duration = Duration::from_millis(100);
/// A longer time between two looks is a stop.
const STOP_MIN: Duration = Duration::from_secs(1);

/// The watch over the program, from its creation on.
pub(crate) struct Pulse {
    looks: Arc<Mutex<Looks>>,
    /// Dropped to stop the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Looks at the clock, which also counts the sleep of the machine.
#[derive(Debug)]
struct Looks {
    last: Duration,
    /// The stops so far: begin and length.
    stops: Vec<(Duration, Duration)>,
}

impl Looks {
    fn look(&mut self, now: Duration) {
        let since = now.saturating_sub(self.last);
        if since > STOP_MIN {
            self.stops.push((self.last, since));
        }
        self.last = now;
    }
}

impl Pulse {
    /// Begins to watch; `None` if the system gives no thread.
    pub(crate) fn start() -> Option<Self> {
        let looks = Arc::new(Mutex::new(Looks { last: now(), stops: Vec::new() }));
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("pulse".to_owned());
        let thread = thread.spawn({
            let looks = Arc::clone(&looks);
            move || {
                while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                    lock(&looks).look(now());
                }
            }
        });
        Some(Self { looks, stop: Some(stop), thread: Some(thread.ok()?) })
    }

    /// The time on its clock.
    pub(crate) fn now() -> Duration {
        now()
    }

    /// The stops since a time on its clock, with their begin after it.
    pub(crate) fn stops_since(&self, begin: Duration) -> Vec<Stop> {
        let mut looks = lock(&self.looks);
        // The thread may not have had its turn yet.
        looks.look(now());
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let within = looks.stops.iter().filter(|(start, length)| *start + *length > begin);
        within
            .map(|(start, length)| {
                let lost = begin.saturating_sub(*start);
                Stop {
                    start_ns: ns(start.saturating_sub(begin)),
                    duration_ns: ns(length.saturating_sub(lost)),
                }
            })
            .collect()
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn lock(looks: &Mutex<Looks>) -> MutexGuard<'_, Looks> {
    looks.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    let [seconds, ns] = [time.tv_sec, time.tv_nsec].map(|part| u64::try_from(part).unwrap_or(0));
    Duration::from_secs(seconds) + Duration::from_nanos(ns)
}

/// The warning about the stops of a phase, or `None` if there were none.
pub(crate) fn warning(phase: &str, stops: &[Stop]) -> Option<String> {
    let first = stops.first()?;
    let total_ns: u64 = stops.iter().map(|stop| stop.duration_ns).sum();
    let times = if stops.len() == 1 { String::new() } else { format!("{} times, ", stops.len()) };
    Some(format!(
        "the program itself did not run for {:.1} s of the phase `{phase}` ({times}first in second {}): it was \
         stopped, or the machine slept or had no processor for it; latencies and rates of these seconds are \
         not those of the drive",
        total_ns as f64 / 1e9,
        first.start_ns / 1_000_000_000
    ))
}

/// Marks for the known figures of the phases that had stops. A figure without the name of a phase is one
/// of the main load, or of the replay.
pub(crate) fn marks(phases: &[Phase], metrics: &Metrics) -> Vec<Mark> {
    let stopped: Vec<_> = phases.iter().filter(|phase| !phase.stops.is_empty()).collect();
    let phase_of = |metric: &str| {
        stopped.iter().find(|phase| {
            let name = phase.name.as_str();
            let is_main = name == GRAPHED_PHASE || name == "replay";
            let parts = format!(".{metric}.");
            parts.contains(&format!(".{name}.")) || is_main && !metric.contains('.')
        })
    };
    let known = metrics.iter().filter(|(_, value)| value.is_some());
    let mark = |(metric, _): (&String, _)| {
        let phase = phase_of(metric)?;
        let ns: u64 = phase.stops.iter().map(|stop| stop.duration_ns).sum();
        let text = format!("the program did not run for {:.1} s of it", ns as f64 / 1e9);
        Some(Mark { metric: metric.clone(), kind: MarkKind::Stopped, text, levels: None })
    };
    known.filter_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_time_between_two_looks_is_a_stop() {
        let at = Duration::from_millis;
        let looks = Looks { last: at(0), stops: Vec::new() };
        let pulse = Pulse { looks: Arc::new(Mutex::new(looks)), stop: None, thread: None };
        for ms in [100, 200, 1_150, 4_650, 4_750, 4_850] {
            lock(&pulse.looks).look(at(ms));
        }
        assert_eq!(lock(&pulse.looks).stops, [(at(1_150), at(3_500))]);
        lock(&pulse.looks).last = now();
        let of = |begin| {
            let stops = pulse.stops_since(at(begin));
            stops
                .iter()
                .map(|stop| (stop.start_ns / 1_000_000, stop.duration_ns / 1_000_000))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(150), [(1_000, 3_500)]);
        assert_eq!(of(1_650), [(0, 3_000)], "it began before the phase");
        assert_eq!(of(4_700), []);
        let stop = Stop { start_ns: 12_300_000_000, duration_ns: 3_500_000_000 };
        let words = warning("load", &[stop]).unwrap();
        assert!(words.contains("3.5 s of the phase `load` (first in second 12)"), "{words}");
        assert_eq!(warning("load", &[]), None);
    }

    #[test]
    fn the_figures_of_a_stopped_phase_are_marked() {
        let stops = vec![Stop { start_ns: 0, duration_ns: 2_000_000_000 }];
        let of = |name: &str, stops: &[Stop]| Phase {
            name: name.to_owned(),
            stops: stops.to_vec(),
            ..Phase::default()
        };
        let phases = [of("fill", &stops), of("load", &stops), of("read", &[]), of("write", &stops)];
        let metrics = [
            ("iops_steady_mean", Some(1.0)),
            ("iops_steady_min", None),
            ("corners.read.iops", Some(1.0)),
            ("corners.write.iops", Some(1.0)),
        ];
        let metrics = metrics.map(|(name, value)| (name.to_owned(), value)).into();
        let marks = marks(&phases, &metrics);
        let names: Vec<_> = marks.iter().map(|mark| mark.metric.as_str()).collect();
        assert_eq!(names, ["corners.write.iops", "iops_steady_mean"]);
        assert!(marks.iter().all(|mark| mark.text.contains("2.0 s")), "{marks:?}");
    }

    #[test]
    fn a_program_that_runs_has_no_stop() {
        let (begin, pulse) = (Pulse::now(), Pulse::start().unwrap());
        std::thread::sleep(BEAT * 3);
        // Another machine than this test needs may not give it a processor for seconds.
        assert!(pulse.stops_since(begin).len() <= 1);
        assert!(lock(&pulse.looks).last > begin);
    }
}
