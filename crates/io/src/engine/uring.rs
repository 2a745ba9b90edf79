//! The main engine: `io_uring` on an `O_DIRECT` descriptor.
//!
//! What it does for speed:
//! - one `io_uring_enter` both submits and waits: [`Target::submit`] only writes queue entries, the
//!   kernel sees them with the next [`Target::reap`];
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

use std::io;
use std::os::fd::AsRawFd;

use base::{Completion, Nanos, Op, OpKind, Status};
use io_uring::{IoUring, opcode, squeue, types};
use rustix::io::Errno;

use super::medium::{Medium, MediumKind, SPIN_NS};
use crate::buffer::BufferPool;
use crate::error::IoError;
use crate::identity::Identity;
use crate::purge::Waiter;
use crate::target::{Limits, PurgeMethod, Target};

/// The medium is the only registered file.
const FILE: types::Fixed = types::Fixed(0);
/// The arena is the only registered buffer.
const ARENA: u16 = 0;
/// `BLOCK_URING_CMD_DISCARD`, `_IO(0x12, 0)`: an asynchronous BLKDISCARD, since Linux 6.12.
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;
/// `FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE`.
const PUNCH_HOLE: i32 = 0x03;

/// One command slot; its index is the tag.
#[derive(Clone, Copy, Debug)]
struct Slot {
    submitted: Nanos,
    /// What the kernel answers when all went well: bytes moved, or 0.
    expected: i32,
    busy: bool,
}

/// A ring, its buffers and the medium behind them.
pub struct UringEngine {
    ring: IoUring,
    // Declared after the ring: fields drop in order, and the ring must go first.
    pool: BufferPool,
    medium: Medium,
    slots: Vec<Slot>,
    /// Commands that are over without the ring: stopped by the fence, or discarded inline.
    ended: Vec<Completion>,
    /// Discards the ring cannot take; done with a blocking call when reaping.
    inline_discards: Vec<Op>,
    in_ring: usize,
    started: bool,
    fixed_buffers: bool,
    discard_command: bool,
    /// The kernel can wait for a command and for a time at once (Linux 5.11).
    timed_wait: bool,
}

impl std::fmt::Debug for UringEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UringEngine")
            .field("medium", &self.medium)
            .field("in_ring", &self.in_ring)
            .finish_non_exhaustive()
    }
}

impl UringEngine {
    /// Sets up the ring. Where that is impossible, hands everything back with the reason, so that
    /// another engine can take over.
    pub(crate) fn new(
        mut medium: Medium,
        pool: BufferPool,
    ) -> Result<Self, Box<(Medium, BufferPool, String)>> {
        let depth = medium.limits.queue_depth_max;
        let (ring, mut how) = match open_ring(depth, medium.file.as_raw_fd()) {
            Ok(opened) => opened,
            Err(reason) => return Err(Box::new((medium, pool, reason))),
        };
        let fixed_buffers = register_arena(&ring, &pool, &mut how);
        let discard_command = medium.kind == MediumKind::Block
            && medium.limits.deallocate
            && has_discard_command(&medium);
        medium.identity.engine = format!("{how}, {}", medium.identity.engine);
        let slot = Slot { submitted: Nanos(0), expected: 0, busy: false };
        Ok(Self {
            timed_wait: ring.params().is_feature_ext_arg(),
            ring,
            pool,
            slots: vec![slot; depth as usize],
            ended: Vec::with_capacity(depth as usize),
            inline_discards: Vec::with_capacity(depth as usize),
            medium,
            in_ring: 0,
            started: false,
            fixed_buffers,
            discard_command,
        })
    }

    pub(crate) fn medium(&self) -> &Medium {
        &self.medium
    }

    pub(crate) fn medium_mut(&mut self) -> &mut Medium {
        &mut self.medium
    }

    /// The first `len_bytes` of what the last read with this tag returned; see `RealTarget`.
    pub(crate) fn read_bytes(&mut self, tag: u32, len_bytes: usize) -> Option<&[u8]> {
        let idle = self.slots.get(tag as usize).is_some_and(|slot| !slot.busy);
        let fits = len_bytes <= self.pool.area_bytes();
        (idle && fits).then(|| &*self.pool.read_bytes(tag, len_bytes))
    }

