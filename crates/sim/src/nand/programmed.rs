//! Units that hold data in NAND: those programmed since their last erase.

use std::ops::Range;

/// One bit a unit.
#[derive(Clone, Debug)]
pub struct ProgrammedUnits {
    bits: Vec<u64>,
}

impl ProgrammedUnits {
    /// None of so many.
    #[must_use]
    pub fn new(units: u32) -> Self {
        Self { bits: vec![0; (units as usize).div_ceil(64)] }
    }

    /// A unit has been programmed.
    #[inline]
    pub fn insert(&mut self, unit: u32) {
        self.bits[unit as usize / 64] |= 1 << (unit % 64);
    }

    /// Whether a unit has been programmed since its last erase.
    #[inline]
    #[must_use]
    pub fn contains(&self, unit: u32) -> bool {
        self.bits[unit as usize / 64] >> (unit % 64) & 1 == 1
    }

    /// Units are being erased.
    pub fn remove(&mut self, units: Range<u32>) {
        for unit in units {
            self.bits[unit as usize / 64] &= !(1 << (unit % 64));
        }
    }
}
