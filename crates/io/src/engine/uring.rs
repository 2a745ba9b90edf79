//! The main engine: `io_uring` on an `O_DIRECT` descriptor, or past the block layer ([`NvmeCommands`]).
//!
//! Measures for speed:
//! - one `io_uring_enter` both submits and waits: [`Queue::submit`] only writes queue entries, the
//!   kernel sees them with the next [`Queue::reap`];
//! - the file is registered (no reference counting per command) and so is the transfer memory (no
//!   page pinning per command), one registered buffer for all slots;
//! - one thread owns the ring and completions are worked off inside `enter` (`SINGLE_ISSUER`,
//!   `DEFER_TASKRUN`), so a completion never interrupts it;
//! - the clock is read once per piece of a submit call and once per reaped batch;
//! - the tag is the index of a slot: no allocation, no lookup, no list per command.
//!
//! The ring belongs to the thread that first reaps; opening in one thread and running in another
//! is fine.

#![expect(unsafe_code, reason = "the kernel reads and writes the buffers named in queue entries")]

mod commands;
mod passthrough;
mod probe;
mod setup;

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use base::{Completion, Nanos, Op, OpKind, Status};
use device::host::clock::SPIN_NS;
use io_uring::squeue::EntryMarker;
use io_uring::{IoUring, cqueue, squeue, types};
use rustix::io::Errno;
use target::{Clock as _, TargetError};

use super::medium::{Medium, MediumKind};
use super::queue::Queue;
use crate::buffer::BufferPool;
use crate::options::Polling;
pub(crate) use commands::FileCommands;
use commands::{Commands, Failure};
pub(crate) use passthrough::NvmeCommands;
use probe::{Probe, check_polling, has_discard_command};
use setup::build_ring;

/// Commands that may wait in user space for each other. On a virtual disk at a queue depth of 32 whole batches
/// cost a quarter of the IOPS, pieces as long as all before them 2%, and pieces of two none (`docs/evidence/benchmarks.md`).
const PIECE_OPS: usize = 2;

/// One command slot; its index is the tag.
#[derive(Clone, Copy, Debug)]
struct Slot {
    submitted: Nanos,
    /// The kernel's answer on success: bytes moved, or 0.
    expected: i32,
    /// Number of entries of its command without an answer; idle at 0.
    pending: u32,
    /// Outcome of its command, as far as its entries have been answered.
    status: Status,
}

/// A ring and its buffers.
pub(crate) struct UringEngine<C: Commands = FileCommands> {
    ring: IoUring<C::Entry, C::Answer>,
    // Declared after the ring: fields drop in order, and the ring must go first.
    pool: BufferPool,
    slots: Vec<Slot>,
    commands: C,
    /// Commands that ended without the ring: stopped by the fence, or done inline.
    ended: Vec<Completion>,
    /// Commands the ring cannot take; done with a blocking call when reaping.
    inline: Vec<Op>,
    in_ring: usize,
    started: bool,
    /// Whether the kernel looks for completions only when asked.
    polled: bool,
    /// Whether the kernel can wait for a command and for a time at once (Linux 5.11).
    timed_wait: bool,
}

impl<C: Commands> std::fmt::Debug for UringEngine<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UringEngine").field("in_ring", &self.in_ring).finish_non_exhaustive()
    }
}

/// The buffers that were handed in, and the reason why there is no ring.
pub(crate) type Refused = Box<(BufferPool, String)>;

/// Memory that is registered once with the kernel instead of passed with each command.
#[derive(Debug)]
pub(super) enum Registration {
    /// The whole arena: in regions of one size, and each of these in pieces of another.
    Pieces { region_bytes: usize, piece_bytes: usize },
    /// None of it.
    None { why: String },
}

impl UringEngine<FileCommands> {
    /// Sets up the ring. If that is impossible, returns the buffers with the reason, so that
    /// another engine can take over.
    pub(crate) fn new(
        medium: &mut Medium,
        mut pool: BufferPool,
        polling: Polling,
    ) -> Result<Self, Refused> {
        let commands = |fixed_buffers, medium: &Medium| FileCommands {
            kind: medium.kind,
            fixed_buffers,
            discard_command: medium.kind == MediumKind::Block
                && medium.limits.deallocate
                && has_discard_command(medium),
            polled: polling.completions,
        };
        let fd = medium.file.as_raw_fd();
        if polling.completions {
            let probe = Probe { fd, polling, registered_bytes: 0 };
            let block_bytes = medium.limits.logical_block_bytes;
            let read = || probe.read(block_bytes, &mut commands(false, medium), &mut pool);
            if let Err(reason) = check_polling(medium, read) {
                return Err(Box::new((pool, reason)));
            }
        }
        let whole = pool.arena().1;
        let registration = Registration::Pieces { region_bytes: whole, piece_bytes: whole };
        let entries = medium.limits.queue_depth_max;
        Self::on(fd, entries, medium, pool, polling, registration, commands)
    }
}

