//! The main loop: keep the target busy, record what ends. The same code drives a real device in
//! wall time and a simulated one in virtual time.

use std::sync::atomic::{AtomicBool, Ordering};

use base::{Completion, Nanos, Op};
use load::{Generator, Pacing};
use target::IoError;
use target::capability::Telemetry;

use crate::recorder::Recorder;

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The workload or the time came to its end.
    Complete,
    /// The user stopped it.
    Interrupted,
    /// A command failed; see [`Recorder::first_error`].
    Failed,
    /// It should have ended by itself and has not; see [`Recorder::is_overlong`].
    Overlong,
}

/// Issues the commands of `generator` until they end, until `deadline` on the target's clock, until
/// `interrupted`, or until a command fails; then waits for what is outstanding. In a closed loop the
/// queue is kept full; in an open loop a command is issued when it is due, or as soon after as the
/// queue has room, and its latency counts from when it was due.
/// `on_second` is called whenever at least one second has been recorded.
///
/// # Errors
/// If the target as a whole is lost. The recorded part stays in `recorder`, and outstanding
/// commands are in its latencies with the time they waited.
pub fn drive<T: Telemetry>(
    target: &mut T,
    generator: &mut Generator,
    deadline: Option<Nanos>,
    recorder: &mut Recorder,
    interrupted: &AtomicBool,
    on_second: impl FnMut(&Recorder),
) -> Result<End, IoError> {
    let mut queue = Queue::new(generator, recorder.start());
    let end = keep_busy(target, &mut queue, deadline, recorder, interrupted, on_second);
    if end.is_err() {
        queue.give_up(target.now(), recorder);
    }
    end
}

/// The loop.
fn keep_busy<T: Telemetry>(
    target: &mut T,
    queue: &mut Queue<'_>,
    deadline: Option<Nanos>,
    recorder: &mut Recorder,
    interrupted: &AtomicBool,
    mut on_second: impl FnMut(&Recorder),
) -> Result<End, IoError> {
    let mut ended: Vec<Completion> = Vec::with_capacity(queue.outstanding.len());
    let mut now = target.now();
    let mut seconds = 0;
    let mut end = None;
    start_telemetry(target, recorder);
    loop {
        if end.is_none() {
            end = reason_to_stop(now, deadline, recorder, interrupted);
            match (end, deadline) {
                (None, _) => end = queue.fill(now).then_some(End::Complete),
                (Some(End::Complete), Some(deadline)) => {
                    recorder.ios_not_issued = queue.fill_up_to(deadline);
                }
                _ => queue.ops.clear(),
            }
            target.submit(&queue.ops);
        }
        if let (Some(end), true) = (end, queue.is_idle()) {
            // A command may fail when the time is over.
            return Ok(if recorder.errors > 0 { End::Failed } else { end });
        }
        now = match queue.next_due().filter(|_| end.is_none()) {
            Some(due) => {
                wait_until(target, earlier(due, deadline), queue.is_idle(), &mut ended)?;
                target.now()
            }
            None => {
                target.reap(1, &mut ended)?;
                // The clock was just looked at, and a look is a quarter of what a command costs here.
                ended.last().map_or_else(|| target.now(), |completion| completion.done)
            }
        };
        for completion in ended.drain(..) {
            queue.ended(completion, recorder);
        }
        recorder.passed(now);
        if recorder.seconds().len() > seconds {
            seconds = recorder.seconds().len();
            target.telemetry_take(recorder.telemetry_mut());
            on_second(recorder);
        }
    }
}

/// Has the target tell of every second of the phase, and of what is left of it after the last whole one.
pub(crate) fn start_telemetry<T: Telemetry>(target: &mut T, recorder: &Recorder) {
    target.telemetry_start(Nanos::SECOND);
    if let Some(end) = recorder.deadline() {
        target.telemetry_stop_at(end);
    }
}

/// A command outstanding.
#[derive(Clone, Copy)]
struct Under {
    op: Op,
    /// When it was due in an open loop; in a closed one the clock as it was last looked at before the issue.
    since: Nanos,
}

