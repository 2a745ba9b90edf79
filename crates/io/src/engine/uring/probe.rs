//! Trial commands: only they show whether kernel, driver and device take commands of a kind.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use base::{Data, Op, OpKind};
use io_uring::{IoUring, cqueue};
use rustix::io::Errno;

use super::super::medium::Medium;
use super::commands::{Commands, discard_entry};
use crate::buffer::BufferPool;
use crate::options::Polling;

/// The longest wait for the answer to a trial command; a drive that is asleep takes seconds.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Asks a ring of its own for a discard of nothing. A kernel that knows the command objects to the
/// length, an older one to the command; neither touches the device.
pub(super) fn has_discard_command(medium: &Medium) -> bool {
    let answer = || -> io::Result<i32> {
        let mut ring = IoUring::new(1)?;
        ring.submitter().register_files(&[medium.file.as_raw_fd()])?;
        // SAFETY: the entry refers to no memory, and the ring is gone before the file.
        unsafe { ring.submission().push(&discard_entry(0, 0)) }.map_err(io::Error::other)?;
        ring.submit_and_wait(1)?;
        Ok(ring.completion().next().map_or(0, |answer| answer.result()))
    };
    answer().is_ok_and(|result| result == -Errno::INVAL.raw_os_error())
}

/// Reads the start of the medium behind `fd`, each time through a ring of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) fd: RawFd,
    pub(super) polling: Polling,
    /// Registered bytes of the transfer memory, from its start; may be none.
    pub(super) registered_bytes: usize,
}

impl Probe {
    /// Reads `len` bytes with tag 0, or returns the reason for the failure.
    pub(super) fn read<C: Commands>(
        self,
        len: u32,
        commands: &mut C,
        pool: &mut BufferPool,
    ) -> Result<(), String> {
        let kind = OpKind::Read;
        let read = Op {
            kind,
            data: Data::Incompressible,
            fua: false,
            placement: 0,
            len,
            tag: 0,
            offset: 0,
        };
        match self.answer(&read, commands, pool) {
            Ok(result) if result == commands.expected(&read) => Ok(()),
            Ok(result) => Err(commands.failure(result).to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn answer<C: Commands>(
        self,
        op: &Op,
        commands: &mut C,
        pool: &mut BufferPool,
    ) -> io::Result<i32> {
        let mut builder = IoUring::<C::Entry, C::Answer>::builder();
        if self.polling.completions {
            builder.setup_iopoll();
        }
        let mut ring = builder.build(1)?;
        ring.submitter().register_files(&[self.fd])?;
        if self.registered_bytes > 0 {
            let iov_base = pool.arena().0.cast();
            let piece = libc::iovec { iov_base, iov_len: self.registered_bytes };
            // SAFETY: the arena outlives the ring, and is at least as long as one of its pieces.
            unsafe { ring.submitter().register_buffers(&[piece]) }?;
        }
        let entry = commands.entry(op, 0, pool);
        // SAFETY: the area of slot 0 is as long as a transfer, idle, and outlives the ring, which is
        // gone when the answer is there.
        unsafe { ring.submission().push(&entry) }.map_err(io::Error::other)?;
        let end = Instant::now() + ANSWER_MAX;
        loop {
            // A wait that polls also ends without an answer, as soon as another task is due.
            ring.submit_and_wait(1)?;
            if let Some(answer) = ring.completion().next() {
                return Ok(Into::<cqueue::Entry>::into(answer).result());
            }
            if Instant::now() > end {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

/// The reason why completions of the medium cannot be polled, if they cannot; `read` tries.
pub(super) fn check_polling(
    medium: &Medium,
    read: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    // Older kernels take the commands all the same and wait for interrupts.
    let tried = match medium.identity.details.get("io_poll") {
        Some(flag) if flag == "0" => {
            Err("the queue of its device says queue/io_poll = 0".to_owned())
        }
        _ => read(),
    };
    tried.map_err(|why| {
        format!(
            "its completions cannot be polled: {why}; NVMe needs the module parameter nvme.poll_queues \
             above 0, and most other drivers cannot"
        )
    })
}
