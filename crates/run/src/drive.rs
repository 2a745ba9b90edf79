//! The main loop: keep the target busy, record ended commands. The same code drives a real device
//! in wall time and a simulated one in virtual time.

mod end;
mod outstanding;
mod queue;
mod seconds;
mod wait;

use std::sync::atomic::AtomicBool;

use base::{Completion, Nanos};
use device::host::clock::thread_ns;
use load::Generator;
use result::store::ios::NO_JOB;
use target::Target;
use target::TargetError;

use crate::recorder::Recorder;

pub use end::End;
pub(crate) use outstanding::{Outstanding, OutstandingCommand};
pub(crate) use queue::{CommandEnd, Queue};
pub(crate) use seconds::{Seconds, start_telemetry};
pub(crate) use wait::wait_until;

/// The last part of a wait, in which the loop itself spins: none, because a target's clock spins
/// for long enough at the end of its sleep.
pub(crate) const WATCH: Nanos = Nanos(0);

/// Issues the commands of `generator` until they end, until `deadline` on the target's clock, until
/// `interrupted`, or until a command fails; then waits for outstanding ones. In a closed loop the
/// queue is kept full. In an open loop a command is issued when it is due, or as soon as the queue
/// has room after that, and its latency counts from the due time. `on_second` is called whenever at
/// least one second has been recorded.
///
/// # Errors
/// If the target as a whole is lost. The recorded part stays in `recorder`, and outstanding
/// commands are in its latencies with their time so far.
pub fn drive<T: Target>(
    target: &mut T,
    generator: &mut Generator,
    deadline: Option<Nanos>,
    recorder: &mut Recorder,
    interrupted: &AtomicBool,
    on_second: impl FnMut(&Recorder),
) -> Result<End, TargetError> {
    let mut queue = Queue::new(generator, recorder.start());
    let busy_ns = thread_ns();
    let end = keep_busy(target, &mut queue, deadline, recorder, interrupted, on_second);
    recorder.busy_ns = thread_ns().saturating_sub(busy_ns);
    if end.is_err() {
        queue.outstanding.give_up(target.now(), recorder, |()| NO_JOB);
    }
    end
}

/// The loop.
fn keep_busy<T: Target>(
    target: &mut T,
    queue: &mut Queue<'_>,
    deadline: Option<Nanos>,
    recorder: &mut Recorder,
    interrupted: &AtomicBool,
    mut on_second: impl FnMut(&Recorder),
) -> Result<End, TargetError> {
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
            queue.ended(target, completion, recorder);
        }
        seconds.passed(now, target, recorder, &mut on_second);
    }
}
