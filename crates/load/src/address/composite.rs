//! Blocks of many sizes, each aligned to its own size within a region drawn by its weight.

use base::Rng;

use crate::composite::Composite;
use crate::sizes::drawn;
use crate::workload::Workload;

/// State of the order.
#[derive(Clone, Debug)]
pub struct CompositeBlocks {
    rng: Rng,
    composite: Composite,
    /// First byte and length of each region, in the order of [`Composite::regions`].
    regions: Vec<(u64, u64)>,
}

impl CompositeBlocks {
    pub(super) fn new(workload: &Workload, composite: Composite, rng: Rng) -> Self {
        Self { rng, composite, regions: regions(workload, &composite) }
    }

    #[inline]
    pub(super) fn next_block(&mut self) -> (u64, u32) {
        let len = self.composite.sizes[drawn(&mut self.rng, self.composite.sizes)].0;
        let (start, region_bytes) = self.regions[drawn(&mut self.rng, self.composite.regions)];
        let block = self.rng.below(region_bytes / u64::from(len));
        (start + block * u64::from(len), len)
    }
}

/// Regions begin at multiples of the longest command, so that shorter ones are aligned, too.
fn regions(workload: &Workload, composite: &Composite) -> Vec<(u64, u64)> {
    let grain = u64::from(composite.largest_bytes());
    let boundary = |percent: u32| workload.span_bytes * u64::from(percent) / 100 / grain * grain;
    let mut percent = 0;
    let region = |(share, _): &(u32, u32)| {
        let start = boundary(percent);
        percent += share;
        (workload.span_offset_bytes + start, boundary(percent) - start)
    };
    composite.regions.iter().map(region).collect()
}
