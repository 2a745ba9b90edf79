//! `[pslc]`: a cache of blocks with one bit per cell.

use crate::firmware::pslc::{Pslc, WhenFull};
use crate::geometry::{Geometry, PAGE_BYTES};
use crate::mechanism::throttle::Throttle;
use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, TB_PER_S, section};
use crate::model::{ModelError, Sourced};
use crate::nand::slc::SlcTiming;
use base::Ratio;

section! {
    /// A cache of blocks with one bit per cell, see [`crate::firmware::pslc`].
    pub struct PslcModel {
        /// Bytes of the dedicated blocks.
        pub bytes: Sourced<u64> [0, 1 << 43],
        /// Whether the cache borrows erased blocks while there are plenty.
        pub borrows: Sourced<bool>,
        /// Most data in borrowed blocks, or `None` if only the erased blocks limit it.
        pub borrowed_bytes_max: Option<Sourced<u64>> [1, 1 << 43],
        /// Bits of a native cell: a block holds this fraction of its pages while it serves as cache.
        pub bits_per_cell: Sourced<u32> [2, 4],
        /// tR with one bit per cell.
        pub read_ns: Sourced<u64> [1, HOUR_NS],
        /// tPROG with one bit per cell.
        pub program_ns: Sourced<u64> [1, HOUR_NS],
        /// tBERS with one bit per cell.
        pub erase_ns: Sourced<u64> [1, HOUR_NS],
        /// Time without a host command before the cache is folded.
        pub idle_after_ns: Sourced<u64> [1_000_000, HOUR_NS],
        /// The behaviour of a write when the cache is full.
        pub when_full: Sourced<WhenFull>,
        /// Size from which commands go past the cache; absent: none does.
        pub only_below_bytes: Option<Sourced<u64>> [1, u64::MAX],
        /// Pages folded in return for a hundred that the host writes, or `None` if a busy host keeps the cache as it is.
        pub busy_fold_percent: Option<Sourced<u32>> [0, 1_000],
        /// Most that the controller writes past the cache, in bytes/s, or `None` if only cells and link limit it.
        pub direct_bytes_per_s: Option<Sourced<u64>> [1_000_000, TB_PER_S],
    }
}

impl PslcModel {
    /// Gives a geometry of `blocks` superblocks of `block_pages` rows the cache: its own
    /// superblocks at the end, and the number of units to write in one. `kept` is the share of the
    /// drive that the scale leaves.
    ///
    /// A scaled block may be too short to divide like the whole one, so that its cache needs more
    /// superblocks, or fewer, for its bytes. The number of native superblocks stays that of full
    /// size, and with it the spare space.
    pub(in crate::model) fn shape(
        &self,
        check: &CrossCheck<'_>,
        geometry: &mut Geometry,
        (block_pages, blocks): (u32, u32),
        kept: Ratio,
    ) -> Result<(), ModelError> {
        let nand = &check.model.nand;
        let row_units = geometry.superblock_units / block_pages;
        let superblock_bytes = |pages| {
            let row_bytes =
                u64::from(row_units * geometry.unit_pages) * geometry.physical_page_bytes();
            let stripe = u64::from(geometry.stripe_units.max(1));
            let data_units = stripe - u64::from(geometry.stripe_units > 0);
            u64::from(self.rows(pages)) * row_bytes / stripe * data_units
        };
        let at_full_size = self.bytes.value.div_ceil(superblock_bytes(nand.pages_per_block.value));
        let of_cache = u64::from(blocks) * at_full_size / u64::from(nand.blocks_per_plane.value);
        let native = u64::from(geometry.superblocks).saturating_sub(of_cache);
        if native == 0 {
            let rule = format!(
                "it would take {at_full_size} superblocks of {} bytes with one bit per cell, and there are {}",
                superblock_bytes(nand.pages_per_block.value),
                nand.blocks_per_plane.value - nand.reserved_superblocks.value
            );
            return check.fail("pslc.bytes", self.bytes.value, &rule);
        }
        let superblocks = kept.of(self.bytes.value).div_ceil(superblock_bytes(block_pages));
        if (native + superblocks) * u64::from(geometry.superblock_units) > u64::from(u32::MAX) {
            let rule = format!(
                "its {superblocks} superblocks make all NAND together 2^32 program units, or more"
            );
            return check.fail("pslc.bytes", self.bytes.value, &rule);
        }
        geometry.cache_units = row_units * self.rows(block_pages);
        geometry.cache_superblocks = superblocks as u32;
        geometry.superblocks = native as u32 + superblocks as u32;
        Ok(())
    }

