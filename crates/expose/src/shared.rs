//! A disk for several threads, on one of the two clocks.
//!
//! On the fast clock whoever sends requests lets the drive carry them out at once. On the real clock a thread of its
//! own ([`Shared::keep_time`]) lets the drive follow the time of the machine and hands the answers out when their time
//! has come; the others only send.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use base::{Histogram, Nanos};

use crate::clock::{Clock, Pace};
use crate::disk::{Disk, Finished};
use crate::nbd::Mark;
use crate::request::{Answer, Fault, Request};

/// Longest sleep of the timekeeper, after which it looks at the stop button.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// Time before an event at which the timekeeper is awake: about the delay of a wake-up.
const AWAKE: Duration = Duration::from_micros(60);

/// Takes the answer to a request.
pub type Reply = Box<dyn FnOnce(Result<Answer, Fault>) + Send>;

/// The sender of a request.
pub enum Token {
    /// The thread that lets the drive carry it out, which knows it by this mark.
    Mark(Mark),
    /// Anybody else.
    Reply(Reply),
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mark(mark) => mark.fmt(f),
            Self::Reply(_) => f.write_str("a reply"),
        }
    }
}

#[derive(Debug)]
struct State {
    disk: Disk<Token>,
    clock: Option<Clock>,
    /// Finished requests, each of which is answered at its time.
    due: VecDeque<Finished<Token>>,
}

/// The clock of the drive while somebody uses the disk.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Runs,
    Stands,
    /// It goes on at the time of another state.
    Jumps,
}

/// A disk with its clock.
#[derive(Debug)]
pub struct Shared {
    state: Mutex<State>,
    pace: Pace,
    timekeeper: OnceLock<Thread>,
    /// Whether the timekeeper has to look at the drive again.
    is_rung: AtomicBool,
    lateness: Mutex<Histogram>,
}

impl Shared {
    /// A disk whose clock begins to run.
    #[must_use]
    pub fn new(disk: Disk<Token>, pace: Pace) -> Self {
        let clock = match pace {
            Pace::Fast => None,
            Pace::Real { slowdown } => Some(Clock::starting(slowdown, disk.drive().now())),
        };
        Self {
            state: Mutex::new(State { disk, clock, due: VecDeque::new() }),
            pace,
            timekeeper: OnceLock::new(),
            is_rung: AtomicBool::new(false),
            lateness: Mutex::default(),
        }
    }

    /// The pace of its clock.
    #[must_use]
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// The disk after the end of all threads that used it.
    #[must_use]
    pub fn into_disk(self) -> Disk<Token> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).disk
    }

    /// Lateness of the answers, in ns of the machine; empty on the fast clock.
    #[must_use]
    pub fn lateness(&self) -> Histogram {
        locked(&self.lateness).clone()
    }

    /// Uses the disk at this moment of its clock.
    pub fn with<R>(&self, work: impl FnOnce(&mut Disk<Token>) -> R) -> R {
        self.with_clock(Meanwhile::Runs, work)
    }

    /// Uses the disk while its clock stands still, for work that takes long.
    pub fn pause<R>(&self, work: impl FnOnce(&mut Disk<Token>) -> R) -> R {
        self.with_clock(Meanwhile::Stands, work)
    }

    /// Gives the disk another state, whose drive has a time of its own.
    pub fn replace<R>(&self, work: impl FnOnce(&mut Disk<Token>) -> R) -> R {
        self.with_clock(Meanwhile::Jumps, work)
    }

    fn with_clock<R>(&self, clock_is: Meanwhile, work: impl FnOnce(&mut Disk<Token>) -> R) -> R {
        let mut state = locked(&self.state);
        let State { disk, clock, due } = &mut *state;
        if let Some(clock) = clock {
            disk.advance(clock.now());
        }
        let before = disk.drive().now();
        let result = work(disk);
        let Pace::Real { slowdown } = self.pace else {
            let finished: Vec<_> = disk.take_finished().collect();
            drop(state);
            finished.into_iter().for_each(answer);
            return result;
        };
        due.extend(disk.take_finished());
        match clock_is {
            Meanwhile::Runs => {}
            Meanwhile::Stands => *clock = Some(Clock::starting(slowdown, before)),
            Meanwhile::Jumps => {
                let now = disk.drive().now();
                *clock = Some(Clock::starting(slowdown, now));
                due.iter_mut().for_each(|finished| finished.done = now);
            }
        }
        drop(state);
        self.ring();
        result
    }

    /// Sends a request; on the fast clock it is answered before the return.
    pub fn send(&self, request: Request, reply: Reply) {
        self.with(|disk| {
            disk.submit(Token::Reply(reply), request);
            if self.pace == Pace::Fast {
                disk.drain();
            }
        });
    }

    fn ring(&self) {
        self.is_rung.store(true, Ordering::Release);
        if let Some(timekeeper) = self.timekeeper.get() {
            timekeeper.unpark();
        }
    }

    /// Lets the drive follow the time of the machine until `stop` is set. Returns at once on the fast clock.
    pub fn keep_time(&self, stop: &AtomicBool) {
        if self.pace == Pace::Fast || self.timekeeper.set(thread::current()).is_err() {
            return;
        }
        // Without the right to a finer timer the answers come later, as the lateness then shows.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        while !stop.load(Ordering::Relaxed) {
            self.is_rung.store(false, Ordering::Release);
            let (finished, next) = self.follow();
            self.answer_in_time(finished);
            self.wait_until(next);
        }
    }

    /// Answers requests, each due at its time. Whoever has an answer finds it in the lateness as well.
    fn answer_in_time(&self, finished: Vec<(Finished<Token>, Instant)>) {
        if finished.is_empty() {
            return;
        }
        let mut lateness = locked(&self.lateness);
        for (finished, due) in finished {
            answer(finished);
            let late_ns = Instant::now().saturating_duration_since(due).as_nanos();
            lateness.record(late_ns as u64);
        }
    }

    /// Lets the drive go on to the present. Returns the requests to answer now, with the times at which they were due,
    /// and the time of the next look.
    fn follow(&self) -> (Vec<(Finished<Token>, Instant)>, Instant) {
        let mut state = locked(&self.state);
        let State { disk, clock, due } = &mut *state;
        let Some(clock) = *clock else { return (Vec::new(), Instant::now() + SLEEP_MAX) };
        let now = clock.now();
        disk.advance(now);
        due.extend(disk.take_finished());
        let mut finished = Vec::new();
        while let Some(first) = due.pop_front_if(|first| first.done <= now) {
            let instant = clock.instant(first.done);
            finished.push((first, instant));
        }
        let next = due.front().map(|first| first.done).into_iter().chain(disk.next_event()).min();
        let latest = Instant::now() + SLEEP_MAX;
        let next = next.map_or(latest, |next: Nanos| clock.instant(next).min(latest));
        (finished, next)
    }

    /// Waits until a moment, or until the next request.
    fn wait_until(&self, moment: Instant) {
        let is_rung = || self.is_rung.load(Ordering::Acquire);
        loop {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() || is_rung() {
                return;
            }
            if left > AWAKE {
                thread::park_timeout(left - AWAKE);
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

fn answer(finished: Finished<Token>) {
    if let Token::Reply(reply) = finished.token {
        reply(finished.result);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
