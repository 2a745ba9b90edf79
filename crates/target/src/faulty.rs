//! A target for tests: passes all commands on to another one and spoils chosen ones.
//!
//! A command that is to fail still reaches the inner target, as a write whose acknowledgement was
//! lost may still have reached the media. A stalled command is held back until its time has come
//! on the inner target's clock, virtual or real.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use base::{Completion, Nanos, Op, Status, TelemetryRow};

use crate::UseProbe;
use crate::contract::Target;
use crate::error::TargetError;
use crate::limits::Limits;
use crate::purge::{PurgeMethod, Waiter};
use base::Identity;

/// Kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The command ends with this errno.
    Fail {
        /// A positive errno.
        errno: i32,
    },
    /// The command ends this much later than it would have.
    Stall {
        /// The delay on the target's clock.
        extra: Nanos,
    },
    /// The target is lost: reaping fails from here on.
    Lose,
}

/// Wraps a target and spoils its n-th commands.
#[derive(Debug)]
pub struct FaultyTarget<T> {
    inner: T,
    /// Faults by number of the command, counted from 0.
    faults: BTreeMap<u64, Fault>,
    submitted: u64,
    /// Faults of commands now outstanding, by tag.
    armed: BTreeMap<u32, Fault>,
    held: Vec<Completion>,
    in_inner: usize,
    lost: bool,
    reaped: Vec<Completion>,
}

impl<T: Target> FaultyTarget<T> {
    /// Spoils the commands of `inner` by number: the first command handed over is number 0.
    pub fn new(inner: T, faults: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        Self {
            inner,
            faults: faults.into_iter().collect(),
            submitted: 0,
            armed: BTreeMap::new(),
            held: Vec::new(),
            in_inner: 0,
            lost: false,
            reaped: Vec::new(),
        }
    }

    /// The target inside.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// Gives one completion of the inner target its fault, if it has one.
    fn spoil(&mut self, mut completion: Completion, out: &mut Vec<Completion>) {
        match self.armed.remove(&completion.tag) {
            None | Some(Fault::Lose) => out.push(completion),
            Some(Fault::Fail { errno }) => {
                completion.status = Status::Failed { errno };
                out.push(completion);
            }
            Some(Fault::Stall { extra }) => {
                completion.done = Nanos(completion.done.0.saturating_add(extra.0));
                self.held.push(completion);
            }
        }
    }

    fn release(&mut self, out: &mut Vec<Completion>) {
        let now = self.inner.now();
        // A command that is released late was seen late: `done` never runs backwards within `out`.
        out.extend(
            self.held.extract_if(.., |c| c.done <= now).map(|c| Completion { done: now, ..c }),
        );
    }

    fn reap_inner(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.pass_on(out, |inner, reaped| inner.reap(min, reaped))
    }

    /// Passes on what the inner target reaps, with its faults.
    fn pass_on(
        &mut self,
        out: &mut Vec<Completion>,
        reap: impl FnOnce(&mut T, &mut Vec<Completion>) -> Result<(), TargetError>,
    ) -> Result<(), TargetError> {
        let mut reaped = std::mem::take(&mut self.reaped);
        let result = reap(&mut self.inner, &mut reaped);
        self.in_inner = self.in_inner.saturating_sub(reaped.len());
        for completion in reaped.drain(..) {
            self.spoil(completion, out);
        }
        self.reaped = reaped;
        result
    }
}

impl<T: Target> Target for FaultyTarget<T> {
    fn capacity_bytes(&self) -> u64 {
        self.inner.capacity_bytes()
    }

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    fn identity(&self) -> Identity {
        let mut identity = self.inner.identity();
        identity.engine.push_str(", with injected faults");
        identity
    }

    fn now(&self) -> Nanos {
        self.inner.now()
    }

    fn submit(&mut self, ops: &[Op]) {
        for op in ops {
            if let Some(&fault) = self.faults.get(&self.submitted) {
                self.lost |= fault == Fault::Lose;
                self.armed.insert(op.tag, fault);
            }
            self.submitted += 1;
        }
        self.in_inner += ops.len();
        self.inner.submit(ops);
    }

