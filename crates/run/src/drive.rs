//! The main loop: keep the target busy, record what ends. The same code drives a real device in
//! wall time and a simulated one in virtual time.

use std::sync::atomic::{AtomicBool, Ordering};

use base::{Completion, Nanos, Op};
use io::{IoError, Target};
use load::Generator;

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
}

/// Issues the commands of `generator` closed loop until they end, until `deadline` on the target's
/// clock, until `interrupted`, or until a command fails; then waits for what is outstanding.
/// `on_second` is called whenever at least one second has been recorded.
///
/// # Errors
/// Where the target as a whole is lost. What was recorded stays in `recorder`.
pub fn drive<T: Target>(
    target: &mut T,
    generator: &mut Generator,
    deadline: Option<Nanos>,
    recorder: &mut Recorder,
    interrupted: &AtomicBool,
    mut on_second: impl FnMut(&Recorder),
) -> Result<End, IoError> {
    let queue_depth = generator.workload().queue_depth;
    let mut free_tags: Vec<u32> = (0..queue_depth).rev().collect();
    let mut outstanding = vec![None; queue_depth as usize];
    let mut ops: Vec<Op> = Vec::with_capacity(queue_depth as usize);
    let mut ended: Vec<Completion> = Vec::with_capacity(queue_depth as usize);
    let mut seconds = 0;
    let mut end = None;
    target.telemetry_start(Nanos::SECOND);
    loop {
        if end.is_none() {
            let exhausted = issue(generator, &mut free_tags, &mut outstanding, &mut ops);
            target.submit(&ops);
            end = exhausted.then_some(End::Complete);
        }
        if free_tags.len() == queue_depth as usize {
            return Ok(end.unwrap_or(End::Complete));
        }
        target.reap(1, &mut ended)?;
        for completion in ended.drain(..) {
            if let Some(op) = outstanding[completion.tag as usize].take() {
                recorder.completed(&op, &completion);
                free_tags.push(completion.tag);
            }
        }
        let now = target.now();
        recorder.passed(now);
        if recorder.seconds().len() > seconds {
            seconds = recorder.seconds().len();
            target.telemetry_take(recorder.telemetry_mut());
            on_second(recorder);
        }
        if end.is_none() {
            end = reason_to_stop(now, deadline, recorder, interrupted);
        }
    }
}

/// Gives every free tag a command; true where the workload has none left.
#[inline]
fn issue(
    generator: &mut Generator,
    free_tags: &mut Vec<u32>,
    outstanding: &mut [Option<Op>],
    ops: &mut Vec<Op>,
) -> bool {
    ops.clear();
    while let Some(tag) = free_tags.pop() {
        let Some(op) = generator.next_op(tag) else {
            free_tags.push(tag);
            return true;
        };
        outstanding[tag as usize] = Some(op);
        ops.push(op);
    }
    false
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
    deadline.filter(|&deadline| now >= deadline).map(|_| End::Complete)
}
