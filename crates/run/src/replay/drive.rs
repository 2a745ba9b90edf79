//! The loop of a replay: issue due and permitted commands, wait for an end or for the next time.

use std::sync::atomic::AtomicBool;

use base::{Completion, Nanos, Op};
use target::Target;

use super::feed::{Feed, ReplayCommand};
use super::{Form, Meter, ReplaySpec};
use crate::drive::{End, Outstanding, OutstandingCommand, Seconds, wait_until};
use crate::error::RunError;
use crate::recorder::Recorder;

/// The last part of a wait, in which the loop itself spins: a timer may be late by more than a
/// target's clock allows for.
const WATCH: Nanos = Nanos(200_000);

/// The observer of a replay, who may stop it.
pub struct Observer<'a> {
    /// Set to stop the replay.
    pub interrupted: &'a AtomicBool,
    /// Called whenever at least one second has been recorded.
    pub on_second: &'a mut dyn FnMut(&Recorder),
}

/// The state of the loop.
struct Replay<'a> {
    spec: &'a ReplaySpec,
    head: Option<ReplayCommand>,
    /// Earliest issue of the head; `None` if only depth decides.
    due_ns: Option<u64>,
    /// Planned time of the last command: the clock of the open form.
    plan_ns: u64,
    /// Time of the last issue.
    issued_ns: u64,
    /// Time from which the depth permits the head: the end of the command that made room.
    freed_ns: u64,
    /// The outstanding commands, with their streams. In the open form they wait from the recorded time.
    outstanding: Outstanding<u32>,
}

/// Issues all commands of `feed`; ends early when `interrupted`, or when a command fails.
///
/// # Errors
/// If the target as a whole is lost, or the rest of the trace cannot be read.
pub fn replay<T: Target>(
    target: &mut T,
    spec: &ReplaySpec,
    feed: &mut Feed,
    (recorder, meter): (&mut Recorder, &mut Meter),
    observer: &mut Observer<'_>,
) -> Result<End, RunError> {
    let mut replay = Replay::new(spec, target.now().0);
    let end = replay.run(target, feed, (&mut *recorder, meter), observer);
    if end.is_err() {
        replay.outstanding.give_up(target.now(), recorder, |&stream| stream);
    }
    end
}

impl<'a> Replay<'a> {
    fn new(spec: &'a ReplaySpec, start_ns: u64) -> Self {
        Self {
            spec,
            head: None,
            due_ns: None,
            plan_ns: start_ns,
            issued_ns: start_ns,
            freed_ns: start_ns,
            outstanding: Outstanding::new(spec.queue_depth_max),
        }
    }

    /// The loop.
    fn run<T: Target>(
        &mut self,
        target: &mut T,
        feed: &mut Feed,
        (recorder, meter): (&mut Recorder, &mut Meter),
        observer: &mut Observer<'_>,
    ) -> Result<End, RunError> {
        self.advance(feed)?;
        let mut ended: Vec<Completion> = Vec::new();
        let mut seconds = Seconds::start(target, recorder);
        let mut now = target.now();
        loop {
            let end = End::reason(now, None, recorder, observer.interrupted);
            if end.is_none() {
                self.issue(target, feed, meter)?;
            }
            let is_idle = self.outstanding.is_idle();
            if is_idle && (end.is_some() || self.head.is_none()) {
                return Ok(end.unwrap_or(End::Complete));
            }
            match self.due_ns.filter(|_| end.is_none() && self.may_issue()) {
                Some(due_ns) => wait_until(target, Nanos(due_ns), WATCH, is_idle, &mut ended)?,
                None => target.reap(1, &mut ended)?,
            }
            for completion in ended.drain(..) {
                self.ended(&completion, recorder, meter);
            }
            now = target.now();
            seconds.passed(now, target, recorder, &mut *observer.on_second);
        }
    }

    /// Whether the depth permits the head, at any time.
    fn may_issue(&self) -> bool {
        let Some(head) = &self.head else { return false };
        let recorded = u32::from(head.queue_depth);
        let limit = match self.spec.form {
            Form::Closed if recorded > 0 => recorded.min(self.outstanding.queue_depth()),
            Form::Closed | Form::Open => self.outstanding.queue_depth(),
        };
        self.outstanding.count() < limit
    }

    /// Takes the next command and computes its time.
    fn advance(&mut self, feed: &mut Feed) -> Result<(), RunError> {
        self.head = feed.next_command()?;
        let Some(head) = &self.head else {
            self.due_ns = None;
            return Ok(());
        };
        self.due_ns = self.spec.wait_ns(head).map(|wait_ns| match self.spec.form {
            Form::Open => {
                self.plan_ns = self.plan_ns.saturating_add(wait_ns);
                self.plan_ns
            }
            Form::Closed => self.issued_ns.saturating_add(wait_ns),
        });
        Ok(())
    }

    /// Issues every due and permitted command.
    fn issue<T: Target>(
        &mut self,
        target: &mut T,
        feed: &mut Feed,
        meter: &mut Meter,
    ) -> Result<(), RunError> {
        while self.may_issue() {
            let now_ns = target.now().0;
            let Some(head) = self.head.filter(|_| self.due_ns.is_none_or(|due| due <= now_ns))
            else {
                return Ok(());
            };
            let Some(tag) = self.outstanding.next_tag() else { return Ok(()) };
            let op = Op { tag, ..head.op };
            let ready_ns = self.ready_ns();
            let mut since = Nanos(now_ns);
            if let (Form::Open, Some(due_ns)) = (self.spec.form, self.due_ns) {
                since = Nanos(due_ns);
                meter.backlog.issued(due_ns, self.freed_ns);
            }
            self.outstanding.begin(OutstandingCommand { op, since, note: head.stream });
            target.submit(&[op]);
            let late_ns = ready_ns.map(|ready| now_ns.saturating_sub(ready));
            meter.issued(&op, head.stream, self.outstanding.count(), now_ns, late_ns);
            self.issued_ns = now_ns;
            self.advance(feed)?;
        }
        Ok(())
    }

    /// Scheduled issue of the head, the base of lateness. In the closed form it also waits for the
    /// command whose end makes room, which is no lateness; other ends do not matter. In the open
    /// form, a drive that holds all tags makes it late.
    fn ready_ns(&self) -> Option<u64> {
        let due_ns = self.due_ns?;
        Some(match self.spec.form {
            Form::Open => due_ns,
            Form::Closed => due_ns.max(self.freed_ns),
        })
    }

    fn ended(&mut self, completion: &Completion, recorder: &mut Recorder, meter: &mut Meter) {
        let was_held_back = !self.may_issue();
        let Some(OutstandingCommand { op, since, note: stream }) =
            self.outstanding.end(completion.tag)
        else {
            return;
        };
        let mut end = *completion;
        if self.spec.form == Form::Open {
            end.submitted = since;
            meter.device_latency.record(completion.latency().0);
        }
        recorder.completed(&op, &end);
        recorder.point(&op, completion.submitted, &end, stream);
        meter.ended(&op, stream, completion);
        if was_held_back && self.may_issue() {
            self.freed_ns = completion.done.0;
        }
    }
}