    fn reap(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        if self.lost {
            return Err(TargetError::Device {
                context: format!("{} was lost", self.inner.identity().name),
                source: io::Error::from(rustix::io::Errno::NODEV),
            });
        }
        let goal = out.len() + min;
        self.reap_inner(0, out)?;
        self.release(out);
        while out.len() < goal {
            if self.in_inner > 0 {
                self.reap_inner(1, out)?;
            } else if let Some(due) = self.held.iter().map(|c| c.done).min() {
                self.inner.idle_until(due);
            } else {
                break;
            }
            self.release(out);
        }
        Ok(())
    }

    fn reap_until(&mut self, t: Nanos, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        let due = self.held.iter().map(|held| held.done).min().map_or(t, |done| done.min(t));
        self.pass_on(out, |inner, reaped| inner.reap_until(due, reaped))?;
        self.reap(0, out)
    }

    fn idle_until(&mut self, t: Nanos) {
        self.inner.idle_until(t);
    }

    fn confirm_identity(&self) -> Result<(), TargetError> {
        self.inner.confirm_identity()
    }

    fn use_probe(&self) -> Option<Arc<dyn UseProbe>> {
        self.inner.use_probe()
    }

    fn purge(&mut self, waiter: &dyn Waiter) -> Result<PurgeMethod, TargetError> {
        self.inner.purge(waiter)
    }

    fn deallocate(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), TargetError> {
        self.inner.deallocate(offset_bytes, len_bytes)
    }

    fn flush(&mut self) -> Result<(), TargetError> {
        self.inner.flush()
    }

    fn telemetry_start(&mut self, interval: Nanos) {
        self.inner.telemetry_start(interval);
    }

    fn telemetry_stop_at(&mut self, t: Nanos) {
        self.inner.telemetry_stop_at(t);
    }

    fn telemetry_take(&mut self, out: &mut Vec<TelemetryRow>) {
        self.inner.telemetry_take(out);
    }

    fn unwritten_reads(&self) -> Option<u64> {
        self.inner.unwritten_reads()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{Reply, ScriptedTarget};
    use base::{Data, OpKind};

    #[test]
    fn a_wait_with_a_time_ends_with_the_first_command_that_is_passed_on() {
        let inner = ScriptedTarget::new(1 << 30, Reply::after_ns(10));
        let stall = Fault::Stall { extra: Nanos(30) };
        let mut target = FaultyTarget::new(inner, [(0, stall)]);
        target.submit(&[op(0)]);
        let mut out = Vec::new();
        target.reap_until(Nanos(100), &mut out).unwrap();
        assert!(out.is_empty(), "the command stalls: {out:?}");
        target.reap_until(Nanos(100), &mut out).unwrap();
        assert_eq!((out.len(), target.now()), (1, Nanos(40)));
        target.reap_until(Nanos(100), &mut out).unwrap();
        assert_eq!(target.now(), Nanos(100));
    }

    fn op(tag: u32) -> Op {
        Op {
            kind: OpKind::Read,
            data: Data::Incompressible,
            fua: false,
            placement: 0,
            len: 4096,
            tag,
            offset: 0,
        }
    }

    fn run(
        faults: &[(u64, Fault)],
        count: u32,
    ) -> (Vec<Completion>, Nanos, Result<(), TargetError>) {
        let inner = ScriptedTarget::new(1 << 30, Reply::after_ns(10));
        let mut target = FaultyTarget::new(inner, faults.iter().copied());
        target.submit(&(0..count).map(op).collect::<Vec<_>>());
        let mut out = Vec::new();
        let result = target.reap(count as usize, &mut out);
        (out, target.now(), result)
    }

    #[test]
    fn the_chosen_command_fails_and_no_other() {
        let (out, _, result) = run(&[(1, Fault::Fail { errno: 5 })], 3);
        result.unwrap();
        let failed: Vec<_> = out.iter().filter(|c| c.status != Status::Ok).map(|c| c.tag).collect();
        assert_eq!((out.len(), failed), (3, vec![1]));
    }

    #[test]
    fn a_stalled_command_ends_later_and_last() {
        let (out, now, result) = run(&[(0, Fault::Stall { extra: Nanos(1000) })], 3);
        result.unwrap();
        assert_eq!(out.iter().map(|c| c.tag).collect::<Vec<_>>(), [1, 2, 0]);
        assert_eq!((out[2].latency(), now), (Nanos(1010), Nanos(1010)));
    }

    #[test]
    fn a_lost_target_says_so() {
        let (out, _, result) = run(&[(2, Fault::Lose)], 3);
        assert!(out.is_empty());
        assert!(result.unwrap_err().to_string().contains("lost"));
    }
}
