//! Programs of worn blocks are faster and erases slower.
//!
//! Phenomenon: charge traps in the oxide of a worn cell help it to reach its threshold voltage, and hold charge that an
//! erase must remove. Source: Grupp et al. (MICRO 2009, FAST 2012) for planar NAND, from memory, without figures.
//! Simplifications: linear in cycles; a program takes at least half the time of a new block, an erase at most ten
//! times as long. Test: `tests/device/aging.rs`.

use base::facts::Sourced;

use crate::model::schema::section;

section! {
    /// Times of worn blocks; change per 1,000 cycles, in thousandths of the time of a
    /// new block.
    pub struct WearSection {
        /// Reduction of a program.
        pub program_less_per_kilocycle_permille: Sourced<u64> [0, 1_000],
        /// Increase of an erase.
        pub erase_more_per_kilocycle_permille: Sourced<u64> [0, 10_000],
    }
}

const PROGRAM_MIN_PERMILLE: u64 = 500;
const ERASE_MAX_PERMILLE: u64 = 10_000;

/// Change of times per 1,000 cycles, in thousandths of the time of a new block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WearDrift {
    /// Reduction of a program.
    pub program_less_permille: u64,
    /// Increase of an erase.
    pub erase_more_permille: u64,
}

impl WearSection {
    /// The drift of times.
    pub(crate) fn resolve(&self) -> WearDrift {
        WearDrift {
            program_less_permille: self.program_less_per_kilocycle_permille.value,
            erase_more_permille: self.erase_more_per_kilocycle_permille.value,
        }
    }
}

impl WearDrift {
    /// Time of a program after a number of cycles, if it takes `new_ns` in a new block.
    pub fn program_ns(&self, new_ns: u64, cycles: u32) -> u64 {
        let less = self.program_less_permille * u64::from(cycles) / 1000;
        let permille = 1000_u64.saturating_sub(less).max(PROGRAM_MIN_PERMILLE);
        (new_ns * permille).div_ceil(1000)
    }

    /// Time of an erase after a number of cycles, if it takes `new_ns` for a new block.
    pub fn erase_ns(&self, new_ns: u64, cycles: u32) -> u64 {
        let more = self.erase_more_permille * u64::from(cycles) / 1000;
        (new_ns * (1000 + more).min(ERASE_MAX_PERMILLE)).div_ceil(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_change_in_proportion_to_cycles_up_to_a_limit() {
        let drift = WearDrift { program_less_permille: 50, erase_more_permille: 300 };
        assert_eq!(
            [0, 2_000, 3_000_000].map(|cycles| drift.program_ns(600, cycles)),
            [600, 540, 300]
        );
        assert_eq!(
            [0, 2_000, 3_000_000].map(|cycles| drift.erase_ns(600, cycles)),
            [600, 960, 6_000]
        );
        assert_eq!(drift.program_ns(1, u32::MAX), 1);
    }
}
