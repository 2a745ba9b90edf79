//! A disk for several threads, on one of the two clocks.
//!
//! On the fast clock whoever sends requests lets the drive carry them out at once. On the real clock one thread at a
//! time ([`turn`]) lets the drive follow the time of the machine and hands the answers out when their time has come; the
//! others only send.

pub mod turn;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Instant;

use base::Histogram;

use crate::clock::{Clock, Pace};
use crate::disk::{Disk, RequestResult};
use crate::nbd::{Agreement, NbdCookie};
use crate::outbox::Outbox;
use crate::request::{Answer, Fault, Request};

/// Takes the answer to a request.
pub type Reply = Box<dyn FnOnce(Result<Answer, Fault>) + Send>;

/// The sender of a request.
pub enum RequestToken {
    /// The thread that lets the drive carry it out, which knows it by this mark.
    Mark(NbdCookie),
    /// A client of NBD on the real clock.
    Client {
        /// Takes its replies.
        outbox: Arc<Outbox>,
        /// Form of the reply.
        agreed: Agreement,
        mark: NbdCookie,
        /// Bytes that it has reserved for the reply.
        bytes: u64,
    },
    /// Anybody else.
    Reply(Reply),
}

impl std::fmt::Debug for RequestToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mark(mark) | Self::Client { mark, .. } => mark.fmt(f),
            Self::Reply(_) => f.write_str("a reply"),
        }
    }
}

#[derive(Debug)]
struct State {
    disk: Disk<RequestToken>,
    clock: Option<Clock>,
    /// Finished requests, each of which is answered at its time.
    due: VecDeque<RequestResult<RequestToken>>,
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
pub struct SharedDisk {
    state: Mutex<State>,
    pace: Pace,
    /// The thread that keeps the time when nobody else does.
    timekeeper: OnceLock<Thread>,
    /// Whether somebody has the turn to keep the time.
    is_kept: AtomicBool,
    /// Whether whoever has the turn must look at the drive again.
    is_rung: AtomicBool,
    start: Instant,
    /// Time at which the timekeeper is awake again, in ns from the start.
    alarm_ns: AtomicU64,
    lateness: Mutex<Histogram>,
}

impl SharedDisk {
    /// A disk whose clock begins to run.
    pub fn new(disk: Disk<RequestToken>, pace: Pace) -> Self {
        let clock = match pace {
            Pace::Fast => None,
            Pace::Real { slowdown } => Some(Clock::starting(slowdown, disk.drive().now())),
        };
        Self {
            state: Mutex::new(State { disk, clock, due: VecDeque::new() }),
            pace,
            timekeeper: OnceLock::new(),
            is_kept: AtomicBool::new(false),
            is_rung: AtomicBool::new(false),
            start: Instant::now(),
            alarm_ns: AtomicU64::new(u64::MAX),
            lateness: Mutex::default(),
        }
    }

    /// The pace of its clock.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// The disk after the end of all threads that used it.
    pub fn into_disk(self) -> Disk<RequestToken> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).disk
    }

    /// Lateness of the answers, in ns of the machine; empty on the fast clock.
    pub fn lateness(&self) -> Histogram {
        locked(&self.lateness).clone()
    }

    /// Uses the disk at this moment of its clock.
    pub fn with<R>(&self, work: impl FnOnce(&mut Disk<RequestToken>) -> R) -> R {
        self.with_clock(Meanwhile::Runs, work)
    }

    /// Uses the disk while its clock stands still, for work that takes long.
    pub fn pause<R>(&self, work: impl FnOnce(&mut Disk<RequestToken>) -> R) -> R {
        self.with_clock(Meanwhile::Stands, work)
    }

    /// Gives the disk another state, whose drive has a time of its own.
    pub fn replace<R>(&self, work: impl FnOnce(&mut Disk<RequestToken>) -> R) -> R {
        self.with_clock(Meanwhile::Jumps, work)
    }

    fn with_clock<R>(
        &self,
        clock_is: Meanwhile,
        work: impl FnOnce(&mut Disk<RequestToken>) -> R,
    ) -> R {
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
        self.send_all(vec![(request, reply)]);
    }

    /// Sends requests together; on the fast clock they are answered before the return.
    pub fn send_all(&self, requests: Vec<(Request, Reply)>) {
        self.with(|disk| {
            for (request, reply) in requests {
                disk.submit(RequestToken::Reply(reply), request);
            }
            if self.pace == Pace::Fast {
                disk.drain();
            }
        });
    }
}

fn answer(finished: RequestResult<RequestToken>) {
    if let RequestToken::Reply(reply) = finished.token {
        reply(finished.result);
    }
}

/// Locks, also after the panic of another thread.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