    /// Queues one command, or says with which errno it ends at once.
    #[inline]
    fn push(&mut self, op: &Op, submitted: Nanos) -> Result<(), Errno> {
        self.medium.admit(op)?;
        let slot = self.slots.get_mut(op.tag as usize).ok_or(Errno::INVAL)?;
        if slot.busy {
            return Err(Errno::INVAL);
        }
        let moves_data = matches!(op.kind, OpKind::Read | OpKind::Write);
        // The fence holds `len` to the transfer limit, far below i32::MAX.
        *slot =
            Slot { submitted, expected: if moves_data { op.len as i32 } else { 0 }, busy: true };
        if op.kind == OpKind::Deallocate && self.must_discard_inline() {
            self.inline_discards.push(*op);
            return Ok(());
        }
        let entry = self.entry(op).user_data(u64::from(op.tag));
        // SAFETY: the entry names the registered medium and, for data, the area of a slot that
        // was idle and is now busy; `drop` waits for busy slots before the memory goes away.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        if pushed.is_err() {
            self.slots[op.tag as usize].busy = false;
            return Err(Errno::AGAIN);
        }
        self.in_ring += 1;
        Ok(())
    }

    /// Queues commands; those that cannot be end at once.
    fn push_all(&mut self, ops: &[Op]) {
        let submitted = self.medium.clock.now();
        for op in ops {
            if let Err(errno) = self.push(op, submitted) {
                let status = Status::Failed { errno: errno.raw_os_error() };
                self.ended.push(Completion { tag: op.tag, status, submitted, done: submitted });
            }
        }
    }

    fn must_discard_inline(&self) -> bool {
        self.medium.kind == MediumKind::Block && !self.discard_command
    }

    #[inline]
    fn entry(&mut self, op: &Op) -> squeue::Entry {
        match op.kind {
            OpKind::Read => self.read_entry(op),
            OpKind::Write => self.write_entry(op),
            OpKind::Flush => opcode::Fsync::new(FILE).flags(types::FsyncFlags::DATASYNC).build(),
            OpKind::Deallocate => self.deallocate_entry(op),
        }
    }

    #[inline]
    fn read_entry(&self, op: &Op) -> squeue::Entry {
        let area = self.pool.read_area(op.tag);
        if self.fixed_buffers {
            opcode::ReadFixed::new(FILE, area, op.len, ARENA).offset(op.offset).build()
        } else {
            opcode::Read::new(FILE, area, op.len).offset(op.offset).build()
        }
    }

    #[inline]
    fn write_entry(&mut self, op: &Op) -> squeue::Entry {
        let data = self.pool.prepare_write(op.tag, op.data, op.offset, op.len as usize).as_ptr();
        if self.fixed_buffers {
            opcode::WriteFixed::new(FILE, data, op.len, ARENA)
                .offset(op.offset)
                .rw_flags(write_flags(op))
                .build()
        } else {
            opcode::Write::new(FILE, data, op.len)
                .offset(op.offset)
                .rw_flags(write_flags(op))
                .build()
        }
    }

    fn deallocate_entry(&self, op: &Op) -> squeue::Entry {
        match self.medium.kind {
            MediumKind::File => opcode::Fallocate::new(FILE, u64::from(op.len))
                .offset(op.offset)
                .mode(PUNCH_HOLE)
                .build(),
            MediumKind::Block => discard_entry(op.offset, u64::from(op.len)),
        }
    }

    /// Tells the kernel about new commands and waits for `min` of those in the ring.
    fn enter(&mut self, min: usize) -> Result<(), IoError> {
        if !self.started {
            self.start()?;
        }
        let entered = self.ring.submit_and_wait(min.min(self.in_ring)).map(|_| ());
        self.entered(entered)
    }

    /// What the answer to an enter means for the target as a whole.
    fn entered(&self, answer: io::Result<()>) -> Result<(), IoError> {
        match answer {
            Ok(()) => Ok(()),
            Err(error) if is_temporary(&error) => Ok(()),
            Err(source) => Err(IoError::Device {
                context: format!("io_uring_enter failed on {}", self.medium.identity.name),
                source,
            }),
        }
    }

    /// Waits until a command ends, `sleep_ns` at most.
    fn nap(&mut self, sleep_ns: u64) -> Result<(), IoError> {
        let duration = std::time::Duration::from_nanos(sleep_ns);
        let timeout = types::Timespec::from(duration);
        let limit = types::SubmitArgs::new().timespec(&timeout);
        let waited = self.ring.submitter().submit_with_args(1, &limit).map(|_| ());
        self.entered(waited)
    }

    /// Tells the kernel about new commands without waiting. What fails here fails again, and is
    /// reported, at the next [`UringEngine::enter`].
    fn hand_over(&mut self) {
        if self.started || self.start().is_ok() {
            let _ = self.ring.submit();
        }
    }

    /// Binds the ring to this thread. Done late, because the thread that opens a target need not
    /// be the one that drives it.
    #[cold]
    fn start(&mut self) -> Result<(), IoError> {
        self.ring.submitter().register_enable_rings().map_err(|source| IoError::Device {
            context: format!("cannot enable the io_uring of {}", self.medium.identity.name),
            source,
        })?;
        self.started = true;
        Ok(())
    }

    /// Moves everything that has ended to `out`; one clock read for the whole batch.
    fn take(&mut self, out: &mut Vec<Completion>) {
        out.append(&mut self.ended);
        let mut queue = self.ring.completion();
        if queue.is_empty() {
            return;
        }
        let done = self.medium.clock.now();
        for answer in &mut queue {
            // Only tags that index `slots` were ever queued.
            let tag = answer.user_data() as u32;
            let slot = &mut self.slots[tag as usize];
            slot.busy = false;
            self.in_ring -= 1;
            let status = status(answer.result(), slot.expected);
            out.push(Completion { tag, status, submitted: slot.submitted, done });
        }
    }

    /// Discards on kernels without the asynchronous command; blocks while the device works.
    #[cold]
    fn discard_inline(&mut self) {
        for op in self.inline_discards.drain(..) {
            let status = match self.medium.discard(op.offset, u64::from(op.len)) {
                Ok(()) => Status::Ok,
                Err(errno) => Status::Failed { errno: errno.raw_os_error() },
            };
            let slot = &mut self.slots[op.tag as usize];
            slot.busy = false;
            let done = self.medium.clock.now();
            self.ended.push(Completion { tag: op.tag, status, submitted: slot.submitted, done });
        }
    }

    fn has_unsubmitted(&mut self) -> bool {
        let queue = self.ring.submission();
        !queue.is_empty() || queue.taskrun() || queue.cq_overflow()
    }
}

