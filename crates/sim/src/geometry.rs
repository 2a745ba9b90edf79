//! The place of a page: superblocks, program units and dies.
//!
//! ```text
//! superblock  one block of every plane of every die of its group, mostly all dies   (erased as a whole)
//! unit        one multi-plane program on one die           (`unit_pages` pages of 4 KiB)
//! page        the mapping granularity: 4,096 bytes, or more; see below for drives that compress
//!
//! superblock 0:  unit 0 -> die 0   unit 1 -> die 1   ...   unit D-1 -> die D-1
//!                unit D -> die 0   ...
//! ```
//!
//! A host that writes a part of a page makes the drive read the rest and write all of it; see `device/read.rs`.
//!
//! On a drive that compresses a physical page is a *granule*: a fraction of a logical page, of which each
//! logical page takes as many as its data needs; see [`crate::mechanism::compression`]. Everything that counts
//! physical pages counts granules there.
//!
//! On a drive with groups of dies superblock S lies on group S mod G, and its units on the dies of that group; see
//! [`crate::ftl`].
//!
//! With parity one unit in every stripe holds no data; see [`crate::mechanism::parity`].
//!
//! Consecutive dies sit on different channels, so that a sequential stream loads all channels
//! first. A physical page number counts pages over superblocks, units and pages within a unit.

use std::ops::Range;

/// Bytes of a logical page on drives that do not say otherwise, and of the pages that telemetry counts.
pub const PAGE_BYTES: u64 = 4096;

/// Division of page and unit numbers by a constant of the drive, as one multiplication: a superblock need
/// not be a power of two, and the map divides once for every moved page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Divisor {
    /// (2^64 - 1) / divisor, rounded down.
    reciprocal: u64,
}

impl Divisor {
    /// Divides by `divisor`.
    ///
    /// # Panics
    /// When it is 0, as a division by it.
    pub const fn new(divisor: u32) -> Self {
        Self { reciprocal: u64::MAX / divisor as u64 }
    }

    /// `dividend / divisor`, rounded down, for a result below 2^32 and a dividend with
    /// (dividend + 1) divisor <= 2^64.
    #[inline]
    pub const fn divide(self, dividend: u64) -> u32 {
        self.divide_before(dividend + 1)
    }

    /// The quotient of the number before `next`, rounded down.
    ///
    /// Let n be the divisor, d the dividend and r the reciprocal. Then n r = 2^64 - e with 1 <= e <= n, and
    /// (d + 1) r / 2^64 is (d + 1) / n less (d + 1) e / (n 2^64). That is more than nothing, and at most 1 / n, as
    /// (d + 1) e <= (d + 1) n <= 2^64; so rounding down gives the same as for d / n.
    #[inline]
    pub const fn divide_before(self, next: u64) -> u32 {
        ((next as u128 * self.reciprocal as u128) >> 64) as u32
    }
}

/// No page: an unmapped logical page, or a physical page without owner (padding).
pub const NO_PAGE: u64 = u64::MAX;

/// The resolved shape of a drive; all fields are counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Dies on all channels.
    pub dies: u32,
    /// Groups of neighbouring dies, each with superblocks of its own; 1: superblocks lie on all dies.
    pub die_groups: u32,
    /// Reclaim groups, each with victims of its own: all of them, or 1 where one victim is chosen among all superblocks.
    pub reclaim_groups: u32,
    /// Bytes of a logical page, a power of two from [`PAGE_BYTES`] on.
    pub page_bytes: u32,
    /// Pages in one multi-plane program.
    pub unit_pages: u32,
    /// Units in a superblock.
    pub superblock_units: u32,
    /// Units in a parity stripe, the parity unit included; 0: no parity.
    pub stripe_units: u32,
    /// Superblocks that the FTL may use.
    pub superblocks: u32,
    /// Logical pages offered to the host.
    pub logical_pages: u64,
    /// Bytes of a page number in the maps, as by [`number_bytes`](crate::ftl::table::number_bytes); a drive may have more
    /// than it needs.
    pub page_number_bytes: u32,
    /// Whether the owners of closed superblocks are packed, as [`packs_owners`](crate::ftl::packed::packs_owners) says of
    /// drives with many pages; any other drive may, too, unless it compresses.
    pub packs_owners: bool,
    /// Pages behind them that hold the map of a drive that does not keep all of it in DRAM; 0: it does.
    pub map_pages: u32,
    /// Physical pages of a logical page of incompressible data: 1, more on a drive that compresses.
    pub page_granules: u32,
    /// Number of superblocks, the last ones, that serve only as pSLC cache; see
    /// [`crate::mechanism::pslc`].
    pub cache_superblocks: u32,
    /// Units of a superblock to write while it serves as cache; 0: the drive has none.
    pub cache_units: u32,
}

impl Geometry {
    /// Pages in a superblock, parity included.
    pub const fn superblock_pages(&self) -> u32 {
        self.superblock_units * self.unit_pages
    }

    /// Pages in a superblock that can hold data.
    pub const fn superblock_data_pages(&self) -> u32 {
        self.data_pages_from(0)
    }

    /// Pages for data in a superblock while it serves as cache.
    pub const fn cache_data_pages(&self) -> u32 {
        self.superblock_data_pages() - self.data_pages_from(self.cache_units * self.unit_pages)
    }

    /// Whether a superblock serves only as cache.
    #[inline]
    pub const fn is_cache_only(&self, superblock: u32) -> bool {
        superblock + self.cache_superblocks >= self.superblocks
    }

    /// Pages that the FTL stores: those of the host and those of the map.
    pub const fn stored_pages(&self) -> u64 {
        self.logical_pages + self.map_pages as u64
    }

