//! A target for tests: answers from a list, in virtual time, and records its calls.
//!
//! The n-th command handed over gets the n-th [`Reply`]; after the last one the default reply
//! repeats. Nothing depends on the machine, so a test can assert exact times.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

use base::{Completion, Nanos, Op, Status};

use crate::UseProbe;
use crate::contract::Target;
use crate::error::TargetError;
use crate::health::HealthProbe;
use crate::limits::Limits;
use crate::purge::{PurgeMethod, Waiter};
use base::{Identity, TargetKind};

/// The answer to one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Time from submission to completion.
    pub latency: Nanos,
    /// Outcome of the command.
    pub status: Status,
}

impl Reply {
    /// Success after `latency_ns`.
    pub const fn after_ns(latency_ns: u64) -> Self {
        Self { latency: Nanos(latency_ns), status: Status::Ok }
    }
}

/// A call that a test can check afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A command was handed over.
    Submitted(Op),
    /// [`Target::idle_until`] was called with this goal.
    Idled(Nanos),
    /// [`Target::purge`] was called.
    Purged,
    /// [`Target::deallocate`] was called.
    Deallocated {
        /// First byte of the range.
        offset_bytes: u64,
        /// Length of the range.
        len_bytes: u64,
    },
    /// [`Target::flush`] was called.
    Flushed,
}

/// Answers from a list, in virtual time.
#[derive(Debug)]
pub struct ScriptedTarget {
    capacity_bytes: u64,
    /// Kind in the result of [`Target::identity`].
    pub kind: TargetKind,
    /// Result of [`Target::limits`]; change it to test how a caller adapts.
    pub limits: Limits,
    /// Result of [`Target::use_probe`].
    pub uses: Option<Arc<dyn UseProbe>>,
    /// Result of [`Target::health_probe`].
    pub health: Option<Arc<dyn HealthProbe>>,
    /// Result of [`Target::interrupt_processor`].
    pub interrupt_processor: Option<usize>,
    /// Delay of [`Target::idle_until`] beyond the requested time, as of a timer.
    pub oversleep: Nanos,
    /// Whether it serves one command after the other, in order: a command then waits for those before it, and
    /// the latency of its reply is the time of its service alone.
    pub one_at_a_time: bool,
    /// Delay of [`Target::reap_until`] beyond the requested time, as on a busy processor.
    pub overstay: Nanos,
    replies: VecDeque<Reply>,
    default_reply: Reply,
    now: Nanos,
    /// End of the last service.
    free_at: Nanos,
    /// Outstanding commands by time of completion, then by order of submission.
    outstanding: BinaryHeap<Reverse<(Nanos, u64)>>,
    completions: BTreeMap<u64, Completion>,
    sequence: u64,
    events: Vec<(Nanos, Event)>,
}

impl ScriptedTarget {
    /// A target of this size that answers everything with `default_reply`.
    pub fn new(capacity_bytes: u64, default_reply: Reply) -> Self {
        let limits = Limits { transfer_bytes_max: 1 << 20, queue_depth_max: 1024, ..Limits::BARE };
        Self {
            capacity_bytes,
            kind: TargetKind::Simulated,
            limits,
            uses: None,
            health: None,
            interrupt_processor: None,
            oversleep: Nanos(0),
            overstay: Nanos(0),
            one_at_a_time: false,
            free_at: Nanos(0),
            replies: VecDeque::new(),
            default_reply,
            now: Nanos(0),
            outstanding: BinaryHeap::new(),
            completions: BTreeMap::new(),
            sequence: 0,
            events: Vec::new(),
        }
    }

    /// Answers the next commands with `replies`, in the order they are handed over.
    #[must_use]
    pub fn replies(mut self, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.replies.extend(replies);
        self
    }

    /// Takes at most this many commands at a time.
    #[must_use]
    pub fn queue_depth_max(mut self, queue_depth_max: u32) -> Self {
        self.limits.queue_depth_max = queue_depth_max;
        self
    }

    /// All calls so far, with their virtual times.
    pub fn events(&self) -> &[(Nanos, Event)] {
        &self.events
    }

    /// The commands handed over so far.
    pub fn ops(&self) -> impl Iterator<Item = &Op> {
        self.events.iter().filter_map(|(_, event)| match event {
            Event::Submitted(op) => Some(op),
            _ => None,
        })
    }

    /// Commands handed over and not yet reaped.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    fn record(&mut self, event: Event) {
        self.events.push((self.now, event));
    }
}

