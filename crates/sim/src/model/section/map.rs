//! `[map]`: how much data an entry of the map stands for.

use serde::Deserialize;

use crate::geometry::PAGE_BYTES;
use crate::model::check::Check;
use crate::model::{ModelError, Sourced};

/// Bytes that an entry of the map can stand for.
const UNITS_BYTES: [u64; 5] =
    [PAGE_BYTES, 2 * PAGE_BYTES, 4 * PAGE_BYTES, 8 * PAGE_BYTES, 16 * PAGE_BYTES];

/// The map.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapModel {
    /// Data of an entry, a page of the drive: 4096, 8192, 16384, 32768 or 65536.
    pub unit_bytes: Sourced<u64>,
}

/// Bytes of a logical page.
pub(in crate::model) fn page_bytes(check: &Check<'_>) -> Result<u32, ModelError> {
    let Some(map) = &check.model.map else { return Ok(PAGE_BYTES as u32) };
    let (key, bytes) = ("map.unit_bytes", map.unit_bytes.value);
    if !UNITS_BYTES.contains(&bytes) {
        return check.fail(key, bytes, "it must be 4096, 8192, 16384, 32768 or 65536");
    }
    if bytes > PAGE_BYTES && check.model.compression.is_some() {
        let rule = "a drive that compresses, [compression], maps pages of 4096 bytes";
        return check.fail(key, bytes, rule);
    }
    Ok(bytes as u32)
}
