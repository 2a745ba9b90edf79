//! The few block-device requests that have no safe wrapper elsewhere.

#![expect(unsafe_code, reason = "ioctl is untyped; each request is given its type here")]

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, Setter, ioctl, opcode};

/// `BLKDISCARD`, `_IO(0x12, 119)`.
const BLKDISCARD: Opcode = opcode::none(0x12, 119);
/// `BLKGETSIZE64`, `_IOR(0x12, 114, size_t)`.
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);

/// Discards a range of a block device. Blocks until the device has answered.
pub(crate) fn block_discard(
    fd: BorrowedFd<'_>,
    offset_bytes: u64,
    len_bytes: u64,
) -> Result<(), Errno> {
    // SAFETY: BLKDISCARD reads a pair of u64 (start, length in bytes) through its argument, which
    // is what `Setter` passes a pointer to.
    unsafe { ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new([offset_bytes, len_bytes])) }
}

/// Size of a block device in bytes.
pub(crate) fn block_size_bytes(fd: BorrowedFd<'_>) -> Result<u64, Errno> {
    // SAFETY: BLKGETSIZE64 writes one u64 through its argument, which is what `Getter` provides.
    unsafe { ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }
}
