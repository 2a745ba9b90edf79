//! Workloads of many sizes in regions of unequal use, as the SNIA PTS composes them.

/// Sizes of commands and where on the span they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composite {
    /// Lengths in bytes, ascending, and how many of a hundred commands have each.
    pub sizes: &'static [(u32, u32)],
    /// Regions in LBA order: percent of the span, and how many of a hundred commands go there.
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

/// The same for targets whose smallest command is 4 KiB: the smaller ones are left out, the others
/// keep their proportions (their weights add up to 90).
pub const PTS_COMPOSITE_4K: Composite = Composite {
    sizes: &[(4_096, 67), (8_192, 10), (16_384, 7), (32_768, 3), (65_536, 3)],
    regions: REGIONS,
};

impl Composite {
    /// The longest command in bytes.
    #[must_use]
    pub fn largest_bytes(&self) -> u32 {
        self.sizes.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0)
    }

    /// The sizes whose commands a target with such blocks does not take.
    pub fn impossible_bytes(&self, logical_block_bytes: u32) -> impl Iterator<Item = u32> {
        let sizes = self.sizes.iter().map(|(bytes, _)| *bytes);
        sizes.filter(move |bytes| !bytes.is_multiple_of(logical_block_bytes))
    }
}
