//! The form of a command on the ring of a file or a block device.

use std::fmt;

use base::{Op, OpKind};
use io_uring::{cqueue, opcode, squeue, types};
use rustix::io::Errno;

use super::super::medium::MediumKind;
use crate::buffer::BufferPool;

/// The medium is the only registered file.
pub(super) const FILE: types::Fixed = types::Fixed(0);
/// The arena is the only registered buffer.
pub(super) const ARENA: u16 = 0;
/// `BLOCK_URING_CMD_DISCARD`, `_IO(0x12, 0)`: an asynchronous BLKDISCARD, since Linux 6.12.
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;
/// `FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE`.
const PUNCH_HOLE: i32 = 0x03;

/// The format of the entries of a ring.
pub(crate) trait Commands: std::fmt::Debug + Send {
    /// Type of a queued entry.
    type Entry: squeue::EntryMarker;
    /// Type of an answer.
    type Answer: cqueue::EntryMarker + Into<cqueue::Entry>;

    /// Number of entries for a command.
    fn pieces(&self, _: &Op) -> u32 {
        1
    }

    /// One entry of a command; the calls take all of them in order. For data it names the area of
    /// the command's slot, which must be idle before the first.
    fn entry(&mut self, op: &Op, piece: u32, pool: &mut BufferPool) -> Self::Entry;

    /// The kernel's answer to each entry on success.
    fn expected(&self, op: &Op) -> i32;

    /// The meaning of any other answer.
    fn failure(&self, result: i32) -> Failure {
        Failure::of_kernel(result)
    }

    /// Whether the ring cannot take this command, so that a blocking call does it.
    fn is_inline(&self, op: &Op) -> bool;

    /// Gives up memory of its own that the kernel may still be looking at.
    fn abandon(&mut self) {}
}

/// Failure of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The errno, as on a block device.
    pub errno: Errno,
    /// The words of the drive or its driver, or `None` if there is only the errno.
    pub words: Option<String>,
}

impl Failure {
    /// The failure for a negative errno. A short transfer inside the fence means lost data: `EIO`.
    pub(super) fn of_kernel(result: i32) -> Self {
        let errno = if result < 0 { Errno::from_raw_os_error(-result) } else { Errno::IO };
        Self { errno, words: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.words {
            Some(words) => f.write_str(words),
            None => write!(f, "{}", std::io::Error::from(self.errno)),
        }
    }
}

/// Reads and writes of a file or a block device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileCommands {
    pub(super) kind: MediumKind,
    /// Whether the arena is registered.
    pub(super) fixed_buffers: bool,
    /// Whether the kernel discards asynchronously.
    pub(super) discard_command: bool,
    /// Whether completions are polled; only reads and writes can be.
    pub(super) polled: bool,
}

impl Commands for FileCommands {
    type Entry = squeue::Entry;
    type Answer = cqueue::Entry;

    #[inline]
    fn entry(&mut self, op: &Op, _: u32, pool: &mut BufferPool) -> squeue::Entry {
        match op.kind {
            OpKind::Read => self.read(op, pool),
            OpKind::Write => self.write(op, pool),
            OpKind::Flush => opcode::Fsync::new(FILE).flags(types::FsyncFlags::DATASYNC).build(),
            OpKind::Deallocate => self.deallocate(op),
        }
    }

    #[inline]
    fn expected(&self, op: &Op) -> i32 {
        // The fence holds `len` to the transfer limit, far below i32::MAX.
        if matches!(op.kind, OpKind::Read | OpKind::Write) { op.len as i32 } else { 0 }
    }

    #[inline]
    fn is_inline(&self, op: &Op) -> bool {
        match op.kind {
            OpKind::Read | OpKind::Write => false,
            OpKind::Flush => self.polled,
            OpKind::Deallocate => {
                self.polled || self.kind == MediumKind::Block && !self.discard_command
            }
        }
    }
}

impl FileCommands {
    #[inline]
    fn read(&self, op: &Op, pool: &BufferPool) -> squeue::Entry {
        let area = pool.read_area(op.tag);
        if self.fixed_buffers {
            opcode::ReadFixed::new(FILE, area, op.len, ARENA).offset(op.offset).build()
        } else {
            opcode::Read::new(FILE, area, op.len).offset(op.offset).build()
        }
    }

    #[inline]
    fn write(&self, op: &Op, pool: &mut BufferPool) -> squeue::Entry {
        let data = pool.prepare_write(op.tag, op.data, op.offset, op.len as usize).as_ptr();
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

    fn deallocate(&self, op: &Op) -> squeue::Entry {
        match self.kind {
            MediumKind::File => opcode::Fallocate::new(FILE, u64::from(op.len))
                .offset(op.offset)
                .mode(PUNCH_HOLE)
                .build(),
            MediumKind::Block => discard_entry(op.offset, u64::from(op.len)),
        }
    }
}

/// `RWF_DSYNC` makes one write durable; block devices that can turn it into a write with FUA.
#[inline]
fn write_flags(op: &Op) -> i32 {
    if op.fua { libc::RWF_DSYNC } else { 0 }
}

pub(super) fn discard_entry(offset_bytes: u64, len_bytes: u64) -> squeue::Entry {
    // The command takes its length in the field that overlays the first command bytes.
    let mut command = [0; 16];
    #[expect(clippy::host_endian_bytes, reason = "a field of a kernel structure in memory")]
    command[..8].copy_from_slice(&len_bytes.to_ne_bytes());
    opcode::UringCmd16::new(FILE, BLOCK_URING_CMD_DISCARD)
        .addr(Some(offset_bytes))
        .cmd(command)
        .build()
}
