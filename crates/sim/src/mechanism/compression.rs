//! Size of a page after compression.
//!
//! Phenomenon: a compressing controller writes less than the host: WAF below 1 is possible, and
//! room that the data does not need is spare. Source: `SandForce` controllers (25 GB of an
//! installation became 11 GB of NAND writes, AnandTech 2899; all unneeded room serves as spare,
//! AnandTech 3690). Simplification: the size follows [`Data`] alone, never the bytes. The rest of a
//! page's last granule goes to the next page, so that sizes vary by a granule and the mean is
//! exact. A page takes at least one granule. Compressing takes no time. No deduplication.
//!
//! Phenomenon: TRIM does not give back all that random writes of incompressible data have taken; an erase of the drive
//! does. Source: Corsair Force GS, sequential writes after an hour of such torture and TRIM: 220 of 271 MB/s with
//! firmware 5.0.2, 150 of 267 with 5.0.3, where TRIM changes nothing (AnandTech 6107, whose author suspects that
//! deduplication forbids the controller to drop a page at once). Simplification: the map keeps a fixed share of the
//! deallocated pages that did not shrink, as if they had not been deallocated, until the host writes them again; their
//! addresses choose them. Tests: `tests/mechanisms/compression.rs`, `tests/reference/`.

use base::Data;
use base::facts::Sourced;

use crate::geometry::{Geometry, PAGE_BYTES};
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{Check, ModelError, section};

section! {
    /// A compressing controller.
    pub struct CompressionSection {
        /// Size of a granule: 512, 1024 or 2048. Compressed pages take whole granules.
        pub granule_bytes: Sourced<u32>,
        /// Share of the pages of full size that stay in the map when the host deallocates them, in percent; absent: none.
        pub kept_percent: Option<Sourced<u32>> [0, 100],
    }
}

/// Sizes of compressed pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CompressionPlan {
    /// Granules of an incompressible page.
    pub page_granules: u32,
    /// Share of such pages that a deallocation leaves as they are, in percent.
    pub kept_percent: u32,
}

impl CompressionSection {
    /// Physical pages of a logical one.
    pub(crate) fn page_granules(&self, check: &Check<'_>) -> Result<u32, ModelError> {
        let bytes = self.granule_bytes.value;
        if [512, 1024, 2048].contains(&bytes) {
            return Ok(PAGE_BYTES as u32 / bytes);
        }
        check.fail("compression.granule_bytes", bytes, "it must be 512, 1024 or 2048")
    }

    /// Pages of different sizes leave gaps, which may take only a small share of a superblock.
    pub(crate) fn superblock_holds_gaps(
        &self,
        check: &Check<'_>,
        geometry: &Geometry,
    ) -> Result<(), ModelError> {
        let unit_pages = geometry.unit_pages + geometry.relocation_slack_pages();
        let needed = 4 * unit_pages.max(geometry.gap_pages());
        if geometry.superblock_data_pages() >= needed {
            return Ok(());
        }
        let rule = format!(
            "compressed pages need superblocks of {needed} granules, and one has {}; take larger granules \
             or longer blocks",
            geometry.superblock_data_pages()
        );
        check.fail("compression.granule_bytes", self.granule_bytes.value, &rule)
    }
}

impl Section for CompressionSection {
    type Plan = CompressionPlan;
    type State = Compressor;

    fn resolve(&self, basis: &Basis<'_>) -> Result<CompressionPlan, ModelError> {
        let kept_percent = self.kept_percent.as_ref().map_or(0, |share| share.value);
        Ok(CompressionPlan { page_granules: basis.geometry.page_granules, kept_percent })
    }

    fn begin(plan: CompressionPlan, _: &Geometry, _: usize) -> Compressor {
        Compressor::new(plan)
    }
}

/// Divides compressed pages into granules, and knows which of them stay.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Compressor {
    plan: CompressionPlan,
    granule_bytes: u32,
    /// Bytes that the pages so far needed beyond their granules; less than a granule.
    carry_bytes: u32,
}

impl Compressor {
    /// A compressor that has seen no page.
    pub fn new(plan: CompressionPlan) -> Self {
        Self { plan, granule_bytes: PAGE_BYTES as u32 / plan.page_granules, carry_bytes: 0 }
    }

    /// Whether a logical page of this size stays in the map when the host deallocates it.
    pub fn keeps(&self, logical: u64, granules: u32) -> bool {
        // Multiples of the golden ratio divide any range of addresses evenly.
        let place = logical.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        granules == self.plan.page_granules
            && (place * 100) >> 32 < u64::from(self.plan.kept_percent)
    }

    /// Granules of the next page.
    #[inline]
    pub fn granules(&mut self, data: Data) -> u32 {
        let percent = match data {
            Data::Incompressible => return self.plan.page_granules,
            Data::Repeating => return 1,
            Data::Compressible { physical_percent } => u32::from(physical_percent.min(100)),
        };
        let bytes = self.carry_bytes + PAGE_BYTES as u32 * percent / 100;
        let granules = (bytes / self.granule_bytes).clamp(1, self.plan.page_granules);
        self.carry_bytes = bytes.saturating_sub(granules * self.granule_bytes);
        granules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_size_is_exact_and_no_page_is_larger_than_itself() {
        for page_granules in [2, 4, 8] {
            for percent in 1..=100_u8 {
                let plan = CompressionPlan { page_granules, kept_percent: 0 };
                let mut compressor = Compressor::new(plan);
                let data = Data::Compressible { physical_percent: percent };
                let sizes: Vec<_> = (0..10_000).map(|_| compressor.granules(data)).collect();
                assert!(sizes.iter().all(|size| (1..=page_granules).contains(size)));
                let least = 4096 / page_granules;
                let want = (4096 * u32::from(percent) / 100).max(least) * 10_000 / least;
                assert!(want - sizes.iter().sum::<u32>() <= 1, "{percent}% of {page_granules}");
                assert_eq!(compressor.granules(Data::Incompressible), page_granules);
                assert_eq!(compressor.granules(Data::Repeating), 1);
            }
        }
    }

    #[test]
    fn the_asked_share_of_full_pages_stays_in_every_range() {
        for kept_percent in [0, 30, 100] {
            let compressor = Compressor::new(CompressionPlan { page_granules: 4, kept_percent });
            for first in [0, 12_345, 1 << 40] {
                let kept =
                    (first..first + 10_000).filter(|&page| compressor.keeps(page, 4)).count();
                assert!(kept.abs_diff(kept_percent as usize * 100) <= 5, "{kept} of 10,000 stay");
                assert!(!(first..first + 10_000).any(|page| compressor.keeps(page, 3)));
            }
        }
    }
}
