//! Size of a page after compression.
//!
//! Phenomenon: a compressing controller writes less than the host: WAF below 1 is possible, and
//! room that the data does not need is spare. Source: `SandForce` controllers (25 GB of an
//! installation became 11 GB of NAND writes, AnandTech 2899; all unneeded room serves as spare,
//! AnandTech 3690). Simplification: the size follows [`Data`] alone, never the bytes. The rest of a
//! page's last granule goes to the next page, so that sizes vary by a granule and the mean is
//! exact. A page takes at least one granule. Compressing takes no time. No deduplication. Tests:
//! `tests/mechanisms/compression.rs`, `tests/reference/`.

use base::Data;

use crate::geometry::PAGE_BYTES;

/// Divides compressed pages into granules.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Compressor {
    page_granules: u32,
    granule_bytes: u32,
    /// Bytes that the pages so far needed beyond their granules; less than a granule.
    carry_bytes: u32,
}

impl Compressor {
    /// A compressor for pages of this number of granules; 1 is a drive that does not compress.
    #[must_use]
    pub fn new(page_granules: u32) -> Self {
        Self { page_granules, granule_bytes: PAGE_BYTES as u32 / page_granules, carry_bytes: 0 }
    }

    /// Granules of the next page.
    #[inline]
    pub fn granules(&mut self, data: Data) -> u32 {
        let percent = match data {
            Data::Incompressible => return self.page_granules,
            Data::Repeating => return 1,
            Data::Compressible { physical_percent } => u32::from(physical_percent.min(100)),
        };
        let bytes = self.carry_bytes + PAGE_BYTES as u32 * percent / 100;
        let granules = (bytes / self.granule_bytes).clamp(1, self.page_granules);
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
                let mut compressor = Compressor::new(page_granules);
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
}
