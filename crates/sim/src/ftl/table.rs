//! Tables of page numbers: the maps of a drive, and nearly all of the memory that it takes.
//!
//! A number takes four bytes, or five on a drive with more pages than four can count. An entry holds the number plus
//! one and a new table nothing but zeros, which the system hands out without writing them. The entry of a page has the
//! place of its number plus one too, behind a first one that stays empty: so an entry is the place of its page's entry
//! in the other table, and [`NO_PAGE`] leads to the empty one. Only one of the forms has entries: where a place is not in
//! the narrow one, it is in the wide one, in the packed one ([`super::packed`]) or in none. So a drive of the narrow form
//! pays nothing for the others.

use std::num::NonZeroU64;
use std::ops::Range;

use super::packed::{PackedTable, owner_bytes};
use crate::geometry::{Geometry, NO_PAGE};
use crate::prefetch::prefetch;

/// A page number of the wide form, lowest byte first.
type Wide = [u8; WIDE_BYTES];
/// Bytes of a page number in the narrow form.
const NARROW_BYTES: usize = size_of::<u32>();
/// Bytes of a page number in the wide form.
const WIDE_BYTES: usize = 5;

/// Bytes of a page number on a drive of so many physical pages; that of no logical page is higher.
pub const fn number_bytes(physical_pages: u64) -> u32 {
    (if physical_pages < u32::MAX as u64 { NARROW_BYTES } else { WIDE_BYTES }) as u32
}

/// Bytes of memory that the maps of a drive take when all of it has been written at random.
pub fn maps_bytes(geometry: &Geometry) -> u64 {
    let number_bytes = u64::from(geometry.page_number_bytes);
    // A drive that compresses also knows how much of each page is left.
    let logical_bytes = number_bytes + u64::from(geometry.page_granules > 1);
    let physical_bytes =
        if geometry.packs_owners { owner_bytes(geometry.superblocks) } else { number_bytes };
    geometry.stored_pages() * logical_bytes + geometry.physical_pages() * physical_bytes
}

/// Page numbers by index.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct PageTable {
    narrow: Vec<u32>,
    wide: Vec<Wide>,
    /// The owners of a large drive by superblock, or `None` if the other forms have them.
    packed: Option<Box<PackedTable>>,
}

impl PageTable {
    /// A table of so many entries, all [`NO_PAGE`], whose numbers take this many bytes as by [`number_bytes`].
    pub fn new(entries: u64, number_bytes: u32) -> Self {
        let is_wide = number_bytes as usize > NARROW_BYTES;
        let entries = entries as usize + 1;
        let (narrow, wide) = if is_wide { (0, entries) } else { (entries, 0) };
        Self { narrow: vec![0; narrow], wide: vec![[0; WIDE_BYTES]; wide], packed: None }
    }

