//! The main loop: keep the target busy, record ended commands. The same code drives a real device
//! in wall time and a simulated one in virtual time.

mod end;
mod outstanding;
mod seconds;
mod wait;

use std::sync::atomic::AtomicBool;

use base::{Completion, Nanos, Op};
use load::{Generator, Pacing};
use target::IoError;
use target::capability::Telemetry;

use crate::recorder::Recorder;

pub use end::End;
pub(crate) use outstanding::{Issued, Outstanding};
pub(crate) use seconds::{Seconds, start_telemetry};
pub(crate) use wait::wait_until;

/// The last part of a wait, in which the loop itself spins: none, because a target's clock spins
/// for long enough at the end of its sleep.
const WATCH: Nanos = Nanos(0);

/// Issues the commands of `generator` until they end, until `deadline` on the target's clock, until
/// `interrupted`, or until a command fails; then waits for outstanding ones. In a closed loop the
/// queue is kept full. In an open loop a command is issued when it is due, or as soon as the queue
/// has room after that, and its latency counts from the due time. `on_second` is called whenever at
/// least one second has been recorded.
///
/// # Errors
/// If the target as a whole is lost. The recorded part stays in `recorder`, and outstanding
/// commands are in its latencies with their time so far.
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
        queue.outstanding.give_up(target.now(), recorder);
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
    let mut ended: Vec<Completion> = Vec::with_capacity(queue.ops.capacity());
    let mut now = target.now();
    let mut seconds = Seconds::start(target, recorder);
    let mut end = None;
    loop {
        if end.is_none() {
            end = End::reason(now, deadline, recorder, interrupted);
            match (end, deadline) {
                (None, _) => end = queue.fill(now).then_some(End::Complete),
                (Some(End::Complete), Some(deadline)) => {
                    recorder.ios_not_issued = queue.fill_up_to(deadline);
                }
                _ => queue.ops.clear(),
            }
            target.submit(&queue.ops);
        }
        if let (Some(end), true) = (end, queue.outstanding.is_idle()) {
            // A command may fail when the time is over.
            return Ok(if recorder.errors > 0 { End::Failed } else { end });
        }
        now = match queue.next_due().filter(|_| end.is_none()) {
            Some(due) => {
                let due = deadline.map_or(due, |deadline| due.min(deadline));
                wait_until(target, due, WATCH, queue.outstanding.is_idle(), &mut ended)?;
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
        seconds.passed(now, target, recorder, &mut on_second);
    }
}

/// The outstanding commands, and the source of the next ones.
struct Queue<'a> {
    generator: &'a mut Generator,
    /// Start of the schedule of an open loop.
    start: Nanos,
    /// Whether latencies count from due times: an open loop.
    is_open: bool,
    /// Each waits from its due time in an open loop; in a closed one from the last reading of the
    /// clock before its issue.
    outstanding: Outstanding<()>,
    /// The next commands for the target.
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
            outstanding: Outstanding::new(depth),
            ops: Vec::with_capacity(depth as usize),
        }
    }

    /// Due time of the next command on the target's clock; `None` in a closed loop.
    #[inline]
    fn due(&self) -> Option<Nanos> {
        self.generator.due().map(|due| Nanos(self.start.0.saturating_add(due.0)))
    }

    /// As [`Queue::due`]; also `None` if the queue is full.
    #[inline]
    fn next_due(&self) -> Option<Nanos> {
        self.outstanding.next_tag().and_then(|_| self.due())
    }

    /// Gives every free tag a command, in an open loop only those due by `now`; true if the
    /// workload has none left.
    #[inline]
    fn fill(&mut self, now: Nanos) -> bool {
        self.ops.clear();
        while let Some(tag) = self.outstanding.next_tag() {
            let due = self.due();
            if due.is_some_and(|due| due > now) {
                return false;
            }
            let Some(op) = self.generator.next_op(tag) else { return true };
            self.outstanding.begin(Issued { op, since: due.unwrap_or(now), note: () });
            self.ops.push(op);
        }
        false
    }

    /// In an open loop, adds the last commands, those due before `end`; returns the number of those
    /// without room. In a closed loop none.
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
        let Some(Issued { op, since, .. }) = self.outstanding.end(end.tag) else { return };
        let submitted = if self.is_open { since } else { end.submitted };
        recorder.completed(&op, &Completion { submitted, ..end });
    }
}
