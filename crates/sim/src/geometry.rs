//! Where a page is: superblocks, program units and dies.
//!
//! ```text
//! superblock  one block of every plane of every die       (erased as a whole)
//! unit        one multi-plane program on one die           (`unit_pages` pages of 4 KiB)
//! page        4,096 bytes, the mapping granularity
//!
//! superblock 0:  unit 0 -> die 0   unit 1 -> die 1   ...   unit D-1 -> die D-1
//!                unit D -> die 0   ...
//! ```
//!
//! Consecutive dies sit on different channels, so that a sequential stream loads all channels
//! first. A physical page number counts pages over superblocks, units and pages within a unit.

/// Bytes of a mapped page.
pub const PAGE_BYTES: u64 = 4096;

/// The resolved shape of a drive; all fields are counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Dies on all channels.
    pub dies: u32,
    /// Pages in one multi-plane program.
    pub unit_pages: u32,
    /// Units in a superblock.
    pub superblock_units: u32,
    /// Superblocks that the FTL may use.
    pub superblocks: u32,
    /// Logical pages offered to the host.
    pub logical_pages: u32,
}

impl Geometry {
    /// Pages in a superblock.
    #[must_use]
    pub const fn superblock_pages(&self) -> u32 {
        self.superblock_units * self.unit_pages
    }

    /// Physical pages the FTL may use.
    #[must_use]
    pub const fn physical_pages(&self) -> u32 {
        self.superblocks * self.superblock_pages()
    }

    /// The die that holds a unit, by the unit's number over the whole drive.
    #[inline]
    #[must_use]
    pub const fn die_of_unit(&self, unit: u32) -> u32 {
        unit % self.superblock_units % self.dies
    }

    /// The channel of a die.
    #[inline]
    #[must_use]
    pub const fn channel_of_die(&self, die: u32) -> u32 {
        die % self.channels
    }
}