    /// The owners of the physical pages of a drive, all [`NO_PAGE`].
    pub fn owners(geometry: &Geometry) -> Self {
        if !geometry.packs_owners {
            return Self::new(geometry.physical_pages(), geometry.page_number_bytes);
        }
        let packed = Some(Box::new(PackedTable::new(geometry)));
        Self { narrow: Vec::new(), wide: Vec::new(), packed }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        let packed = self.packed.as_ref().map_or(0, |packed| packed.len());
        packed + (self.narrow.len() + self.wide.len()).saturating_sub(1)
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The page at an index; [`NO_PAGE`] where there is none or the index is beyond the table, as that of [`NO_PAGE`] is.
    #[inline(always)]
    pub fn get(&self, index: u64) -> u64 {
        match self.narrow.get(place(index)) {
            Some(&entry) => u64::from(entry).wrapping_sub(1),
            None => self.get_wide(index),
        }
    }

    #[cold]
    #[inline(never)]
    fn get_wide(&self, index: u64) -> u64 {
        match (self.wide.get(place(index)), &self.packed) {
            (Some(&entry), _) => decoded(entry).wrapping_sub(1),
            (None, Some(packed)) => packed.get(index),
            (None, None) => NO_PAGE,
        }
    }

    /// Puts a page at an index.
    ///
    /// # Panics
    /// When the index is beyond the table: a bug in the caller.
    #[inline(always)]
    pub fn set(&mut self, index: u64, page: u64) {
        match self.narrow.get_mut(place(index)) {
            Some(entry) => *entry = page.wrapping_add(1) as u32,
            None => self.set_wide(index, page),
        }
    }

    #[cold]
    #[inline(never)]
    fn set_wide(&mut self, index: u64, page: u64) {
        match &mut self.packed {
            Some(packed) => packed.set(index, page),
            None => self.wide[place(index)] = encoded(page.wrapping_add(1)),
        }
    }

    /// Puts a page at an index; returns the number behind that of the page that was there, or `None` if there was none.
    ///
    /// # Panics
    /// When the index is beyond the table: a bug in the caller.
    #[inline(always)]
    pub fn replace(&mut self, index: u64, page: u64) -> Option<NonZeroU64> {
        let behind_old = match self.narrow.get_mut(place(index)) {
            Some(entry) => std::mem::replace(entry, place(page) as u32).into(),
            None => self.replace_wide(index, page),
        };
        NonZeroU64::new(behind_old)
    }

    #[cold]
    #[inline(never)]
    fn replace_wide(&mut self, index: u64, page: u64) -> u64 {
        let old = self.get_wide(index);
        self.set_wide(index, page);
        place(old) as u64
    }

    /// Moves pages to consecutive indices: those at `first` and the following ones that `pages` names, bit 0 the first,
    /// as far as their own entries in `others` lead back to them; these lead to the new index then. Ends when `targets`
    /// are full; removes the examined pages from `pages`, and returns how many have moved. `moved` gets each page with its
    /// new index.
    ///
    /// # Panics
    /// When an index is beyond the tables: a bug in the caller.
    #[inline(always)]
    pub fn move_entries(
        &mut self,
        others: &mut Self,
        (first, pages): (u64, &mut u64),
        targets: Range<u64>,
        mut moved: impl FnMut(u64, u64),
    ) -> u32 {
        if self.narrow.is_empty() {
            return self.move_entries_wide(others, (first, pages), targets, moved);
        }
        let (source, begin, end) = (place(first), place(targets.start), place(targets.end));
        // One check for all targets.
        assert!(end <= self.narrow.len(), "pages move beyond the table");
        let mut next = begin;
        let mut left = *pages;
        while left != 0 && next < end {
            let from = source + left.trailing_zeros() as usize;
            left &= left - 1;
            let entry = self.narrow[from];
            let back = &mut others.narrow[entry as usize];
            if *back == from as u32 {
                *back = next as u32;
                self.narrow[next] = entry;
                moved(u64::from(entry) - 1, next as u64 - 1);
                next += 1;
            }
        }
        *pages = left;
        (next - begin) as u32
    }

    #[cold]
    #[inline(never)]
    fn move_entries_wide(
        &mut self,
        others: &mut Self,
        (first, pages): (u64, &mut u64),
        targets: Range<u64>,
        mut moved: impl FnMut(u64, u64),
    ) -> u32 {
        let mut next = targets.start;
        while *pages != 0 && next < targets.end {
            let from = first + u64::from(pages.trailing_zeros());
            *pages &= *pages - 1;
            let page = self.get_wide(from);
            if others.get(page) == from {
                others.set(page, next);
                self.set_wide(next, page);
                moved(page, next);
                next += 1;
            }
        }
        (next - targets.start) as u32
    }

    /// Bit 0 tells whether the entry at `first` leads back from `others`: the page there has the index `first` in them;
    /// the next bits tell the same for the next ones, `count` in all.
    #[inline(always)]
    pub fn led_back_mask(&self, others: &Self, first: u64, count: u32) -> u64 {
        let here = place(first);
        let Some(entries) = self.narrow.get(here..here + count as usize) else {
            return self.led_back_mask_wide(others, first, count);
        };
        let first = here as u32;
        let (eights, rest) = entries.as_chunks::<8>();
        let mut mask = 0;
        let mut bit = 0;
        for entries in eights {
            mask |= others.led_back_bits(entries, first + bit) << bit;
            bit += 8;
        }
        if rest.is_empty() {
            return mask;
        }
        mask | others.led_back_bits(rest, first + bit) << bit
    }

    /// The mask of entries that lead back, for consecutive ones of the narrow form by the place of the first; an empty one leads to an empty one.
    #[inline(always)]
    fn led_back_bits(&self, entries: &[u32], first: u32) -> u64 {
        let mut mask = 0;
        for (bit, &entry) in (0..).zip(entries) {
            mask |= u64::from(self.narrow.get(entry as usize) == Some(&(first + bit))) << bit;
        }
        mask
    }

    #[cold]
    #[inline(never)]
    fn led_back_mask_wide(&self, others: &Self, first: u64, count: u32) -> u64 {
        let is_back = |index: u64| others.get(self.get(index)) == index;
        (first..first + u64::from(count))
            .rev()
            .fold(0, |mask, index| mask << 1 | u64::from(is_back(index)))
    }

    /// Packs the owners of a superblock that is full, on a drive that packs them.
    pub fn pack(&mut self, superblock: u32) {
        if let Some(packed) = &mut self.packed {
            packed.pack(superblock);
        }
    }

    /// Makes the owners of a packed superblock known by page again, of pages that `pages` leads to.
    pub fn unpack(&mut self, superblock: u32, pages: &Self) {
        if let Some(packed) = &mut self.packed {
            packed.unpack(superblock, |owner| pages.get(owner));
        }
    }

    /// Forgets the owners of an erased superblock, on a drive that packs them; elsewhere the next writes replace them.
    pub fn clear(&mut self, superblock: u32) {
        if let Some(packed) = &mut self.packed {
            packed.clear(superblock);
        }
    }

    /// Whether a physical page was written last with this logical page, as far as the table knows.
    pub fn may_own(&self, physical: u64, logical: u64) -> bool {
        match &self.packed {
            Some(packed) => packed.may_own(physical, logical),
            None => self.get(physical) == logical,
        }
    }

    /// All pages, by index.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len() as u64).map(|index| self.get(index))
    }

