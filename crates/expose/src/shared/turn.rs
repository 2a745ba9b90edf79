//! The timekeeper of a disk on the real clock: it lets the drive follow the time of the machine, and hands the answers
//! out when their time has come.
//!
//! One thread at a time has the turn, and spins while an event is near. A thread that serves a client takes it with a
//! request. If no event is near, the thread of [`SharedDisk::keep_time`] sleeps until shortly before the next one; it is
//! woken only for an event before its alarm, and only if nobody has the turn.

use std::iter::Peekable;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use base::Nanos;

use super::{RequestToken, SharedDisk, State, locked};
use crate::clock::Pace;
use crate::disk::RequestResult;
use crate::nbd::{self, Agreement, NbdCookie};
use crate::outbox::Outbox;
use crate::request::{Answer, Fault, Request};

/// Longest sleep of the timekeeper, after which it looks at the stop button.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// Time before an event at which the timekeeper is awake: a wake-up rarely takes longer.
const AWAKE: Duration = Duration::from_micros(100);
/// Bytes of replies to one client that go out together.
const REPLIES_BYTES_MAX: usize = 64 << 10;

/// A finished request, and the time at which its answer was due.
type Due = (RequestResult<RequestToken>, Instant);

/// The right and the duty to keep the time.
#[derive(Debug)]
pub struct Turn<'a> {
    shared: &'a SharedDisk,
    /// Time of the next event.
    next: Instant,
    /// Replies to one client that go out together.
    replies: Vec<u8>,
    /// The times at which they were due.
    answered: Vec<Instant>,
}

impl SharedDisk {
    /// The turn, or `None` if somebody has it, and on the fast clock, which needs no timekeeper.
    pub fn take_turn(&self) -> Option<Turn<'_>> {
        let is_free = self.pace != Pace::Fast && !self.is_kept.swap(true, Ordering::SeqCst);
        is_free.then(|| Turn {
            shared: self,
            next: Instant::now(),
            replies: Vec::new(),
            answered: Vec::new(),
        })
    }

    /// Keeps the time when nobody else does, until `stop` is set. Returns at once on the fast clock.
    pub fn keep_time(&self, stop: &AtomicBool) {
        if self.pace == Pace::Fast || self.timekeeper.set(thread::current()).is_err() {
            return;
        }
        // Without the right to a finer timer the answers come later, as the lateness then shows.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        while !stop.load(Ordering::Relaxed) {
            let next = self.keep_while_near(stop);
            let left = next.saturating_duration_since(Instant::now());
            thread::park_timeout(left.saturating_sub(AWAKE));
        }
    }

    /// Keeps the time until no event is near, or somebody else does it. Returns the time of the next look.
    fn keep_while_near(&self, stop: &AtomicBool) -> Instant {
        // Before the attempt: whoever gives the turn back afterwards knows when this thread is awake.
        let latest = Instant::now() + SLEEP_MAX;
        self.set_alarm(latest);
        let Some(mut turn) = self.take_turn() else { return latest };
        while turn.follow() && !stop.load(Ordering::Relaxed) {
            while !turn.is_due() {
                std::hint::spin_loop();
            }
        }
        self.set_alarm(turn.next);
        turn.next
    }

    fn set_alarm(&self, at: Instant) {
        let at_ns = at.saturating_duration_since(self.start).as_nanos() as u64;
        self.alarm_ns.store(at_ns, Ordering::SeqCst);
    }

    /// Whether nobody would be awake at this moment.
    fn is_asleep_at(&self, moment: Instant) -> bool {
        let moment_ns = moment.saturating_duration_since(self.start).as_nanos() as u64;
        moment_ns < self.alarm_ns.load(Ordering::SeqCst)
    }

    /// Makes the timekeeper look at the drive again.
    pub(super) fn ring(&self) {
        self.is_rung.store(true, Ordering::SeqCst);
        if !self.is_kept.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(timekeeper) = self.timekeeper.get() {
            timekeeper.unpark();
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let shared = self.shared;
        shared.is_kept.store(false, Ordering::SeqCst);
        if shared.is_rung.load(Ordering::SeqCst) || shared.is_asleep_at(self.next) {
            shared.wake();
        }
    }
}