    /// Physical pages that the FTL may use, parity included.
    pub const fn physical_pages(&self) -> u64 {
        self.superblocks as u64 * self.superblock_pages() as u64
    }

    /// The first page of a unit, both over the whole drive.
    #[inline]
    pub const fn first_page_of(&self, unit: u32) -> u64 {
        unit as u64 * self.unit_pages as u64
    }

    /// Most physical pages beyond its own that relocating a unit may take: its first and its last
    /// page may extend beyond its borders, and a gap may need padding. None without compression.
    pub const fn relocation_slack_pages(&self) -> u32 {
        3 * (self.page_granules - 1)
    }

    /// Most pages of a superblock that padding before parity and at its end may take; none without
    /// compression.
    pub const fn gap_pages(&self) -> u32 {
        let stripes = match self.superblock_units.checked_div(self.stripe_units) {
            Some(stripes) => stripes,
            None => 0,
        };
        (self.page_granules - 1) * (stripes + 1)
    }

    /// Superblocks that remain when every LBA holds data.
    pub fn spare_superblocks(&self) -> u64 {
        let logical = self.stored_pages() * u64::from(self.page_granules);
        let superblock_pages = self.superblock_data_pages() - self.gap_pages();
        let needed = logical.div_ceil(u64::from(superblock_pages));
        u64::from(self.superblocks - self.cache_superblocks).saturating_sub(needed)
    }

    /// Bytes of a physical page.
    pub const fn physical_page_bytes(&self) -> u64 {
        self.page_bytes as u64 / self.page_granules as u64
    }

    /// Bytes of a program unit.
    pub const fn unit_bytes(&self) -> u64 {
        self.unit_pages as u64 * self.physical_page_bytes()
    }

    /// Pages of [`PAGE_BYTES`] in a logical page: the host may write and read them one by one.
    #[inline]
    pub const fn host_pages(&self) -> u32 {
        self.page_bytes / PAGE_BYTES as u32
    }

    /// Time for a program unit at a rate of so many pages of [`PAGE_BYTES`] in a second.
    pub const fn unit_interval_ns(&self, pages_per_s: u64) -> u64 {
        (self.unit_bytes() * 1_000_000_000).div_ceil(pages_per_s * PAGE_BYTES)
    }

    /// Bytes of a superblock, parity included.
    pub const fn superblock_bytes(&self) -> u64 {
        self.superblock_pages() as u64 * self.physical_page_bytes()
    }

    /// Dies of a superblock.
    #[inline]
    pub const fn superblock_dies(&self) -> u32 {
        self.dies / self.die_groups
    }

    /// The reclaim group of a superblock.
    #[inline]
    pub const fn reclaim_group(&self, superblock: u32) -> u32 {
        superblock % self.reclaim_groups
    }

    /// The superblocks of a reclaim group.
    pub fn superblocks_of_group(&self, group: u32) -> impl Iterator<Item = u32> + use<> {
        (group..self.superblocks).step_by(self.reclaim_groups as usize)
    }

    /// The dies of a superblock.
    pub fn dies_of(&self, superblock: u32) -> Range<u32> {
        let first = superblock % self.die_groups * self.superblock_dies();
        first..first + self.superblock_dies()
    }

    /// The die that holds a unit, by the unit's number over the whole drive. A superblock begins on the first die of
    /// its group and takes whole rows of that, so a drive without groups needs no division by superblock.
    #[inline]
    pub const fn die_of_unit(&self, unit: u32) -> u32 {
        if self.die_groups == 1 {
            return unit % self.dies;
        }
        let superblock_dies = self.superblock_dies();
        let group = unit / self.superblock_units % self.die_groups;
        group * superblock_dies + unit % superblock_dies
    }

    /// The channel of a die.
    #[inline]
    pub const fn channel_of_die(&self, die: u32) -> u32 {
        die % self.channels
    }
}

#[cfg(test)]
impl Geometry {
    /// A plain drive of one die for unit tests: 64 LBAs on six superblocks of 16 pages.
    pub(crate) const fn small() -> Self {
        Self {
            channels: 1,
            dies: 1,
            die_groups: 1,
            reclaim_groups: 1,
            page_bytes: PAGE_BYTES as u32,
            unit_pages: 4,
            superblock_units: 4,
            stripe_units: 0,
            superblocks: 6,
            logical_pages: 64,
            page_number_bytes: crate::ftl::table::number_bytes(0),
            packs_owners: false,
            map_pages: 0,
            page_granules: 1,
            cache_superblocks: 0,
            cache_units: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    #[test]
    fn multiplication_divides_exactly() {
        let mut rng = Rng::new(1);
        for divisor in
            [1, 2, 3, 7, 64, 512, 4096, 16_384, 131_071, 131_072, 1 << 31, u32::MAX - 1, u32::MAX]
        {
            let (by, divisor) = (Divisor::new(divisor), u64::from(divisor));
            let end = (divisor << 32).min(u64::MAX / divisor);
            let near = |multiple: u64| [multiple.saturating_sub(1), multiple, multiple + 1];
            let mut dividends = vec![0, 1, divisor - 1, divisor, end - 1];
            for _ in 0..10_000 {
                dividends.push(rng.below(end));
                dividends.extend(near(rng.below(end / divisor) * divisor));
            }
            for dividend in dividends.into_iter().filter(|&dividend| dividend < end) {
                let expected = dividend / divisor;
                assert_eq!(u64::from(by.divide(dividend)), expected, "{dividend} / {divisor}");
            }
        }
    }
}
