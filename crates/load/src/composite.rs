//! Workloads of many sizes in regions of unequal use, as in the SNIA PTS.

/// Sizes of commands and their regions of the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composite {
    /// Lengths in bytes, ascending, and percentage of the commands of each.
    pub sizes: &'static [(u32, u32)],
    /// Regions in LBA order: percentage of the span, and percentage of the commands.
    pub regions: &'static [(u32, u32)],
}

/// Percent of the span and of the commands: the first 5% take half of them.
const REGIONS: &[(u32, u32)] = &[(5, 50), (15, 30), (80, 20)];

/// The composite block size workload of the SNIA PTS 2.0 (CBW; ECW in the Enterprise PTS 1.1).
pub const PTS_COMPOSITE: Composite = Composite {
    sizes: &[
        (512, 4),
        (1_024, 1),
        (1_536, 1),
        (2_048, 1),
        (2_560, 1),
        (3_072, 1),
        (3_584, 1),
        (4_096, 67),
        (8_192, 10),
        (16_384, 7),
        (32_768, 3),
        (65_536, 3),
    ],
    regions: REGIONS,
};

/// The composite for targets with a smallest command of 4 KiB: smaller ones are omitted, and the others
/// keep their proportions (their weights add up to 90).
pub const PTS_COMPOSITE_4K: Composite = Composite {
    sizes: &[(4_096, 67), (8_192, 10), (16_384, 7), (32_768, 3), (65_536, 3)],
    regions: REGIONS,
};

impl Composite {
    /// The longest command in bytes.
    pub fn largest_bytes(&self) -> u32 {
        self.sizes.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0)
    }

    /// The sizes whose commands a target with such blocks rejects.
    pub fn impossible_bytes(&self, logical_block_bytes: u32) -> impl Iterator<Item = u32> {
        let sizes = self.sizes.iter().map(|(bytes, _)| *bytes);
        sizes.filter(move |bytes| !bytes.is_multiple_of(logical_block_bytes))
    }
}