impl Target for UringEngine {
    fn capacity_bytes(&self) -> u64 {
        self.medium.capacity_bytes
    }

    fn limits(&self) -> Limits {
        self.medium.limits
    }

    fn identity(&self) -> Identity {
        self.medium.identity.clone()
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.medium.clock.now()
    }

    /// A long batch goes to the kernel in pieces, each as long as all before it: the device works on the
    /// first command while the second is being prepared, and never has less in hand than is on its way.
    /// The last piece goes with the next [`Target::reap`].
    fn submit(&mut self, ops: &[Op]) {
        let (mut rest, mut handed_over) = (ops, 0);
        while !rest.is_empty() {
            if handed_over > 0 {
                self.hand_over();
            }
            let (piece, after) = rest.split_at(handed_over.max(1).min(rest.len()));
            self.push_all(piece);
            (rest, handed_over) = (after, handed_over + piece.len());
        }
    }

    fn reap(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), IoError> {
        if !self.inline_discards.is_empty() {
            self.enter(0)?;
            self.discard_inline();
        }
        let wanted = min.saturating_sub(self.ended.len());
        // A poll with nothing to tell the kernel needs no system call.
        if wanted > 0 || self.has_unsubmitted() {
            self.enter(wanted)?;
        }
        self.take(out);
        Ok(())
    }

    /// Sleeps in the kernel, which wakes it for an end, and polls only shortly before `t`.
    fn reap_until(&mut self, t: Nanos, out: &mut Vec<Completion>) -> Result<(), IoError> {
        loop {
            self.reap(0, out)?;
            let left_ns = t.0.saturating_sub(self.now().0);
            if !out.is_empty() || left_ns == 0 {
                return Ok(());
            }
            if left_ns > SPIN_NS && self.in_ring > 0 && self.timed_wait {
                self.nap(left_ns - SPIN_NS)?;
            }
            std::hint::spin_loop();
        }
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

impl Drop for UringEngine {
    /// The kernel may still be writing into the buffers: wait for it, or else give the memory up.
    fn drop(&mut self) {
        let mut ignored = Vec::new();
        while self.in_ring > 0 {
            if self.enter(1).is_err() {
                if let Ok(empty) = BufferPool::new(1, 1, 0, false) {
                    std::mem::forget(std::mem::replace(&mut self.pool, empty));
                }
                break;
            }
            self.take(&mut ignored);
        }
        // The kernel tears a ring down in its own time and would hold the file, hence its lock and
        // its exclusive claim, until then; the next run must find the target free.
        let _ = self.ring.submitter().unregister_files();
    }
}

/// Bytes as expected, or why not. A short transfer inside the fence means lost data: `EIO`.
#[inline]
fn status(result: i32, expected: i32) -> Status {
    if result == expected {
        return Status::Ok;
    }
    let errno = if result < 0 { -result } else { Errno::IO.raw_os_error() };
    Status::Failed { errno }
}

/// A signal, or the end of a nap: the caller looks at what there is and decides. Busy and again: the
/// kernel wants completions taken away, or is short of memory, before it takes more.
fn is_temporary(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::INTR, Errno::TIME, Errno::BUSY, Errno::AGAIN]
        .iter()
        .any(|e| Some(e.raw_os_error()) == code)
}

/// `RWF_DSYNC` makes one write durable; block devices that can turn it into a write with FUA.
#[inline]
fn write_flags(op: &Op) -> i32 {
    if op.fua { libc::RWF_DSYNC } else { 0 }
}

fn discard_entry(offset_bytes: u64, len_bytes: u64) -> squeue::Entry {
    // The command takes its length in the field that overlays the first command bytes.
    let mut command = [0; 16];
    #[expect(clippy::host_endian_bytes, reason = "a field of a kernel structure in memory")]
    command[..8].copy_from_slice(&len_bytes.to_ne_bytes());
    opcode::UringCmd16::new(FILE, BLOCK_URING_CMD_DISCARD)
        .addr(Some(offset_bytes))
        .cmd(command)
        .build()
}

/// How a ring may be set up, best first; each step names what an older kernel lacks.
#[derive(Clone, Copy, Debug)]
enum Setup {
    DeferredTaskRun,
    SingleIssuer,
    Cooperative,
    Plain,
}

impl Setup {
    const ALL: [Self; 4] =
        [Self::DeferredTaskRun, Self::SingleIssuer, Self::Cooperative, Self::Plain];