/// Tags, the commands that hold them, and where the next commands come from.
struct Queue<'a> {
    generator: &'a mut Generator,
    /// Start of the schedule of an open loop.
    start: Nanos,
    /// Whether latencies count from when commands were due: an open loop.
    is_open: bool,
    free_tags: Vec<u32>,
    outstanding: Vec<Option<Under>>,
    /// The commands that go to the target next.
    ops: Vec<Op>,
}

impl<'a> Queue<'a> {
    fn new(generator: &'a mut Generator, start: Nanos) -> Self {
        let depth = generator.workload().queue_depth;
        let is_open = generator.workload().pacing != Pacing::ClosedLoop;
        Self {
            generator,
            start,
            is_open,
            free_tags: (0..depth).rev().collect(),
            outstanding: vec![None; depth as usize],
            ops: Vec::with_capacity(depth as usize),
        }
    }

    fn is_idle(&self) -> bool {
        self.free_tags.len() == self.outstanding.len()
    }

    /// When the next command is due on the target's clock; `None` in a closed loop.
    #[inline]
    fn due(&self) -> Option<Nanos> {
        self.generator.due().map(|due| Nanos(self.start.0.saturating_add(due.0)))
    }

    /// As [`Queue::due`]; `None` where the queue is full as well.
    #[inline]
    fn next_due(&self) -> Option<Nanos> {
        if self.free_tags.is_empty() { None } else { self.due() }
    }

    /// Gives every free tag a command, in an open loop as far as they are due by `now`; true where
    /// the workload has none left.
    #[inline]
    fn fill(&mut self, now: Nanos) -> bool {
        self.ops.clear();
        while let Some(&tag) = self.free_tags.last() {
            let due = self.due();
            if due.is_some_and(|due| due > now) {
                return false;
            }
            let Some(op) = self.generator.next_op(tag) else { return true };
            self.free_tags.pop();
            self.outstanding[tag as usize] = Some(Under { op, since: due.unwrap_or(now) });
            self.ops.push(op);
        }
        false
    }

    /// In an open loop the last commands, those that are due before `end`; the number of those that
    /// find no room. In a closed loop none.
    fn fill_up_to(&mut self, end: Nanos) -> u64 {
        self.ops.clear();
        if self.due().is_some() {
            self.fill(Nanos(end.0.saturating_sub(1)));
        }
        self.generator.due_before(Nanos(end.0.saturating_sub(self.start.0)))
    }

    /// Records the end of a command and frees its tag.
    #[inline]
    fn ended(&mut self, end: Completion, recorder: &mut Recorder) {
        let Some(Under { op, since }) = self.outstanding[end.tag as usize].take() else { return };
        let submitted = if self.is_open { since } else { end.submitted };
        recorder.completed(&op, &Completion { submitted, ..end });
        self.free_tags.push(end.tag);
    }

    /// Records what is outstanding on a target that is lost.
    fn give_up(&mut self, now: Nanos, recorder: &mut Recorder) {
        for Under { op, since } in self.outstanding.iter_mut().filter_map(Option::take) {
            recorder.given_up(&op, since, now);
        }
    }
}

fn earlier(due: Nanos, deadline: Option<Nanos>) -> Nanos {
    deadline.map_or(due, |deadline| due.min(deadline))
}

/// Lets time pass until `due`, or until something ends. With nothing outstanding it sleeps, a second at
/// most so that the stop button is looked at.
pub(crate) fn wait_until<T: Telemetry>(
    target: &mut T,
    due: Nanos,
    idle: bool,
    ended: &mut Vec<Completion>,
) -> Result<(), IoError> {
    if idle {
        let second = target.now().0.saturating_add(Nanos::SECOND.0);
        target.idle_until(Nanos(due.0.min(second)));
        return Ok(());
    }
    target.reap_until(due, ended)
}

#[inline]
fn reason_to_stop(
    now: Nanos,
    deadline: Option<Nanos>,
    recorder: &Recorder,
    interrupted: &AtomicBool,
) -> Option<End> {
    if recorder.errors > 0 {
        return Some(End::Failed);
    }
    if interrupted.load(Ordering::Relaxed) {
        return Some(End::Interrupted);
    }
    if recorder.is_overlong(now) {
        return Some(End::Overlong);
    }
    deadline.filter(|&deadline| now >= deadline).map(|_| End::Complete)
}
