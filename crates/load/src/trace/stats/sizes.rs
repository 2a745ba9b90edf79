//! Reads and writes by size: the powers of two of the reviews, and the ranges between them.

use serde::Serialize;

use super::share;
use crate::trace::Record;

/// Names of the rows: exact sizes, and open ranges between two of them.
pub const SIZE_BINS: [&str; 14] = [
    "< 4 KiB",
    "4 KiB",
    "4-8 KiB",
    "8 KiB",
    "8-16 KiB",
    "16 KiB",
    "16-32 KiB",
    "32 KiB",
    "32-64 KiB",
    "64 KiB",
    "64-128 KiB",
    "128 KiB",
    "128 KiB-1 MiB",
    ">= 1 MiB",
];

/// The row of a size.
pub fn size_bin(len: u32) -> usize {
    const KIB: u32 = 1024;
    match len {
        _ if len < 4 * KIB => 0,
        _ if len >= 1024 * KIB => 13,
        _ if len > 128 * KIB => 12,
        _ => {
            // 4 KiB is 2^12, row 1; each power of two is followed by the range above it.
            let power = len.ilog2();
            let exact = len.is_power_of_two();
            (power as usize - 12) * 2 + if exact { 1 } else { 2 }
        }
    }
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeRow {
    /// Its size or range.
    pub size: &'static str,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Share of all reads and writes.
    pub share: f64,
}

#[derive(Default)]
pub(super) struct Sizes {
    counts: [[u64; 2]; SIZE_BINS.len()],
}

impl Sizes {
    pub(super) fn add(&mut self, record: &Record) {
        let kind = usize::from(record.op == base::OpKind::Write);
        self.counts[size_bin(record.len)][kind] += 1;
    }

    pub(super) fn rows(&self) -> Vec<SizeRow> {
        let all: u64 = self.counts.iter().flatten().sum();
        let row = |(size, &[reads, writes]): (&&'static str, &[u64; 2])| SizeRow {
            size,
            reads,
            writes,
            share: share(reads + writes, all),
        };
        SIZE_BINS.iter().zip(&self.counts).map(row).collect()
    }
}