    /// Number of rows to write in a block of this length; one if the block is too short to divide.
    fn rows(&self, block_pages: u32) -> u32 {
        (block_pages / self.bits_per_cell.value).max(1)
    }

    /// Times of a superblock in this mode; `block_pages` shortens its erase like that of the
    /// others.
    pub(in crate::model) fn timing(&self, check: &CrossCheck<'_>, block_pages: u32) -> SlcTiming {
        let nand = &check.model.nand;
        let erase_ns = u64::from(nand.plane_groups().1)
            * (self.erase_ns.value * u64::from(block_pages))
                .div_ceil(u64::from(nand.pages_per_block.value));
        SlcTiming { read_ns: self.read_ns.value, program_ns: self.program_ns.value, erase_ns }
    }

    /// Most superblocks to borrow; a part of one counts as a whole one.
    fn borrowed_superblocks_max(
        &self,
        check: &CrossCheck<'_>,
        scale: Ratio,
        geometry: &Geometry,
    ) -> Result<Option<u32>, ModelError> {
        let Some(bytes) = self.borrowed_bytes_max.as_ref().map(|bytes| bytes.value) else {
            return Ok(None);
        };
        if !self.borrows.value {
            let rule = "it goes with a cache that borrows, pslc.borrows";
            return check.fail("pslc.borrowed_bytes_max", bytes, rule);
        }
        let superblock_bytes =
            u64::from(geometry.cache_data_pages()) * geometry.physical_page_bytes();
        let superblocks = scale.of(bytes).div_ceil(superblock_bytes).max(1);
        Ok(Some(superblocks.min(geometry.superblocks.into()) as u32))
    }

    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        scale: Ratio,
        geometry: &Geometry,
    ) -> Result<Pslc, ModelError> {
        let only_below_bytes = self.only_below_bytes.as_ref().map_or(u64::MAX, |limit| limit.value);
        let busy_fold_percent = self.busy_fold_percent.as_ref().map_or(0, |share| share.value);
        if self.bytes.value == 0 && !self.borrows.value {
            let rule = "a cache that does not borrow (pslc.borrows) must have bytes of its own";
            return check.fail("pslc.bytes", self.bytes.value, rule);
        }
        Ok(Pslc {
            only_below_bytes,
            // The goal of collection stays erased.
            borrow_above: self.borrows.value.then_some(kept_free(check) + 1),
            borrowed_superblocks_max: self.borrowed_superblocks_max(check, scale, geometry)?,
            idle_after_ns: self.idle_after_ns.value,
            when_full: self.when_full.value,
            busy_fold_percent,
            direct_rate: self.direct_rate(),
        })
    }

    /// The limit for writes past the cache, a page at a time.
    fn direct_rate(&self) -> Option<Throttle> {
        let rate = self.direct_bytes_per_s.as_ref()?.value;
        let page_ns = (PAGE_BYTES * 1_000_000_000).div_ceil(rate);
        Some(Throttle { page_ns, burst_ns: page_ns })
    }
}

/// Erased superblocks that are not lent: those that collection and the states of cleaning work towards.
fn kept_free(check: &CrossCheck<'_>) -> u32 {
    let states = check.model.cleaning_states.as_ref();
    let reserve_free = states.map_or(0, |states| states.reserve_free.value);
    check.model.gc.free_high.value.max(reserve_free)
}
