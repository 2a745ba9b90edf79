//! The fallback engine: plain `pread` and `pwrite`, where `io_uring` is not allowed.
//!
//! One command is in the kernel at a time, whatever the queue depth: submission queues, reaping
//! executes in order. Latencies at a depth above 1 therefore contain the wait for the commands
//! ahead, as on a device that works one command at a time. The engine line in the identity says so.

use std::collections::VecDeque;
use std::fs::File;
use std::io::IoSlice;

use base::{Completion, Nanos, Op, OpKind, Status};
use rustix::io::{Errno, ReadWriteFlags};

use super::medium::Medium;
use crate::buffer::BufferPool;
use crate::error::IoError;
use crate::identity::Identity;
use crate::purge::Waiter;
use crate::target::{Limits, PurgeMethod, Target};

/// Executes commands one after the other with blocking calls.
#[derive(Debug)]
pub struct SyncEngine {
    medium: Medium,
    pool: BufferPool,
    queue: VecDeque<(Op, Nanos)>,
}

impl SyncEngine {
    pub(crate) fn new(medium: Medium, pool: BufferPool) -> Self {
        let queue = VecDeque::with_capacity(medium.limits.queue_depth_max as usize);
        Self { medium, pool, queue }
    }

    pub(crate) fn medium(&self) -> &Medium {
        &self.medium
    }

    pub(crate) fn medium_mut(&mut self) -> &mut Medium {
        &mut self.medium
    }

    /// The first `len_bytes` of what the last read with this tag returned; see `RealTarget`.
    pub(crate) fn read_bytes(&mut self, tag: u32, len_bytes: usize) -> Option<&[u8]> {
        let known = tag < self.medium.limits.queue_depth_max;
        let idle = !self.queue.iter().any(|(op, _)| op.tag == tag);
        let fits = len_bytes <= self.pool.area_bytes();
        (known && idle && fits).then(|| &*self.pool.read_bytes(tag, len_bytes))
    }

    fn execute(&mut self, op: &Op) -> Result<(), Errno> {
        self.medium.admit(op)?;
        if op.tag >= self.medium.limits.queue_depth_max {
            return Err(Errno::INVAL);
        }
        let len = op.len as usize;
        let moved = match op.kind {
            OpKind::Flush => return self.medium.flush_now(),
            OpKind::Deallocate => return self.medium.discard(op.offset, u64::from(op.len)),
            OpKind::Read => {
                let area = self.pool.read_bytes(op.tag, len);
                rustix::io::retry_on_intr(|| {
                    rustix::io::pread(&self.medium.file, &mut *area, op.offset)
                })?
            }
            OpKind::Write => {
                let area = self.pool.prepare_write(op.tag, op.data, op.offset, len);
                write(&self.medium.file, area, op)?
            }
        };
        // A short transfer inside the fence means that the medium lost something.
        if moved == len { Ok(()) } else { Err(Errno::IO) }
    }
}

/// One write, down to the medium where the command asks for that.
fn write(file: &File, area: &[u8], op: &Op) -> Result<usize, Errno> {
    let pieces = [IoSlice::new(area)];
    rustix::io::retry_on_intr(|| {
        if op.fua {
            rustix::io::pwritev2(file, &pieces, op.offset, ReadWriteFlags::DSYNC)
        } else {
            rustix::io::pwrite(file, area, op.offset)
        }
    })
}

impl Target for SyncEngine {
    fn capacity_bytes(&self) -> u64 {
        self.medium.capacity_bytes
    }

    fn limits(&self) -> Limits {
        self.medium.limits
    }

    fn identity(&self) -> Identity {
        self.medium.identity.clone()
    }

    fn now(&self) -> Nanos {
        self.medium.clock.now()
    }

    fn submit(&mut self, ops: &[Op]) {
        let submitted = self.medium.clock.now();
        self.queue.extend(ops.iter().map(|op| (*op, submitted)));
    }

    fn reap(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), IoError> {
        // At least one, or a caller that polls would wait for ever.
        for _ in 0..min.max(1) {
            let Some((op, submitted)) = self.queue.pop_front() else { break };
            let status = match self.execute(&op) {
                Ok(()) => Status::Ok,
                Err(errno) => Status::Failed { errno: errno.raw_os_error() },
            };
            out.push(Completion { tag: op.tag, status, submitted, done: self.medium.clock.now() });
        }
        Ok(())
    }

    fn idle_until(&mut self, t: Nanos) {
        self.medium.clock.sleep_until(t);
    }

    fn purge(&mut self, waiter: &dyn Waiter) -> Result<PurgeMethod, IoError> {
        self.medium.purge(waiter)
    }

    fn deallocate(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), IoError> {
        self.medium.deallocate(offset_bytes, len_bytes)
    }

    fn flush(&mut self) -> Result<(), IoError> {
        self.medium.flush()
    }
}
