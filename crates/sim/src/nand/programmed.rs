//! Units with data in NAND: those programmed since their last erase.

use std::ops::Range;

/// One bit per unit.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ProgrammedUnits {
    bits: Vec<u64>,
}

impl ProgrammedUnits {
    /// None of this number of units.
    pub fn new(units: u32) -> Self {
        Self { bits: vec![0; (units as usize).div_ceil(64)] }
    }

    /// Records the program of a unit.
    #[inline]
    pub fn insert(&mut self, unit: u32) {
        self.bits[unit as usize / 64] |= 1 << (unit % 64);
    }

    /// Whether a unit has been programmed since its last erase.
    #[inline]
    pub fn contains(&self, unit: u32) -> bool {
        self.bits[unit as usize / 64] >> (unit % 64) & 1 == 1
    }

    /// The first programmed unit from this one on, or `None` if there is none.
    pub fn first_from(&self, unit: u32) -> Option<u32> {
        let word = unit as usize / 64;
        let rest = self.bits.get(word)? & u64::MAX << (unit % 64);
        let later = self.bits.iter().copied().enumerate().skip(word + 1);
        let (word, bits) =
            std::iter::once((word, rest)).chain(later).find(|&(_, bits)| bits != 0)?;
        Some(64 * word as u32 + bits.trailing_zeros())
    }

    /// Records the erase of units.
    pub fn remove(&mut self, units: Range<u32>) {
        for unit in units {
            self.bits[unit as usize / 64] &= !(1 << (unit % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_programmed_unit_is_found_across_words() {
        let mut units = ProgrammedUnits::new(300);
        assert_eq!(units.first_from(0), None);
        [3, 63, 64, 299].into_iter().for_each(|unit| units.insert(unit));
        let found = [0, 3, 4, 63, 64, 65, 299, 300, 320].map(|unit| units.first_from(unit));
        let [a, b, c, last] = [3, 63, 64, 299].map(Some);
        assert_eq!(found, [a, a, b, b, c, last, last, None, None]);
        units.remove(0..64);
        assert_eq!(units.first_from(0), c);
    }
}
