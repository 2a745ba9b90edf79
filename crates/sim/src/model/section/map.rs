//! `[map]` and `[map_cache]`: how much data an entry of the map stands for, and how much of the map is at hand.

use crate::firmware::map_cache::MapCacheShape;
use crate::geometry::{Geometry, PAGE_BYTES};
use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, section};
use crate::model::{ModelError, Sourced};
use base::Ratio;

/// Bytes that an entry of the map can stand for.
const UNITS_BYTES: [u64; 5] =
    [PAGE_BYTES, 2 * PAGE_BYTES, 4 * PAGE_BYTES, 8 * PAGE_BYTES, 16 * PAGE_BYTES];

section! {
    /// The map.
    pub struct MapModel {
        /// Data of an entry, a page of the drive: 4096, 8192, 16384, 32768 or 65536.
        pub unit_bytes: Sourced<u64>,
    }
}

/// Bytes of a logical page.
pub(in crate::model) fn page_bytes(check: &CrossCheck<'_>) -> Result<u32, ModelError> {
    let Some(map) = &check.model.map else { return Ok(PAGE_BYTES as u32) };
    let (key, bytes) = ("map.unit_bytes", map.unit_bytes.value);
    if !UNITS_BYTES.contains(&bytes) {
        return check.fail(key, bytes, "it must be 4096, 8192, 16384, 32768 or 65536");
    }
    if bytes > PAGE_BYTES && check.model.compression.is_some() {
        let rule = "a drive that compresses, [compression], maps pages of 4096 bytes";
        return check.fail(key, bytes, rule);
    }
    if bytes > PAGE_BYTES && check.model.read_ahead.is_some() {
        let rule = "a drive that reads ahead, [read_ahead], maps pages of 4096 bytes";
        return check.fail(key, bytes, rule);
    }
    Ok(bytes as u32)
}

section! {
    /// The part of the map that a drive has at hand; the rest is in NAND, in pages of `map.unit_bytes`.
    pub struct MapCacheModel {
        /// DRAM for it, in a drive of full size.
        pub bytes: Sourced<u64>,
        /// Bytes of an entry.
        pub entry_bytes: Sourced<u32> [4, 1_024],
        /// Memory of the host for what DRAM does not hold; absent: none.
        pub hmb_bytes: Option<Sourced<u64>>,
        /// Time for a look into the memory of the host; goes with `hmb_bytes`.
        pub hmb_latency_ns: Option<Sourced<u64>> [0, HOUR_NS],
        /// Whether the map is written to the pSLC cache while that has room; absent: it is not.
        pub in_pslc: Option<Sourced<bool>>,
    }
}

/// Pages that the map of so many pages takes in NAND.
pub(in crate::model) fn map_pages(check: &CrossCheck<'_>, page_bytes: u32, pages: u64) -> u64 {
    let segment_pages = check.model.map_cache.as_ref().map(|cache| cache.segment_pages(page_bytes));
    segment_pages.map_or(0, |entries| pages.div_ceil(entries.into()))
}

impl MapCacheModel {
    /// Entries in a page of the map.
    fn segment_pages(&self, page_bytes: u32) -> u32 {
        (page_bytes / self.entry_bytes.value.max(1)).max(1)
    }

    /// A smaller drive holds a smaller part at hand, so that as many lookups find theirs.
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        scale: Ratio,
        geometry: &Geometry,
    ) -> Result<MapCacheShape, ModelError> {
        let page_bytes = u64::from(geometry.page_bytes);
        let bytes = self.bytes.value;
        check.within("map_cache.bytes", bytes, page_bytes, 1 << 40)?;
        for (section, is_there) in [
            ("[mapping]", check.model.mapping.is_some()),
            ("[compression]", check.model.compression.is_some()),
        ] {
            if is_there {
                let rule = format!("a drive with {section} has all of its map in DRAM");
                return check.fail("map_cache.bytes", bytes, &rule);
            }
        }
        let in_pslc = self.in_pslc.as_ref().is_some_and(|in_pslc| in_pslc.value);
        if in_pslc && check.model.pslc.is_none() {
            let rule = "it goes with a pSLC cache, [pslc]";
            return check.fail("map_cache.in_pslc", in_pslc, rule);
        }
        let segments = |bytes| (scale.of(bytes) / page_bytes).min(geometry.map_pages.into()) as u32;
        let (hmb_bytes, host_latency_ns) = self.host_memory(check, page_bytes)?;
        Ok(MapCacheShape {
            segment_pages: self.segment_pages(geometry.page_bytes),
            dram_segments: segments(bytes).max(1),
            host_segments: segments(hmb_bytes),
            host_latency_ns,
            in_pslc,
        })
    }

    /// Bytes and latency of the host's memory.
    fn host_memory(
        &self,
        check: &CrossCheck<'_>,
        page_bytes: u64,
    ) -> Result<(u64, u64), ModelError> {
        match (&self.hmb_bytes, &self.hmb_latency_ns) {
            (None, None) => Ok((0, 0)),
            (Some(bytes), None) => {
                let rule = "it goes with map_cache.hmb_latency_ns";
                check.fail("map_cache.hmb_bytes", bytes.value, rule)
            }
            (None, Some(latency)) => {
                let rule = "it goes with map_cache.hmb_bytes";
                check.fail("map_cache.hmb_latency_ns", latency.value, rule)
            }
            (Some(bytes), Some(latency)) => {
                check.within("map_cache.hmb_bytes", bytes.value, page_bytes, 1 << 40)?;
                Ok((bytes.value, latency.value))
            }
        }
    }
}
