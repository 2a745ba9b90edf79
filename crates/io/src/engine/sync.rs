//! The fallback engine: plain `pread` and `pwrite`, where `io_uring` is not allowed.
//!
//! One command is in the kernel at a time, at any queue depth: submission queues, reaping
//! executes in order. Latencies at a depth above 1 therefore contain the wait for the commands
//! ahead, as on a device that works one command at a time. The engine line in the identity says so.

use std::collections::VecDeque;
use std::fs::File;
use std::io::IoSlice;

use base::{Completion, Nanos, Op, OpKind, Status};
use rustix::io::{Errno, ReadWriteFlags};
use target::{Clock as _, TargetError};

use super::medium::Medium;
use super::queue::Queue;
use crate::buffer::BufferPool;

/// Executes commands one after the other with blocking calls.
#[derive(Debug)]
pub(crate) struct SyncEngine {
    pool: BufferPool,
    queue: VecDeque<(Op, Nanos)>,
    queue_depth: u32,
}

impl SyncEngine {
    /// An engine for this number of commands at a time.
    pub(crate) fn new(queue_depth: u32, pool: BufferPool) -> Self {
        Self { pool, queue: VecDeque::with_capacity(queue_depth as usize), queue_depth }
    }

    fn execute(&mut self, medium: &Medium, op: &Op) -> Result<(), Errno> {
        medium.admit(op)?;
        if op.tag >= self.queue_depth {
            return Err(Errno::INVAL);
        }
        let len = op.len as usize;
        let moved = match op.kind {
            OpKind::Flush => return medium.flush_now(),
            OpKind::Deallocate => return medium.discard(op.offset, u64::from(op.len)),
            OpKind::Read => {
                let area = self.pool.read_bytes(op.tag, len);
                rustix::io::retry_on_intr(|| {
                    rustix::io::pread(&medium.file, &mut *area, op.offset)
                })?
            }
            OpKind::Write => {
                let area = self.pool.prepare_write(op.tag, op.data, op.offset, len);
                write(&medium.file, area, op)?
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

impl Queue for SyncEngine {
    fn submit(&mut self, medium: &Medium, ops: &[Op]) {
        let submitted = medium.clock.now();
        self.queue.extend(ops.iter().map(|op| (*op, submitted)));
    }

    fn reap(
        &mut self,
        medium: &Medium,
        min: usize,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        // At least one, or a caller that polls would wait for ever.
        for _ in 0..min.max(1) {
            let Some((op, submitted)) = self.queue.pop_front() else { break };
            let status = match self.execute(medium, &op) {
                Ok(()) => Status::Ok,
                Err(errno) => Status::Failed { errno: errno.raw_os_error() },
            };
            out.push(Completion { tag: op.tag, status, submitted, done: medium.clock.now() });
        }
        Ok(())
    }

    fn read_bytes(&mut self, tag: u32, len_bytes: usize) -> Option<&[u8]> {
        let known = tag < self.queue_depth;
        let idle = !self.queue.iter().any(|(op, _)| op.tag == tag);
        let fits = len_bytes <= self.pool.area_bytes();
        (known && idle && fits).then(|| &*self.pool.read_bytes(tag, len_bytes))
    }
}
