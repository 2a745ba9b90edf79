//! `[compression]`: a controller that compresses.

use crate::geometry::{Geometry, PAGE_BYTES};
use crate::model::check::CrossCheck;
use crate::model::schema::section;
use crate::model::{ModelError, Sourced};

section! {
    /// A compressing controller.
    pub struct CompressionModel {
        /// Size of a granule: 512, 1024 or 2048. Compressed pages take whole granules.
        pub granule_bytes: Sourced<u32>,
    }
}

/// Physical pages of a logical one.
pub(in crate::model) fn page_granules(check: &CrossCheck<'_>) -> Result<u32, ModelError> {
    let Some(compression) = &check.model.compression else { return Ok(1) };
    let bytes = compression.granule_bytes.value;
    if [512, 1024, 2048].contains(&bytes) {
        return Ok(PAGE_BYTES as u32 / bytes);
    }
    check.fail("compression.granule_bytes", bytes, "it must be 512, 1024 or 2048")
}

/// Pages of different sizes leave gaps, which may take only a small share of a superblock.
pub(in crate::model) fn superblock_holds_gaps(
    check: &CrossCheck<'_>,
    geometry: &Geometry,
) -> Result<(), ModelError> {
    let unit_pages = geometry.unit_pages + geometry.relocation_slack_pages();
    let needed = 4 * unit_pages.max(geometry.gap_pages());
    if geometry.page_granules == 1 || geometry.superblock_data_pages() >= needed {
        return Ok(());
    }
    let key = "compression.granule_bytes";
    let rule = format!(
        "compressed pages need superblocks of {needed} granules, and one has {}; take larger granules \
         or longer blocks",
        geometry.superblock_data_pages()
    );
    check.fail(key, PAGE_BYTES / u64::from(geometry.page_granules), &rule)
}