    /// Asks the CPU to load an entry soon; beyond the table without effect.
    #[inline(always)]
    pub fn prefetch(&self, index: u64) {
        if self.narrow.is_empty() {
            self.prefetch_wide(index);
        } else {
            prefetch(&self.narrow, place(index));
        }
    }

    #[cold]
    #[inline(never)]
    fn prefetch_wide(&self, index: u64) {
        prefetch(&self.wide, place(index));
    }

    /// Asks the CPU to load all entries of `others` that the `count` ones from `first` on lead to.
    #[inline]
    pub fn prefetch_led(&self, others: &Self, first: u64, count: u32) {
        let here = place(first);
        let Some(entries) = self.narrow.get(here..here + count as usize) else {
            return self.prefetch_led_wide(others, first, count);
        };
        for &entry in entries {
            prefetch(&others.narrow, entry as usize);
        }
    }

    #[cold]
    #[inline(never)]
    fn prefetch_led_wide(&self, others: &Self, first: u64, count: u32) {
        (first..first + u64::from(count)).for_each(|index| others.prefetch(self.get(index)));
    }
}

/// The place of an entry; that of [`NO_PAGE`] is the first, which is empty.
#[inline(always)]
const fn place(index: u64) -> usize {
    index.wrapping_add(1) as usize
}

fn decoded([a, b, c, d, e]: Wide) -> u64 {
    u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
}

