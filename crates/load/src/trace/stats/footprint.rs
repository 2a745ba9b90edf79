//! Distinct 4 KiB pages that were read or written: exact, as bit maps of the parts of the address space in use.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::trace::Record;

/// Bytes of a page.
pub(super) const PAGE_BYTES: u64 = 4096;

/// Pages in one bit map (128 MiB of addresses).
const CHUNK_PAGES: u64 = 1 << 15;

/// Largest number of bit maps: 256 MiB of memory, 8 TiB of addresses if they are contiguous.
const CHUNKS_MAX: usize = 1 << 16;

/// Amount of distinct data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Footprint {
    /// Bytes in distinct pages of 4 KiB.
    pub bytes: u64,
    /// Bytes that were written at least once.
    pub written_bytes: u64,
    /// Whether the figures are exact; false if addresses lie too far apart: the figures are then
    /// lower bounds.
    pub exact: bool,
}

/// Bit maps with this number of pages each, up to this number of maps.
#[derive(Default)]
pub(super) struct Bits<const CHUNK_PAGES: u64, const CHUNKS_MAX: usize> {
    /// By address space and place in it.
    chunks: BTreeMap<(u32, u64), Box<[u64]>>,
    pages: u64,
    /// Whether some had no room.
    pub(super) overflow: bool,
}

impl<const CHUNK_PAGES: u64, const CHUNKS_MAX: usize> Bits<CHUNK_PAGES, CHUNKS_MAX> {
    /// Marks the pages of a record in an address space; returns the number of new ones.
    pub(super) fn add(&mut self, space: u32, record: &Record) -> u64 {
        if record.len == 0 {
            return 0;
        }
        let (mut page, last) = (record.offset / PAGE_BYTES, (record.end() - 1) / PAGE_BYTES);
        let before = self.pages;
        while page <= last {
            let chunk = page / CHUNK_PAGES;
            let end = last.min(chunk * CHUNK_PAGES + CHUNK_PAGES - 1);
            if self.chunks.len() == CHUNKS_MAX && !self.chunks.contains_key(&(space, chunk)) {
                self.overflow = true;
            } else {
                let words = (CHUNK_PAGES / 64) as usize;
                let bits = self.chunks.entry((space, chunk));
                let bits = bits.or_insert_with(|| vec![0; words].into_boxed_slice());
                self.pages += set(bits, page % CHUNK_PAGES, end % CHUNK_PAGES);
            }
            page = end + 1;
        }
        self.pages - before
    }
}

/// Sets the bits `first..=last` and returns the number that were not set.
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
    touched: Bits<CHUNK_PAGES, CHUNKS_MAX>,
    written: Bits<CHUNK_PAGES, CHUNKS_MAX>,
}

impl Pages {
    pub(super) fn add(&mut self, record: &Record) {
        self.touched.add(0, record);
        if record.op == base::OpKind::Write {
            self.written.add(0, record);
        }
    }

    pub(super) fn footprint(&self) -> Footprint {
        Footprint {
            bytes: self.touched.pages * PAGE_BYTES,
            written_bytes: self.written.pages * PAGE_BYTES,
            exact: !self.touched.overflow && !self.written.overflow,
        }
    }
}