impl<C: Commands> UringEngine<C> {
    /// A ring of this number of entries on `fd`; `commands` learns whether the arena is registered.
    fn on(
        fd: RawFd,
        entries: u32,
        medium: &mut Medium,
        pool: BufferPool,
        polling: Polling,
        registration: Registration,
        commands: impl FnOnce(bool, &Medium) -> C,
    ) -> Result<Self, Refused> {
        let depth = medium.limits.queue_depth_max;
        let (ring, mut how) = match open_ring(entries, fd, polling) {
            Ok(opened) => opened,
            Err(reason) => return Err(Box::new((pool, reason))),
        };
        let fixed_buffers = register_arena(&ring, &pool, registration, &mut how);
        medium.identity.engine = format!("{how}, {}", medium.identity.engine);
        let slot = Slot { submitted: Nanos(0), expected: 0, pending: 0, status: Status::Ok };
        Ok(Self {
            // A ring that polls for completions does not look at the time meanwhile.
            timed_wait: ring.params().is_feature_ext_arg() && !polling.completions,
            polled: polling.completions,
            ring,
            pool,
            commands: commands(fixed_buffers, medium),
            slots: vec![slot; depth as usize],
            ended: Vec::with_capacity(depth as usize),
            inline: Vec::with_capacity(depth as usize),
            in_ring: 0,
            started: false,
        })
    }

    /// Queues one command, or returns the errno with which it ends at once.
    #[inline]
    fn push(&mut self, medium: &Medium, op: &Op, submitted: Nanos) -> Result<(), Errno> {
        medium.admit(op)?;
        let slot = self.slots.get_mut(op.tag as usize).ok_or(Errno::INVAL)?;
        if slot.pending > 0 {
            return Err(Errno::INVAL);
        }
        let expected = self.commands.expected(op);
        *slot = Slot { submitted, expected, pending: 1, status: Status::Ok };
        if self.commands.is_inline(op) {
            self.inline.push(*op);
            return Ok(());
        }
        let pieces = self.commands.pieces(op);
        slot.pending = pieces;
        for piece in 0..pieces {
            if !self.push_entry(op, piece) {
                return self.cut_short(op.tag, piece);
            }
        }
        Ok(())
    }

    /// Queues one entry of a command; returns false if the queue is full.
    #[inline]
    fn push_entry(&mut self, op: &Op, piece: u32) -> bool {
        let mut entry = self.commands.entry(op, piece, &mut self.pool);
        entry.set_user_data(u64::from(op.tag));
        // SAFETY: the entry names the registered medium and, for data, the area of a slot that
        // was idle and is now busy; `drop` waits for busy slots before the memory goes away.
        let pushed = unsafe { self.ring.submission().push(&entry) }.is_ok();
        self.in_ring += usize::from(pushed);
        pushed
    }

    /// Ends a command of which only the first `pushed` entries fitted: it fails with them, or at
    /// once.
    #[cold]
    fn cut_short(&mut self, tag: u32, pushed: u32) -> Result<(), Errno> {
        let slot = &mut self.slots[tag as usize];
        slot.pending = pushed;
        slot.status = Status::Failed { errno: Errno::AGAIN.raw_os_error() };
        if pushed == 0 { Err(Errno::AGAIN) } else { Ok(()) }
    }

    /// Queues commands; a command that cannot be queued ends at once.
    fn push_all(&mut self, medium: &Medium, ops: &[Op]) {
        let submitted = medium.clock.now();
        for op in ops {
            if let Err(errno) = self.push(medium, op, submitted) {
                let status = Status::Failed { errno: errno.raw_os_error() };
                self.ended.push(Completion { tag: op.tag, status, submitted, done: submitted });
            }
        }
    }

    /// Tells the kernel about new commands and waits for `min` of those in the ring.
    fn enter(&mut self, min: usize) -> io::Result<()> {
        self.start()?;
        lasting(self.ring.submit_and_wait(min.min(self.in_ring)))
    }

    /// Waits until a command ends, `sleep_ns` at most.
    fn nap(&mut self, sleep_ns: u64) -> io::Result<()> {
        let duration = std::time::Duration::from_nanos(sleep_ns);
        let timeout = types::Timespec::from(duration);
        let limit = types::SubmitArgs::new().timespec(&timeout);
        lasting(self.ring.submitter().submit_with_args(1, &limit))
    }

