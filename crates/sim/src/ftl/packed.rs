//! Owners of the pages of a large drive in two bytes each.
//!
//! Only superblocks that are written or collected have an entry for each page. A closed one keeps the numbers of its
//! owners in rising order, as the distances between them, seven bits a byte: the other table tells which page each has,
//! and whether that still lies there. Simplification: none, the results are those of the other forms; garbage collection
//! costs more time of the host. Tests: `tests/golden.rs` (equal hashes), and one drive in seven of
//! `tests/reference/main.rs`.

use crate::geometry::{Divisor, Geometry, NO_PAGE};

/// Most physical pages of a drive whose owners are not packed: 16 GiB of both maps.
const PAGES_MAX: u64 = 1 << 31;

/// Whether a drive of so many physical pages packs its owners.
pub const fn packs_owners(physical_pages: u64, page_granules: u32) -> bool {
    physical_pages > PAGES_MAX && page_granules == 1
}

/// Bytes of a packed owner of data that were written at random. The owners of a superblock are a sample of all, so that
/// the mean distance is the number of superblocks; few distances are four times the mean.
pub const fn owner_bytes(superblocks: u32) -> u64 {
    match superblocks {
        ..=32 => 1,
        33..=4_096 => 2,
        _ => 3,
    }
}

/// Bits of a distance in a byte.
const BITS: u32 = 7;
/// Set in each byte of a distance but its last.
const MORE: u8 = 1 << BITS;

/// The owners of one superblock.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Owners {
    /// By page.
    Open(Box<[u64]>),
    /// The distance of each from the one before, in rising order.
    Packed(Box<[u8]>),
}

impl Default for Owners {
    fn default() -> Self {
        Self::Packed(Box::default())
    }
}

/// Owners of all physical pages, by superblock.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PackedTable {
    superblock_pages: u32,
    by_superblock: Divisor,
    superblocks: Vec<Owners>,
}

impl PackedTable {
    /// No owners for the pages of this drive.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let superblock_pages = geometry.superblock_pages();
        Self {
            superblock_pages,
            by_superblock: Divisor::new(superblock_pages),
            superblocks: vec![Owners::default(); geometry.superblocks as usize],
        }
    }

    /// Number of pages.
    pub(super) fn len(&self) -> usize {
        self.superblocks.len() * self.superblock_pages as usize
    }

    fn place(&self, page: u64) -> (usize, usize) {
        let superblock = self.by_superblock.divide(page);
        let place = page - u64::from(superblock) * u64::from(self.superblock_pages);
        (superblock as usize, place as usize)
    }

    /// The owner of a page; [`NO_PAGE`] also where its superblock is packed.
    pub(super) fn get(&self, page: u64) -> u64 {
        if page == NO_PAGE {
            return NO_PAGE;
        }
        let (superblock, place) = self.place(page);
        match self.superblocks.get(superblock) {
            Some(Owners::Open(owners)) => owners[place],
            _ => NO_PAGE,
        }
    }

    /// Gives a page an owner; the superblock is open, or nothing is in it.
    pub(super) fn set(&mut self, page: u64, owner: u64) {
        let (superblock, place) = self.place(page);
        let pages = self.superblock_pages as usize;
        let owners = &mut self.superblocks[superblock];
        if let Owners::Packed(packed) = owners {
            assert!(packed.is_empty(), "superblock {superblock} is written while it is packed");
            *owners = Owners::Open(vec![NO_PAGE; pages].into());
        }
        if let Owners::Open(owners) = owners {
            owners[place] = owner;
        }
    }

    /// Packs the owners of a superblock, which nobody writes or collects from now on.
    pub(super) fn pack(&mut self, superblock: u32) {
        let owners = &mut self.superblocks[superblock as usize];
        let Owners::Open(open) = owners else { return };
        open.sort_unstable();
        let known = open.partition_point(|&owner| owner != NO_PAGE);
        *owners = Owners::Packed(packed(&open[..known]).into());
    }

    /// Gives the pages of a superblock their owners again; `page_of` tells the present page of each.
    pub(super) fn unpack(&mut self, superblock: u32, page_of: impl Fn(u64) -> u64) {
        let Owners::Packed(packed) = &self.superblocks[superblock as usize] else { return };
        let mut open = vec![NO_PAGE; self.superblock_pages as usize];
        for owner in owners(packed) {
            let page = page_of(owner);
            if page != NO_PAGE && self.by_superblock.divide(page) == superblock {
                open[self.place(page).1] = owner;
            }
        }
        self.superblocks[superblock as usize] = Owners::Open(open.into());
    }

    /// Forgets the owners of a superblock.
    pub(super) fn clear(&mut self, superblock: u32) {
        self.superblocks[superblock as usize] = Owners::default();
    }

    /// Whether the owner of a page is this one, or may be as far as its packed superblock knows.
    pub(super) fn may_own(&self, page: u64, owner: u64) -> bool {
        match &self.superblocks[self.place(page).0] {
            Owners::Open(_) => self.get(page) == owner,
            Owners::Packed(packed) => owners(packed).any(|known| known == owner),
        }
    }
}

/// The distances of rising owners.
fn packed(rising: &[u64]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut last = 0;
    for &owner in rising {
        let mut distance = owner - last;
        while distance >= u64::from(MORE) {
            packed.push(distance as u8 | MORE);
            distance >>= BITS;
        }
        packed.push(distance as u8);
        last = owner;
    }
    packed
}

fn owners(packed: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut bytes = packed.iter();
    let mut last = 0;
    std::iter::from_fn(move || {
        let mut shift = 0;
        loop {
            let byte = bytes.next()?;
            last += u64::from(byte & !MORE) << shift;
            if byte & MORE == 0 {
                return Some(last);
            }
            shift += BITS;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_any_size_come_back() {
        let sorted = [0, 0, 1, 128, 16_511, 16_512, 1 << 32, (1 << 40) - 2];
        let packed = packed(&sorted);
        assert_eq!(owners(&packed).collect::<Vec<_>>(), sorted);
        assert_eq!(packed.len(), 1 + 1 + 1 + 1 + 2 + 1 + 5 + 6);
    }
}
