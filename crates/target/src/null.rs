//! The null target: completes every command at once, to measure the harness itself.
//!
//! Real clock, same fence and same bookkeeping as a real engine, no kernel and no data.

use base::{Completion, Nanos, Op, OpKind, Status};

use crate::clock::Clock;
use crate::contract::Target;
use crate::error::TargetError;
use crate::limits::{Limits, fence};
use crate::purge::{PurgeMethod, Waiter};
use crate::spec::TargetSpec;
use base::{Identity, TargetKind};

/// A target with nothing behind it.
#[derive(Debug)]
pub struct NullTarget<C> {
    capacity_bytes: u64,
    clock: C,
    ended: Vec<Completion>,
}

impl<C: Clock> NullTarget<C> {
    /// A null target of `capacity_bytes` on this clock.
    pub fn new(capacity_bytes: u64, clock: C) -> Self {
        Self { capacity_bytes, clock, ended: Vec::with_capacity(1024) }
    }
}

impl<C: Clock> Target for NullTarget<C> {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn limits(&self) -> Limits {
        Limits::BARE
    }

    fn identity(&self) -> Identity {
        Identity {
            kind: TargetKind::Null,
            name: "null".to_owned(),
            spec: TargetSpec::Null { size_bytes: self.capacity_bytes }.to_string(),
            serial: None,
            firmware: None,
            capacity_bytes: self.capacity_bytes,
            raw_bytes: None,
            log_bytes: None,
            engine: "null (completes at once, no kernel)".to_owned(),
            facts: base::Facts::default(),
            details: std::collections::BTreeMap::new(),
        }
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn submit(&mut self, ops: &[Op]) {
        let submitted = self.clock.now();
        let capacity_bytes = self.capacity_bytes;
        self.ended.extend(ops.iter().map(|op| Completion {
            tag: op.tag,
            status: admit(op, capacity_bytes),
            submitted,
            done: submitted,
        }));
    }

    #[inline]
    fn reap(&mut self, _min: usize, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        if self.ended.is_empty() {
            return Ok(());
        }
        let done = self.clock.now();
        out.extend(self.ended.drain(..).map(|ended| Completion { done, ..ended }));
        Ok(())
    }

    fn idle_until(&mut self, t: Nanos) {
        self.clock.sleep_until(t);
    }

    fn workers(&mut self, queue_depths: &[u32]) -> Result<Vec<Self>, TargetError> {
        let worker = || Self::new(self.capacity_bytes, self.clock.clone());
        Ok(queue_depths.iter().map(|_| worker()).collect())
    }

    fn purge(&mut self, _waiter: &dyn Waiter) -> Result<PurgeMethod, TargetError> {
        Ok(PurgeMethod::None)
    }

    fn deallocate(&mut self, _offset_bytes: u64, _len_bytes: u64) -> Result<(), TargetError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TargetError> {
        Ok(())
    }
}

#[inline]
fn admit(op: &Op, capacity_bytes: u64) -> Status {
    if op.kind == OpKind::Flush {
        return Status::Ok;
    }
    match fence(op.offset, u64::from(op.len), capacity_bytes, Limits::BARE.logical_block_bytes) {
        Ok(()) => Status::Ok,
        Err(errno) => Status::Failed { errno: errno.raw_os_error() },
    }
}

#[cfg(test)]
mod tests {
    use base::Data;

    use super::*;

    /// A clock that stands still.
    #[derive(Clone)]
    struct Stopped;

    impl Clock for Stopped {
        fn now(&self) -> Nanos {
            Nanos(0)
        }

        fn sleep_until(&self, _: Nanos) {}
    }

    #[test]
    fn everything_inside_the_fence_completes_once() {
        let mut target = NullTarget::new(1 << 20, Stopped);
        let op = |tag, offset| Op {
            kind: OpKind::Read,
            data: Data::Incompressible,
            fua: false,
            placement: 0,
            len: 4096,
            tag,
            offset,
        };
        target.submit(&[op(0, 0), op(1, 1 << 20)]);
        let mut out = Vec::new();
        target.reap(2, &mut out).unwrap();
        target.reap(0, &mut out).unwrap();
        assert_eq!(out.len(), 2);
        assert_eq!(out[0].status, Status::Ok);
        assert_eq!(out[1].status, Status::Failed { errno: 22 });
        assert!(out[0].done >= out[0].submitted);
    }
}
