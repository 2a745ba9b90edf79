//! The null target: completes every command at once, to measure the harness itself.
//!
//! Real clock, same fence and same bookkeeping as a real engine, no kernel and no data.

use base::{Completion, Nanos, Op, OpKind, Status};

use super::medium::{Clock, fence};
use crate::error::IoError;
use crate::identity::{Identity, TargetKind};
use crate::purge::Waiter;
use crate::target::{Limits, PurgeMethod, Target};

const LIMITS: Limits = Limits {
    logical_block_bytes: 512,
    physical_block_bytes: 4096,
    transfer_bytes_max: 1 << 30,
    queue_depth_max: 65_536,
    deallocate: true,
    rest: false,
    energy: false,
    compresses: false,
};

/// A target with nothing behind it.
#[derive(Debug)]
pub struct NullTarget {
    capacity_bytes: u64,
    clock: Clock,
    ended: Vec<Completion>,
}

impl NullTarget {
    /// A null target of this size in bytes.
    #[must_use]
    pub fn new(capacity_bytes: u64) -> Self {
        Self { capacity_bytes, clock: Clock::start(), ended: Vec::with_capacity(1024) }
    }
}

impl Target for NullTarget {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn limits(&self) -> Limits {
        LIMITS
    }

    fn identity(&self) -> Identity {
        Identity {
            kind: TargetKind::Null,
            name: "null".to_owned(),
            spec: crate::TargetSpec::Null { size_bytes: self.capacity_bytes }.to_string(),
            serial: None,
            firmware: None,
            capacity_bytes: self.capacity_bytes,
            raw_bytes: None,
            log_bytes: None,
            engine: "null (completes at once, no kernel)".to_owned(),
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
    fn reap(&mut self, _min: usize, out: &mut Vec<Completion>) -> Result<(), IoError> {
        if self.ended.is_empty() {
            return Ok(());
        }
        let done = self.clock.now();
        out.extend(self.ended.drain(..).map(|ended| Completion { done, ..ended }));
        Ok(())
    }

    fn lanes(&mut self, queue_depths: &[u32]) -> Result<Vec<Self>, IoError> {
        let lane = || Self { clock: self.clock, ..Self::new(self.capacity_bytes) };
        Ok(queue_depths.iter().map(|_| lane()).collect())
    }

    fn idle_until(&mut self, t: Nanos) {
        self.clock.sleep_until(t);
    }

    fn purge(&mut self, _waiter: &dyn Waiter) -> Result<PurgeMethod, IoError> {
        Ok(PurgeMethod::None)
    }

    fn deallocate(&mut self, _offset_bytes: u64, _len_bytes: u64) -> Result<(), IoError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}

#[inline]
fn admit(op: &Op, capacity_bytes: u64) -> Status {
    if op.kind == OpKind::Flush {
        return Status::Ok;
    }
    match fence(op.offset, u64::from(op.len), capacity_bytes, LIMITS.logical_block_bytes) {
        Ok(()) => Status::Ok,
        Err(errno) => Status::Failed { errno: errno.raw_os_error() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Data;

    #[test]
    fn everything_inside_the_fence_completes_once() {
        let mut target = NullTarget::new(1 << 20);
        let op = |tag, offset| Op {
            kind: OpKind::Read,
            data: Data::Incompressible,
            fua: false,
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