    /// Tells the kernel about new commands without waiting. A failure here repeats, and is
    /// reported, at the next [`UringEngine::enter`].
    fn hand_over(&mut self) {
        if self.start().is_ok() {
            let _ = self.ring.submit();
        }
    }

    /// Binds the ring to this thread. Done late, because the thread that opens a target need not
    /// be the one that drives it.
    #[inline]
    fn start(&mut self) -> io::Result<()> {
        if !self.started {
            self.ring.submitter().register_enable_rings()?;
            self.started = true;
        }
        Ok(())
    }

    /// Moves everything that has ended to `out`; one clock read for the whole batch.
    fn take(&mut self, medium: &Medium, out: &mut Vec<Completion>) {
        out.append(&mut self.ended);
        let mut queue = self.ring.completion();
        if queue.is_empty() {
            return;
        }
        let done = medium.clock.now();
        for answer in &mut queue {
            let answer: cqueue::Entry = answer.into();
            // Only tags that index `slots` were ever queued.
            let tag = answer.user_data() as u32;
            let slot = &mut self.slots[tag as usize];
            slot.pending -= 1;
            self.in_ring -= 1;
            if answer.result() != slot.expected {
                let Failure { errno, words } = self.commands.failure(answer.result());
                slot.status = medium.failed_with(errno, words);
            }
            let Slot { submitted, status, pending, .. } = *slot;
            if pending == 0 {
                out.push(Completion { tag, status, submitted, done });
            }
        }
    }

    /// Flushes, and discards on kernels without the asynchronous command; blocks while the device works.
    #[cold]
    fn work_inline(&mut self, medium: &Medium) {
        for op in self.inline.drain(..) {
            let done = match op.kind {
                OpKind::Flush => medium.flush_now(),
                _ => medium.discard(op.offset, u64::from(op.len)),
            };
            let status = done.map_or_else(
                |errno| Status::Failed { errno: errno.raw_os_error() },
                |()| Status::Ok,
            );
            let slot = &mut self.slots[op.tag as usize];
            slot.pending = 0;
            let done = medium.clock.now();
            self.ended.push(Completion { tag: op.tag, status, submitted: slot.submitted, done });
        }
    }

    /// Whether the kernel has entries to take or work to do before completions can be seen.
    fn needs_enter(&mut self) -> bool {
        let poll = self.polled && self.in_ring > 0;
        let queue = self.ring.submission();
        poll || !queue.is_empty() || queue.taskrun() || queue.cq_overflow()
    }
}

impl<C: Commands> Queue for UringEngine<C> {
    /// A long batch goes to the kernel in pieces of at most [`PIECE_OPS`]: the device works on the first command
    /// while the second is being prepared. The last piece goes with the next [`Queue::reap`].
    fn submit(&mut self, medium: &Medium, ops: &[Op]) {
        let (mut rest, mut handed_over) = (ops, 0);
        while !rest.is_empty() {
            if handed_over > 0 {
                self.hand_over();
            }
            let (piece, after) = rest.split_at(handed_over.clamp(1, PIECE_OPS).min(rest.len()));
            self.push_all(medium, piece);
            (rest, handed_over) = (after, handed_over + piece.len());
        }
    }

    fn reap(
        &mut self,
        medium: &Medium,
        min: usize,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let broken = |source| ring_failed(medium, source);
        if !self.inline.is_empty() {
            self.enter(0).map_err(broken)?;
            self.work_inline(medium);
        }
        let wanted = min.saturating_sub(self.ended.len());
        // A poll with nothing to tell the kernel needs no system call.
        if wanted > 0 || self.needs_enter() {
            self.enter(wanted).map_err(broken)?;
        }
        self.take(medium, out);
        Ok(())
    }

    /// Sleeps in the kernel, which wakes it for an end, and polls only shortly before `t`.
    fn reap_until(
        &mut self,
        medium: &Medium,
        t: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        loop {
            self.reap(medium, 0, out)?;
            let left_ns = t.0.saturating_sub(medium.clock.now().0);
            if !out.is_empty() || left_ns == 0 {
                return Ok(());
            }
            if left_ns > SPIN_NS && self.in_ring > 0 && self.timed_wait {
                self.nap(left_ns - SPIN_NS).map_err(|source| ring_failed(medium, source))?;
            }
            std::hint::spin_loop();
        }
    }

    fn read_bytes(&mut self, tag: u32, len_bytes: usize) -> Option<&[u8]> {
        let idle = self.slots.get(tag as usize).is_some_and(|slot| slot.pending == 0);
        let fits = len_bytes <= self.pool.area_bytes();
        (idle && fits).then(|| &*self.pool.read_bytes(tag, len_bytes))
    }
}

