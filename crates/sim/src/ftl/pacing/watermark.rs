//! Watermark: stop the world.
//!
//! Phenomenon: a drive that defers collection has a higher peak and far worse moments. Source: the "lazy"
//! limit in open FTLs (`NVMeVirt` refills credit a line at a time, the Jasmine FTL collects when one
//! block is left) and the reading of the 2012 reviews. When the host needs a superblock and `free_low` or fewer are
//! erased, it waits until `free_high` are. Test:
//! `tests/formulas/shape.rs::every_pacing_moves_the_same_pages_and_they_differ_in_evenness`.

use super::Limits;

/// Whether garbage must be collected; `is_collecting` lasts from the lower limit to the upper one.
#[inline]
pub(super) fn must_collect(
    is_collecting: &mut bool,
    limits: Limits,
    free_superblocks: u32,
) -> bool {
    *is_collecting &= free_superblocks < limits.free_high;
    *is_collecting
}

/// Whether the host stream may take an erased superblock.
#[inline]
pub(super) fn host_may_open(
    is_collecting: &mut bool,
    limits: Limits,
    free_superblocks: u32,
) -> bool {
    *is_collecting |= free_superblocks <= limits.free_low;
    !must_collect(is_collecting, limits, free_superblocks)
}
