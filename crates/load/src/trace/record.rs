//! One I/O of a trace.

use std::ops::{BitOr, BitOrAssign};

use base::OpKind;

/// One I/O as it was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time of issue in ns since the first record of the trace; never falls from one record to the next.
    pub issue_ns: u64,
    /// First byte.
    pub offset: u64,
    /// Length in bytes; 0 only for a flush.
    pub len: u32,
    /// Process, volume or application, as the trace distinguishes them.
    pub stream: u32,
    /// Commands outstanding at the time of issue, this one included; 0 if unknown.
    pub queue_depth: u16,
    /// Kind of the operation.
    pub op: OpKind,
    /// Properties of the request.
    pub flags: Flags,
    /// Size of the data after compression in percent (1 to 100); 0 if unknown.
    pub physical_percent: u8,
}

/// Properties of a request: a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// None.
    pub const NONE: Self = Self(0);
    /// A program waits for it.
    pub const SYNC: Self = Self(1);
    /// Data about data: inodes, journal, directories.
    pub const META: Self = Self(2);
    /// Read ahead of a request.
    pub const READAHEAD: Self = Self(4);
    /// Durable before it is acknowledged (force unit access).
    pub const FUA: Self = Self(8);
    /// All acknowledged writes must be durable first. A replay flushes before it.
    pub const PREFLUSH: Self = Self(16);
    /// Every bit with a meaning.
    pub const ALL: Self = Self(31);

    /// Whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// `self` with the bits of `other` if `condition` holds.
    #[must_use]
    pub const fn with(self, other: Self, condition: bool) -> Self {
        if condition { Self(self.0 | other.0) } else { self }
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl Record {
    /// A record at a time, with only the facts that every format has.
    pub const fn new(issue_ns: u64, op: OpKind, offset: u64, len: u32) -> Self {
        Self {
            issue_ns,
            offset,
            len,
            stream: 0,
            queue_depth: 0,
            op,
            flags: Flags::NONE,
            physical_percent: 0,
        }
    }

    /// The byte after the last one.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.len as u64)
    }

    /// Whether data moves: a read or a write.
    pub const fn moves_data(&self) -> bool {
        matches!(self.op, OpKind::Read | OpKind::Write)
    }
}
