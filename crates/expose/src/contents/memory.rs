//! The bytes of a disk in the memory of the program, for the pages that have some.
//!
//! A page lies in a slot of a slab. A system call for each request, as a file in memory needs, took two thirds of the
//! time of a write. Memory of emptied pages is kept for others, so that the bound is the largest data so far.

use std::io::{self, ErrorKind};
use std::ops::Range;

/// Bytes that are taken from the system at once.
const SLAB_BYTES: usize = 2 << 20;

/// Sparse memory.
#[derive(Debug)]
pub(super) struct Memory {
    page_bytes: usize,
    /// For each page the number of its slot, from 1 on, or 0 for a page of zeroes.
    slots: Vec<u32>,
    /// Slots of no page; their bytes are old.
    free: Vec<u32>,
    slabs: Vec<Vec<u8>>,
}

/// A part of a range within one page.
struct Part {
    page: usize,
    /// Its bytes within the page.
    within: Range<usize>,
    /// Its bytes within the range.
    bytes: Range<usize>,
}

impl Memory {
    /// Zeroes for so many pages; an error if their slots have no numbers.
    pub(super) fn new(pages: u64, page_bytes: u64) -> io::Result<Self> {
        if pages >= u64::from(u32::MAX) {
            return Err(ErrorKind::OutOfMemory.into());
        }
        let (slots, page_bytes) = (vec![0; pages as usize], page_bytes as usize);
        Ok(Self { page_bytes, slots, free: Vec::new(), slabs: Vec::new() })
    }

    fn parts(&self, offset: u64, length: usize) -> impl Iterator<Item = Part> + use<> {
        let page_bytes = self.page_bytes;
        let (first, lead) = (offset as usize / page_bytes, offset as usize % page_bytes);
        let pages = (lead + length).div_ceil(page_bytes);
        (0..pages).map(move |index| {
            let start = (index * page_bytes).max(lead);
            let end = ((index + 1) * page_bytes).min(lead + length);
            let base = index * page_bytes;
            let (within, bytes) = (start - base..end - base, start - lead..end - lead);
            Part { page: first + index, within, bytes }
        })
    }

    /// Slab and place of a slot.
    fn place(&self, slot: u32) -> (usize, Range<usize>) {
        let number = slot as usize - 1;
        let (slab, index) = (number / self.slots_of_slab(), number % self.slots_of_slab());
        (slab, index * self.page_bytes..(index + 1) * self.page_bytes)
    }

    /// The bytes of a page, or `None` for zeroes.
    fn page(&self, page: usize) -> Option<&[u8]> {
        let slot = Some(self.slots[page]).filter(|&slot| slot != 0)?;
        let (slab, place) = self.place(slot);
        Some(&self.slabs[slab][place])
    }

    /// The bytes of a page, in a slot of its own.
    fn page_mut(&mut self, page: usize, is_whole: bool) -> io::Result<&mut [u8]> {
        let is_new = self.slots[page] == 0;
        if is_new {
            self.slots[page] = self.take_slot()?;
        }
        let (slab, place) = self.place(self.slots[page]);
        let bytes = &mut self.slabs[slab][place];
        if is_new && !is_whole {
            bytes.fill(0);
        }
        Ok(bytes)
    }

    /// A slot that no page has; it may have old bytes.
    fn take_slot(&mut self) -> io::Result<u32> {
        if let Some(slot) = self.free.pop() {
            return Ok(slot);
        }
        let slab_bytes = self.slots_of_slab() * self.page_bytes;
        let is_full = |slab: &Vec<u8>| slab.len() >= slab_bytes;
        if self.slabs.last().is_none_or(is_full) {
            let mut slab = Vec::new();
            slab.try_reserve_exact(slab_bytes).map_err(|_| ErrorKind::OutOfMemory)?;
            self.slabs.push(slab);
        }
        let slabs = self.slabs.len();
        let slab = self.slabs.last_mut().ok_or(ErrorKind::OutOfMemory)?;
        // Page by page: the system gives memory when it is touched, and it is still in the cache when data comes.
        slab.resize(slab.len() + self.page_bytes, 0);
        let slots = slab.len() / self.page_bytes;
        Ok(((slabs - 1) * self.slots_of_slab() + slots) as u32)
    }

    fn slots_of_slab(&self) -> usize {
        (SLAB_BYTES / self.page_bytes).max(1)
    }

    /// The bytes from `offset` on.
    pub(super) fn read(&self, offset: u64, bytes: &mut [u8]) {
        for part in self.parts(offset, bytes.len()) {
            match self.page(part.page) {
                Some(page) => bytes[part.bytes].copy_from_slice(&page[part.within]),
                None => bytes[part.bytes].fill(0),
            }
        }
    }

    /// Replaces the bytes from `offset` on.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        for part in self.parts(offset, bytes.len()) {
            let is_whole = part.within.len() == self.page_bytes;
            let page = self.page_mut(part.page, is_whole)?;
            page[part.within].copy_from_slice(&bytes[part.bytes]);
        }
        Ok(())
    }

    /// Makes bytes zero.
    pub(super) fn zero(&mut self, bytes: Range<u64>) {
        for part in self.parts(bytes.start, (bytes.end - bytes.start) as usize) {
            let slot = self.slots[part.page];
            if slot == 0 {
                continue;
            }
            if part.within.len() == self.page_bytes {
                self.slots[part.page] = 0;
                self.free.push(slot);
            } else {
                let (slab, place) = self.place(slot);
                self.slabs[slab][place][part.within].fill(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Rng;

    use super::*;

    #[test]
    fn it_holds_what_a_plain_array_holds() {
        const BYTES: u64 = 6 << 20;
        let mut rng = Rng::new(11);
        let mut memory = Memory::new(BYTES / 4096, 4096).expect("few pages");
        let mut plain = vec![0_u8; BYTES as usize];
        for round in 0..3000_u32 {
            let offset = rng.below(BYTES);
            let length = (1 + rng.below(20_000)).min(BYTES - offset);
            let range = offset as usize..(offset + length) as usize;
            match rng.below(3) {
                0 => memory.zero(offset..offset + length),
                _ => {
                    let bytes = vec![round as u8 | 1; length as usize];
                    memory.write(offset, &bytes).expect("memory");
                    plain[range.clone()].copy_from_slice(&bytes);
                    continue;
                }
            }
            plain[range].fill(0);
        }
        let mut all = vec![1; BYTES as usize];
        memory.read(0, &mut all);
        assert!(all == plain, "other bytes");
        memory.zero(0..BYTES);
        assert!(memory.page(5).is_none() && memory.slabs.len() <= 3, "slots are used again");
    }
}