fn encoded(number: u64) -> Wide {
    let [a, b, c, d, e, ..] = number.to_le_bytes();
    [a, b, c, d, e]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_hold_what_was_put_there() {
        for (bytes, last) in [(4, u64::from(u32::MAX) - 2), (5, (1 << 40) - 2)] {
            let mut table = PageTable::new(3, bytes);
            assert_eq!(table.iter().collect::<Vec<_>>(), [NO_PAGE; 3], "{bytes}");
            table.set(0, last);
            table.set(1, 0);
            assert_eq!(table.iter().collect::<Vec<_>>(), [last, 0, NO_PAGE], "{bytes}");
            table.set(1, NO_PAGE);
            assert_eq!(table.iter().collect::<Vec<_>>(), [last, NO_PAGE, NO_PAGE], "{bytes}");
            assert_eq!((table.get(3), table.get(NO_PAGE), table.len()), (NO_PAGE, NO_PAGE, 3));
        }
    }

    #[test]
    fn a_page_moves_if_its_entry_leads_back() {
        for bytes in [4, 5] {
            let (mut places, mut pages) = (PageTable::new(3, bytes), PageTable::new(4, bytes));
            places.set(2, 0);
            pages.set(0, 2);
            pages.set(1, 2);
            let (mut left, mut moved) = (0b111, Vec::new());
            let note = |page, to| moved.push((page, to));
            assert_eq!(pages.move_entries(&mut places, (0, &mut left), 3..4, note), 1, "{bytes}");
            assert_eq!((left, moved), (0b110, vec![(2, 3)]), "{bytes}: the only target is full");
            assert_eq!((places.get(2), pages.get(3)), (3, 2), "{bytes}");
            let none = |page, to| panic!("{bytes}: {page} has another place than {to}");
            assert_eq!(pages.move_entries(&mut places, (0, &mut left), 0..2, none), 0, "{bytes}");
            assert_eq!((left, places.get(2)), (0, 3), "{bytes}");
        }
    }

    #[test]
    fn a_replacement_tells_the_old_page() {
        for bytes in [4, 5] {
            let mut table = PageTable::new(2, bytes);
            assert_eq!(table.replace(1, 7), None, "{bytes}");
            assert_eq!(table.replace(1, 0).map(NonZeroU64::get), Some(8), "{bytes}");
            assert_eq!(table.replace(1, 9).map(NonZeroU64::get), Some(1), "{bytes}: page 0");
            assert_eq!((table.get(0), table.get(1)), (NO_PAGE, 9), "{bytes}");
        }
    }

    #[test]
    fn the_width_follows_from_the_number_of_pages() {
        let most = u64::from(u32::MAX);
        assert_eq!([1, most - 1, most, most + 1, 1 << 38].map(number_bytes), [4, 4, 5, 5, 5]);
        assert_eq!((PageTable::new(2, 5).len(), PageTable::new(2, 5).wide.len()), (2, 3));
    }

    #[test]
    fn both_forms_lead_back_alike() {
        for bytes in [4, 5] {
            let (mut there, mut back) = (PageTable::new(40, bytes), PageTable::new(40, bytes));
            for index in 0..40 {
                there.set(index, 39 - index);
                back.set(39 - index, if index.is_multiple_of(3) { 0 } else { index });
            }
            there.set(17, NO_PAGE);
            let expected = |first: u64, count: u64| {
                let is_back = |index: u64| index != 17 && (!index.is_multiple_of(3) || index == 0);
                (0..count).map(|bit| u64::from(is_back(first + bit)) << bit).sum::<u64>()
            };
            for (first, count) in [(0, 3), (0, 8), (5, 16), (12, 23), (8, 32)] {
                let mask = there.led_back_mask(&back, first, count);
                assert_eq!(mask, expected(first, u64::from(count)), "{bytes}: {first}, {count}");
            }
        }
    }
}