impl Target for ScriptedTarget {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn identity(&self) -> Identity {
        Identity {
            kind: self.kind,
            name: "scripted".to_owned(),
            spec: "scripted".to_owned(),
            serial: None,
            firmware: None,
            capacity_bytes: self.capacity_bytes,
            raw_bytes: None,
            log_bytes: None,
            engine: "scripted replies, virtual time".to_owned(),
            facts: base::Facts::default(),
            details: BTreeMap::new(),
        }
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn submit(&mut self, ops: &[Op]) {
        for op in ops {
            self.record(Event::Submitted(*op));
            let reply = self.replies.pop_front().unwrap_or(self.default_reply);
            let begun = if self.one_at_a_time { self.now.max(self.free_at) } else { self.now };
            let done = Nanos(begun.0.saturating_add(reply.latency.0));
            self.free_at = done;
            let completion =
                Completion { tag: op.tag, status: reply.status, submitted: self.now, done };
            self.outstanding.push(Reverse((done, self.sequence)));
            self.completions.insert(self.sequence, completion);
            self.sequence += 1;
        }
    }

    fn reap(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        let mut missing = min;
        while let Some(&Reverse((done, sequence))) = self.outstanding.peek() {
            if missing == 0 && done > self.now {
                break;
            }
            self.outstanding.pop();
            self.now = self.now.max(done);
            missing = missing.saturating_sub(1);
            out.extend(self.completions.remove(&sequence));
        }
        Ok(())
    }

    fn reap_until(&mut self, t: Nanos, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        // It watches the clock, so it is late only by `overstay`.
        self.record(Event::Idled(t));
        let late = Nanos(t.0 + self.overstay.0);
        let first_end = self.outstanding.peek().filter(|Reverse((done, _))| *done <= t);
        self.now = self.now.max(first_end.map_or(late, |Reverse((done, _))| *done));
        self.reap(0, out)
    }

    fn idle_until(&mut self, t: Nanos) {
        self.record(Event::Idled(t));
        if t > self.now {
            self.now = Nanos(t.0 + self.oversleep.0);
        }
    }

    fn interrupt_processor(&self) -> Option<usize> {
        self.interrupt_processor
    }

    fn use_probe(&self) -> Option<Arc<dyn UseProbe>> {
        self.uses.clone()
    }

    fn purge(&mut self, _waiter: &dyn Waiter) -> Result<PurgeMethod, TargetError> {
        self.record(Event::Purged);
        Ok(PurgeMethod::FreshSimulatedDrive)
    }

    fn deallocate(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), TargetError> {
        self.record(Event::Deallocated { offset_bytes, len_bytes });
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TargetError> {
        self.record(Event::Flushed);
        Ok(())
    }

    fn health_probe(&self) -> Option<Arc<dyn HealthProbe>> {
        self.health.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Data, OpKind};

    fn write(tag: u32) -> Op {
        Op {
            kind: OpKind::Write,
            data: Data::Incompressible,
            fua: false,
            placement: 0,
            len: 4096,
            tag,
            offset: 0,
        }
    }

    #[test]
    fn replies_come_in_order_of_their_time() {
        let failed = Reply { latency: Nanos(20), status: Status::Failed { errno: 5 } };
        let mut target = ScriptedTarget::new(1 << 30, Reply::after_ns(10))
            .replies([Reply::after_ns(30), failed]);
        target.submit(&[write(0), write(1), write(2)]);
        let mut out = Vec::new();
        target.reap(2, &mut out).unwrap();
        assert_eq!(out.iter().map(|c| c.tag).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((target.now(), target.outstanding()), (Nanos(20), 1));
        target.reap(1, &mut out).unwrap();
        assert_eq!(out[2].latency(), Nanos(30));
        assert_eq!(target.ops().count(), 3);
    }

    #[test]
    fn one_at_a_time_makes_the_later_ones_wait() {
        let mut target = ScriptedTarget::new(1 << 30, Reply::after_ns(10));
        target.one_at_a_time = true;
        target.submit(&[write(0), write(1)]);
        let mut out = Vec::new();
        target.reap(2, &mut out).unwrap();
        target.idle_until(Nanos(100));
        target.submit(&[write(2)]);
        target.reap(1, &mut out).unwrap();
        let latencies: Vec<_> = out.iter().map(|end| end.latency().0).collect();
        assert_eq!(latencies, [10, 20, 10]);
    }

    #[test]
    fn idling_moves_the_clock_and_nothing_else() {
        let mut target = ScriptedTarget::new(1 << 30, Reply::after_ns(10));
        target.idle_until(Nanos(100));
        target.idle_until(Nanos(50));
        assert_eq!(target.now(), Nanos(100));
        assert_eq!(target.events()[1], (Nanos(100), Event::Idled(Nanos(50))));
    }
}