impl Turn<'_> {
    /// Whether the time of the next event has come, or somebody has used the disk.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.next || self.shared.is_rung.load(Ordering::SeqCst)
    }

    /// Lets the drive go on to the present, and answers. Whether the next event is near.
    pub fn follow(&mut self) -> bool {
        self.turn(None)
    }

    /// Lets the drive go on to the present with a request, and answers. Whether the next event is near.
    pub fn submit(&mut self, token: RequestToken, request: Request) -> bool {
        self.turn(Some((token, request)))
    }

    fn turn(&mut self, request: Option<(RequestToken, Request)>) -> bool {
        self.shared.is_rung.store(false, Ordering::SeqCst);
        let (due, next) = follow(&mut locked(&self.shared.state), request);
        self.next = next;
        self.answer(due);
        next.saturating_duration_since(Instant::now()) <= AWAKE
    }

    /// Answers requests, each due at its time. Whoever has an answer finds it in the lateness as well.
    fn answer(&mut self, due: Vec<Due>) {
        if due.is_empty() {
            return;
        }
        let mut lateness = locked(&self.shared.lateness);
        let mut due = due.into_iter().peekable();
        while let Some((finished, instant)) = due.next() {
            self.answered.clear();
            self.answered.push(instant);
            match finished.token {
                // Only the fast clock has these.
                RequestToken::Mark(_) => {}
                RequestToken::Reply(reply) => reply(finished.result),
                RequestToken::Client { outbox, agreed, mark, bytes } => {
                    self.replies.clear();
                    self.append(agreed, mark, &finished.result);
                    let more_bytes = self.join(&outbox, &mut due);
                    outbox.send(&self.replies, bytes + more_bytes);
                }
            }
            let now = Instant::now();
            for instant in &self.answered {
                lateness.record(now.saturating_duration_since(*instant).as_nanos() as u64);
            }
        }
    }

    fn append(&mut self, agreed: Agreement, mark: NbdCookie, result: &Result<Answer, Fault>) {
        nbd::reply(&mut self.replies, agreed, mark, result.as_ref().map_err(|&fault| fault));
    }

    /// Appends the following replies to the same client. Returns the bytes that were reserved for them.
    fn join(&mut self, outbox: &Arc<Outbox>, due: &mut Peekable<impl Iterator<Item = Due>>) -> u64 {
        let is_same = |token: &RequestToken| matches!(token, RequestToken::Client { outbox: other, .. } if Arc::ptr_eq(other, outbox));
        let mut reserved_bytes = 0;
        while self.replies.len() < REPLIES_BYTES_MAX
            && let Some((finished, instant)) = due.next_if(|(next, _)| is_same(&next.token))
            && let RequestToken::Client { agreed, mark, bytes, .. } = finished.token
        {
            self.append(agreed, mark, &finished.result);
            self.answered.push(instant);
            reserved_bytes += bytes;
        }
        reserved_bytes
    }
}

/// Lets the drive go on to the present, and gives it the request. Returns the requests to answer now, and the time of
/// the next look.
fn follow(state: &mut State, request: Option<(RequestToken, Request)>) -> (Vec<Due>, Instant) {
    let latest = Instant::now() + SLEEP_MAX;
    let State { disk, clock, due } = state;
    let Some(clock) = *clock else { return (Vec::new(), latest) };
    let now = clock.now();
    disk.advance(now);
    if let Some((token, request)) = request {
        disk.submit(token, request);
    }
    due.extend(disk.take_finished());
    let mut answers = Vec::new();
    while let Some(first) = due.pop_front_if(|first| first.done <= now) {
        let instant = clock.instant(first.done);
        answers.push((first, instant));
    }
    let next = due.front().map(|first| first.done).into_iter().chain(disk.next_event()).min();
    (answers, next.map_or(latest, |next: Nanos| clock.instant(next).min(latest)))
}
