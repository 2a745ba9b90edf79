//! The two records that cross the border between a workload and a target.

use crate::units::Nanos;

/// Kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[repr(u8)]
pub enum OpKind {
    /// Read `len` bytes at `offset`.
    Read,
    /// Write `len` bytes at `offset`.
    Write,
    /// Make every acknowledged write durable; `offset` and `len` are ignored.
    Flush,
    /// Tell the drive that `len` bytes at `offset` hold no data (TRIM, DSM, UNMAP).
    Deallocate,
}

impl OpKind {
    /// Every kind, in the order of [`OpKind::index`].
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Flush, Self::Deallocate];

    /// A dense index for per-kind tables.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The word used in result files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Deallocate => "deallocate",
        }
    }
}

/// Kind of the bytes of a write. It decides how far a compressing controller can shrink them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Data {
    /// Random bytes: no controller can shrink them.
    Incompressible,
    /// One repeating pattern: shrinks to almost nothing.
    Repeating,
    /// Bytes that a good compressor reduces to this many percent of their size (1 to 100).
    Compressible {
        /// Size after compression, in percent of the size before.
        physical_percent: u8,
    },
}

/// One command, as a workload issues it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Kind of the command.
    pub kind: OpKind,
    /// Content of a write; ignored by the other kinds.
    pub data: Data,
    /// Whether the access is forced (forced unit access): a write ends only when its data would
    /// survive a loss of power. The other kinds ignore it.
    pub fua: bool,
    /// Placement handle of a write (NVMe flexible data placement): a target with handles keeps the data of each
    /// apart. 0 is the default; a target takes a handle that it does not have for 0.
    pub placement: u8,
    /// Length in bytes, a multiple of the target's logical block size.
    pub len: u32,
    /// Chosen by the caller and returned in the [`Completion`]. At any moment no two outstanding
    /// commands may share a tag, and a tag is smaller than the target's queue depth.
    pub tag: u32,
    /// First byte, a multiple of the target's logical block size.
    pub offset: u64,
}

/// Outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Status {
    /// All bytes were transferred.
    Ok,
    /// The target answered with this errno (`EIO` if it gave no better one).
    Failed {
        /// A positive errno.
        errno: i32,
    },
}

/// The end of one command. Both times are on the target's own clock (see `Target::now`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Completion {
    /// The tag of the [`Op`].
    pub tag: u32,
    /// Outcome of the command.
    pub status: Status,
    /// Time at which the target got the command.
    pub submitted: Nanos,
    /// Time at which the target reported its end.
    pub done: Nanos,
}

impl Completion {
    /// Time from submission to completion.
    pub fn latency(&self) -> Nanos {
        Nanos(self.done.0.saturating_sub(self.submitted.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_takes_three_words() {
        assert_eq!(size_of::<Op>(), 24);
    }
}
