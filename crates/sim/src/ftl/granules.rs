//! Pages of different sizes: the map of a drive that compresses.
//!
//! A logical page takes some consecutive granules (physical pages); `l2p` names the first, `p2l`
//! names the logical page in each of them. They may extend into the next unit, never over parity or
//! the end of the superblock.

use super::{Ftl, NO_PAGE, StreamId};

impl Ftl {
    /// Granules of a mapped logical page; meaningless for others.
    #[inline]
    pub fn size(&self, logical: u64) -> u32 {
        self.sizes.get(logical as usize).map_or(1, |&size| u32::from(size))
    }

    /// Whether the largest page fits at a stream's frontier without a gap. The stream has room.
    #[inline]
    pub fn fits_page(&self, id: StreamId) -> bool {
        let stream = self.stream(id);
        let next_unit = stream.next_page + stream.unit_room_pages;
        stream.unit_room_pages >= self.geometry.page_granules
            || stream.room_pages > stream.unit_room_pages
                && !self.geometry.is_parity(next_unit / self.geometry.unit_pages)
    }

    /// Begins a logical page at a stream's frontier: forgets its old place. As many calls of
    /// [`Ftl::append`] must follow at once.
    #[inline]
    pub fn begin_page(&mut self, id: StreamId, logical: u64, granules: u32) {
        self.unmap(logical);
        self.l2p.set(logical, self.frontier(id));
        self.sizes[logical as usize] = granules as u8;
    }

    /// Writes the next granule of a logical page and returns its place.
    #[inline]
    pub fn append(&mut self, id: StreamId, logical: u64) -> u64 {
        let physical = self.frontier(id);
        self.p2l.set(physical, logical);
        let superblock = self.stream(id).superblock;
        self.valid_pages[superblock as usize] += 1;
        self.advance(id, 1);
        physical
    }

    /// Whether a physical page belongs to the present place of its last logical page.
    #[inline]
    pub(super) fn is_within(&self, physical: u64, logical: u64) -> bool {
        let first = self.l2p.get(logical);
        first != NO_PAGE && physical.wrapping_sub(first) < u64::from(self.size(logical))
    }
}
