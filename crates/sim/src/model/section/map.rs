//! `[map]`: how much data an entry of the map stands for.

use crate::geometry::PAGE_BYTES;
use crate::model::check::CrossCheck;
use crate::model::schema::section;
use crate::model::{ModelError, Sourced};

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

/// Pages that the map of so many pages takes in NAND.
pub(in crate::model) fn map_pages(check: &CrossCheck<'_>, page_bytes: u32, pages: u64) -> u64 {
    let segment_pages = check.model.map_cache.as_ref().map(|cache| cache.segment_pages(page_bytes));
    segment_pages.map_or(0, |entries| pages.div_ceil(entries.into()))
}