impl<C: Commands> Drop for UringEngine<C> {
    /// The kernel may still be writing into the buffers: wait for it, or else give the memory up.
    fn drop(&mut self) {
        while self.in_ring > 0 {
            if self.enter(1).is_err() {
                if let Ok(empty) = BufferPool::new(1, 1, 0, false) {
                    std::mem::forget(std::mem::replace(&mut self.pool, empty));
                }
                self.commands.abandon();
                break;
            }
            self.in_ring -= self.ring.completion().count().min(self.in_ring);
        }
        // The kernel tears a ring down in its own time and would hold the file, hence its lock and
        // its exclusive claim, until then; the next run must find the target free.
        let _ = self.ring.submitter().unregister_files();
    }
}

/// Meaning of the kernel's answer to an `io_uring_enter` for the whole ring.
fn lasting(answer: io::Result<usize>) -> io::Result<()> {
    match answer {
        Err(error) if !is_temporary(&error) => Err(error),
        _ => Ok(()),
    }
}

#[cold]
fn ring_failed(medium: &Medium, source: io::Error) -> TargetError {
    TargetError::Device { context: format!("io_uring failed on {}", medium.identity.name), source }
}

/// A signal, or the end of a nap: the caller looks at what there is and decides. Busy and again: the
/// kernel wants completions taken away, or is short of memory, before it takes more.
fn is_temporary(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::INTR, Errno::TIME, Errno::BUSY, Errno::AGAIN]
        .iter()
        .any(|e| Some(e.raw_os_error()) == code)
}

/// A ring with the medium registered and a line on how; or why there is none.
fn open_ring<E, A>(
    depth: u32,
    fd: RawFd,
    polling: Polling,
) -> Result<(IoUring<E, A>, String), String>
where
    E: squeue::EntryMarker,
    A: cqueue::EntryMarker,
{
    let (ring, how) = build_ring(depth, polling)?;
    ring.submitter()
        .register_files(&[fd])
        .map_err(|error| format!("io_uring cannot register the file: {error}"))?;
    Ok((ring, how))
}

/// Registers the transfer memory. If that fails (locked-memory limit), the engine works a little
/// slower.
fn register_arena<E, A>(
    ring: &IoUring<E, A>,
    pool: &BufferPool,
    registration: Registration,
    how: &mut String,
) -> bool
where
    E: squeue::EntryMarker,
    A: cqueue::EntryMarker,
{
    let registered = match registration {
        Registration::Pieces { region_bytes, piece_bytes } => {
            register_pieces(ring, pool, region_bytes, piece_bytes)
                .map_err(|error| format!("{error}; see ulimit -l"))
        }
        Registration::None { why } => Err(why),
    };
    how.push_str(&match &registered {
        Ok(()) => ", registered buffers and file".to_owned(),
        Err(why) => format!(", registered file (buffers not: {why})"),
    });
    registered.is_ok()
}

fn register_pieces<E, A>(
    ring: &IoUring<E, A>,
    pool: &BufferPool,
    region_bytes: usize,
    piece_bytes: usize,
) -> io::Result<()>
where
    E: squeue::EntryMarker,
    A: cqueue::EntryMarker,
{
    let (start, len) = pool.arena();
    let pieces: Vec<_> = pieces(len, region_bytes, piece_bytes)
        .map(|(at, iov_len)| libc::iovec { iov_base: start.wrapping_add(at).cast(), iov_len })
        .collect();
    // SAFETY: all pieces are parts of the arena, which outlives the ring: `UringEngine` drops the ring
    // first, and leaks the pool where commands could still be under way.
    unsafe { ring.submitter().register_buffers(&pieces) }
}

/// Start and length of each piece of the arena.
fn pieces(
    arena_bytes: usize,
    region_bytes: usize,
    piece_bytes: usize,
) -> impl Iterator<Item = (usize, usize)> {
    (0..arena_bytes).step_by(region_bytes).flat_map(move |region| {
        let end = arena_bytes.min(region + region_bytes);
        (region..end).step_by(piece_bytes).map(move |at| (at, piece_bytes.min(end - at)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_every_region_and_none_reaches_into_the_next() {
        let listed: Vec<_> = pieces(20, 10, 4).collect();
        assert_eq!(listed, [(0, 4), (4, 4), (8, 2), (10, 4), (14, 4), (18, 2)]);
        assert_eq!(pieces(12, 8, 8).collect::<Vec<_>>(), [(0, 8), (8, 4)]);
        assert_eq!(pieces(12, 12, 12).collect::<Vec<_>>(), [(0, 12)]);
    }
}
