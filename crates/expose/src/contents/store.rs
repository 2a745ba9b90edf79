//! The place of the bytes: a file, or the memory of the program.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use rustix::fs::FallocateFlags;

use super::memory::Memory;

/// Bytes at offsets, zero unless they were written.
#[derive(Debug)]
pub(super) enum Store {
    /// A sparse file.
    File(File),
    /// Memory, gone with the program.
    Memory(Memory),
}

impl Store {
    pub(super) fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.read_exact_at(bytes, offset),
            Self::Memory(memory) => {
                memory.read(offset, bytes);
                Ok(())
            }
        }
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.write_all_at(bytes, offset),
            Self::Memory(memory) => memory.write(offset, bytes),
        }
    }

    /// Makes bytes zero, and gives up their place where it can.
    pub(super) fn punch(&mut self, bytes: Range<u64>) -> io::Result<()> {
        match self {
            _ if bytes.is_empty() => Ok(()),
            Self::File(file) => {
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                Ok(rustix::fs::fallocate(file, flags, bytes.start, bytes.end - bytes.start)?)
            }
            Self::Memory(memory) => {
                memory.zero(bytes);
                Ok(())
            }
        }
    }

    /// Makes the bytes of a file durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self {
            Self::File(file) => file.sync_data(),
            Self::Memory(_) => Ok(()),
        }
    }
}
