//! Access past the page cache, if the file system allows it for a file.

use std::fs::File;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, OFlags, StatxFlags};

use crate::buffer::{AREA_ALIGN_BYTES, AlignedBuffer};

const TMPFS_MAGIC: u64 = 0x0102_1994;
const RAMFS_MAGIC: u64 = 0x8584_58f6;

/// Access past the page cache, or through it with the reason.
pub(super) enum Access {
    Direct { block_bytes: u32 },
    Buffered { reason: &'static str },
}

pub(super) fn go_direct(file: &File) -> Access {
    // tmpfs accepts the flag in newer kernels and copies from the page cache all the same.
    if rustix::fs::fstatfs(file).is_ok_and(|fs| is_memory(fs.f_type as u64)) {
        return Access::Buffered { reason: "the file system lives in memory" };
    }
    let set = rustix::fs::fcntl_getfl(file)
        .and_then(|flags| rustix::fs::fcntl_setfl(file, flags | OFlags::DIRECT));
    if set.is_err() {
        return Access::Buffered { reason: "the file system refuses O_DIRECT" };
    }
    match stated_alignment(file) {
        Some(0) => Access::Buffered { reason: "the file system does no direct I/O on this file" },
        Some(bytes) => Access::Direct { block_bytes: bytes.max(512) },
        None => Access::Direct { block_bytes: tried_alignment(file) },
    }
}

fn is_memory(magic: u64) -> bool {
    magic & 0xffff_ffff == TMPFS_MAGIC || magic & 0xffff_ffff == RAMFS_MAGIC
}

/// The alignment that statx reports for direct I/O, or `None` before Linux 6.1 and if not
/// supported.
fn stated_alignment(file: &File) -> Option<u32> {
    let stat = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let known = stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    known.then_some(stat.stx_dio_offset_align)
}

/// The kernel refuses a misaligned read before it looks for data, so trying is harmless.
fn tried_alignment(file: &File) -> u32 {
    let small_works =
        AlignedBuffer::new(AREA_ALIGN_BYTES, AREA_ALIGN_BYTES).is_ok_and(|mut buffer| {
            rustix::io::pread(file.as_fd(), &mut buffer.as_mut_slice()[..512], 0).is_ok()
        });
    if small_works { 512 } else { 4096 }
}