    const fn name(self) -> &'static str {
        match self {
            Self::DeferredTaskRun => "single issuer, deferred task run",
            Self::SingleIssuer => "single issuer (no DEFER_TASKRUN: needs Linux 6.1)",
            Self::Cooperative => "cooperative task run (no SINGLE_ISSUER: needs Linux 6.0)",
            Self::Plain => "no setup flags (no COOP_TASKRUN: needs Linux 5.19)",
        }
    }

    fn build(self, entries: u32) -> io::Result<IoUring> {
        let mut builder = IoUring::builder();
        builder.setup_r_disabled();
        if !matches!(self, Self::Plain) {
            builder.setup_coop_taskrun().setup_taskrun_flag().setup_submit_all();
        }
        if matches!(self, Self::SingleIssuer | Self::DeferredTaskRun) {
            builder.setup_single_issuer();
        }
        if matches!(self, Self::DeferredTaskRun) {
            builder.setup_defer_taskrun();
        }
        builder.build(entries)
    }
}

/// A ring with the medium registered and a line on how; or why there is none.
fn open_ring(depth: u32, fd: i32) -> Result<(IoUring, String), String> {
    let (ring, setup) = build_ring(depth)?;
    ring.submitter()
        .register_files(&[fd])
        .map_err(|error| format!("io_uring cannot register the file: {error}"))?;
    Ok((ring, format!("io_uring, {}", setup.name())))
}

fn build_ring(depth: u32) -> Result<(IoUring, Setup), String> {
    let mut refusal = io::Error::from(Errno::INVAL);
    for setup in Setup::ALL {
        match setup.build(depth) {
            Ok(ring) => return Ok((ring, setup)),
            Err(error) => refusal = error,
        }
        if refusal.raw_os_error() != Some(Errno::INVAL.raw_os_error()) {
            break;
        }
    }
    Err(no_ring_reason(&refusal))
}

fn no_ring_reason(refusal: &io::Error) -> String {
    let hint = match Errno::from_io_error(refusal) {
        Some(Errno::NOSYS) => "; the kernel or a seccomp filter does not know io_uring",
        Some(Errno::PERM) => "; see /proc/sys/kernel/io_uring_disabled and seccomp",
        Some(Errno::NOMEM) => "; see ulimit -l",
        _ => "",
    };
    format!("no io_uring: {refusal}{hint}")
}

/// Registers the transfer memory; without (locked-memory limit) the engine works, a little slower.
fn register_arena(ring: &IoUring, pool: &BufferPool, how: &mut String) -> bool {
    let (start, len) = pool.arena();
    let vector = libc::iovec { iov_base: start.cast(), iov_len: len };
    // SAFETY: the arena outlives the ring: `UringEngine` drops the ring first, and leaks the pool
    // where commands could still be under way.
    let registered = unsafe { ring.submitter().register_buffers(&[vector]) };
    how.push_str(&match &registered {
        Ok(()) => ", registered buffers and file".to_owned(),
        Err(error) => format!(", registered file (buffers not: {error}; see ulimit -l)"),
    });
    registered.is_ok()
}

/// Asks a ring of its own for a discard of nothing. A kernel that knows the command objects to the
/// length, an older one to the command; neither touches the device.
fn has_discard_command(medium: &Medium) -> bool {
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
