//! Distinct 4 KiB pages that were read or written: exact, as bit maps of the parts of the address space in use.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::trace::Record;

const PAGE_BITS: u32 = 12;

/// Pages in one bit map (128 MiB of addresses).
const CHUNK_PAGES: u64 = 1 << 15;

/// Bit maps that are kept: 256 MiB of memory, 8 TiB of addresses where they lie together.
const CHUNKS_MAX: usize = 1 << 16;

/// Distinct data that was touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Footprint {
    /// Bytes in distinct pages of 4 KiB.
    pub bytes: u64,
    /// Bytes that were written at least once.
    pub written_bytes: u64,
    /// False where addresses lie too far apart to be counted all: the figures are then lower bounds.
    pub exact: bool,
}

#[derive(Default)]
struct Bits {
    chunks: BTreeMap<u64, Box<[u64]>>,
    pages: u64,
    overflow: bool,
}

impl Bits {
    fn add(&mut self, first: u64, last: u64) {
        let mut page = first;
        while page <= last {
            let chunk = page / CHUNK_PAGES;
            let end = last.min(chunk * CHUNK_PAGES + CHUNK_PAGES - 1);
            if self.chunks.len() == CHUNKS_MAX && !self.chunks.contains_key(&chunk) {
                self.overflow = true;
            } else {
                let words = (CHUNK_PAGES / 64) as usize;
                let bits =
                    self.chunks.entry(chunk).or_insert_with(|| vec![0; words].into_boxed_slice());
                self.pages += set(bits, page % CHUNK_PAGES, end % CHUNK_PAGES);
            }
            page = end + 1;
        }
    }
}

/// Sets the bits `first..=last` and returns how many were not set.
fn set(bits: &mut [u64], first: u64, last: u64) -> u64 {
    let mut new = 0;
    for word in first / 64..=last / 64 {
        let low = first.saturating_sub(word * 64);
        let high = (last - word * 64).min(63);
        let mask = (u64::MAX << low) & (u64::MAX >> (63 - high));
        let bits = &mut bits[word as usize];
        new += u64::from((mask & !*bits).count_ones());
        *bits |= mask;
    }
    new
}

#[derive(Default)]
pub(super) struct Pages {
    touched: Bits,
    written: Bits,
}

impl Pages {
    pub(super) fn add(&mut self, record: &Record) {
        if record.len == 0 {
            return;
        }
        let (first, last) = (record.offset >> PAGE_BITS, (record.end() - 1) >> PAGE_BITS);
        self.touched.add(first, last);
        if record.op == base::OpKind::Write {
            self.written.add(first, last);
        }
    }

    pub(super) fn footprint(&self) -> Footprint {
        Footprint {
            bytes: self.touched.pages << PAGE_BITS,
            written_bytes: self.written.pages << PAGE_BITS,
            exact: !self.touched.overflow && !self.written.overflow,
        }
    }
}
