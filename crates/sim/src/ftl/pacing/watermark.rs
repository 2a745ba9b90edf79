//! Watermark: stop the world.
//!
//! Phenomenon: a drive that defers collection has a higher peak and far worse moments. Source: the "lazy"
//! limit in open FTLs (`NVMeVirt` refills credit a line at a time, the Jasmine FTL collects when one
//! block is left) and the reading of the 2012 reviews. When the host needs a superblock and `free_low` or fewer are
//! erased, it waits until `free_high` are. Test:
//! `tests/formulas/shape.rs::every_pacing_moves_the_same_pages_and_they_differ_in_evenness`.

/// State of the policy.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Watermark {
    free_low: u32,
    free_high: u32,
    collecting: bool,
}

impl Watermark {
    pub(super) fn new(free_low: u32, free_high: u32) -> Self {
        Self { free_low, free_high, collecting: false }
    }

    #[inline]
    pub(super) fn must_collect(&mut self, free_superblocks: u32) -> bool {
        if free_superblocks >= self.free_high {
            self.collecting = false;
        }
        self.collecting
    }

    #[inline]
    pub(super) fn host_may_open(&mut self, free_superblocks: u32) -> bool {
        if free_superblocks <= self.free_low {
            self.collecting = true;
        }
        !self.must_collect(free_superblocks)
    }
}
