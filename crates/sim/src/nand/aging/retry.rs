//! Read retry: worn and old pages are sensed more than once.
//!
//! Phenomenon: the raw bit error rate of a page grows with the program/erase cycles of its block
//! and with its age since programming, faster on worn blocks. If it exceeds the capacity of the
//! error correction, the controller senses again with shifted reference voltages. Source: Cai et
//! al., "Data retention in MLC NAND flash memory" (HPCA 2015) and "Flash correct-and-refresh" (ICCD
//! 2012): growth with cycles and with age; steps of latency with wear as in FEMU. Simplifications:
//! linear in cycles, in age, in their product and in reads ([`super::disturb`]); each further sense
//! corrects as much again as the first; a sense costs tR and no transfer of its own. Tests:
//! `tests/device/nand.rs`, `tests/device/aging.rs`.

use base::facts::Sourced;

use super::past::{CYCLES_MAX, READS_MAX};
use crate::model::schema::{Check, HOUR_NS, ModelError, section};

/// All bits wrong.
const ALL_PPB: u64 = 1_000_000_000;

section! {
    /// Wear, retention and read retry; rates in wrong bits per 10^9.
    pub struct RetrySection {
        /// Initial cycles of every block.
        pub initial_cycles: Sourced<u32> [0, CYCLES_MAX],
        /// Error rate of a fresh page in an unworn block.
        pub fresh_ppb: Sourced<u64> [0, ALL_PPB],
        /// The addition for 1,000 cycles.
        pub per_kilocycle_ppb: Sourced<u64> [0, ALL_PPB],
        /// The addition for a day in an unworn block.
        pub per_day_ppb: Sourced<u64> [0, ALL_PPB],
        /// The addition to that for 1,000 cycles.
        pub per_day_per_kilocycle_ppb: Sourced<u64> [0, ALL_PPB],
        /// The addition for 1,000 reads of the block since its data was written; absent: none.
        pub per_kiloread_ppb: Option<Sourced<u64>> [0, ALL_PPB],
        /// Reads of a block after which its superblock moves; absent: it stays.
        pub reclaim_reads: Option<Sourced<u32>> [1, READS_MAX],
        /// Error rate that one sense corrects.
        pub corrected_ppb: Sourced<u64> [1, ALL_PPB],
        /// Most further senses.
        pub retries_max: Sourced<u32> [1, 1_000],
    }
}

/// Growth and correction of errors; rates in wrong bits per 10^9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ErrorGrowth {
    /// Error rate of a fresh page in an unworn block.
    pub fresh_ppb: u64,
    /// The addition for 1,000 cycles.
    pub per_kilocycle_ppb: u64,
    /// The addition for a day in an unworn block.
    pub per_day_ppb: u64,
    /// The addition to that for 1,000 cycles.
    pub per_day_per_kilocycle_ppb: u64,
    /// The addition for 1,000 reads of the block since it was written.
    pub per_kiloread_ppb: u64,
    /// Reads of a block after which its superblock moves, or `None` if it stays.
    pub reclaim_reads: Option<u32>,
    /// Error rate that one sense corrects.
    pub corrected_ppb: u64,
    /// Most further senses.
    pub retries_max: u32,
}

impl RetrySection {
    /// The growth of errors of a drive whose longest sense takes this time.
    pub(crate) fn resolve(
        &self,
        check: &Check<'_>,
        longest_read_ns: u64,
    ) -> Result<ErrorGrowth, ModelError> {
        let senses = 1 + u64::from(self.retries_max.value);
        if longest_read_ns.saturating_mul(senses) > HOUR_NS {
            let rule = "with every retry, a read of nand.read_ns and of each kind of page must end within an hour";
            return check.fail("nand.retry.retries_max", self.retries_max.value, rule);
        }
        Ok(ErrorGrowth {
            fresh_ppb: self.fresh_ppb.value,
            per_kilocycle_ppb: self.per_kilocycle_ppb.value,
            per_day_ppb: self.per_day_ppb.value,
            per_day_per_kilocycle_ppb: self.per_day_per_kilocycle_ppb.value,
            per_kiloread_ppb: self.per_kiloread_ppb.as_ref().map_or(0, |rate| rate.value),
            reclaim_reads: self.reclaim_reads.as_ref().map(|limit| limit.value),
            corrected_ppb: self.corrected_ppb.value,
            retries_max: self.retries_max.value,
        })
    }
}

impl ErrorGrowth {
    /// Whether reads of blocks have an effect.
    pub fn counts_reads(&self) -> bool {
        self.per_kiloread_ppb > 0 || self.reclaim_reads.is_some()
    }

    /// Number of senses of a page.
    pub fn senses(&self, cycles: u32, age_ns: u64, reads: u32) -> u64 {
        let cycles = u64::from(cycles);
        let worn = |ppb: u64| ppb.saturating_mul(cycles) / 1000;
        let per_day_ppb = self.per_day_ppb.saturating_add(worn(self.per_day_per_kilocycle_ppb));
        let aged_ppb = per_day_ppb.saturating_mul(age_ns / HOUR_NS) / 24;
        let rate_ppb = self.fresh_ppb.saturating_add(worn(self.per_kilocycle_ppb));
        let disturbed_ppb = self.per_kiloread_ppb.saturating_mul(reads.into()) / 1000;
        let rate_ppb = rate_ppb.saturating_add(aged_ppb).saturating_add(disturbed_ppb);
        let senses = rate_ppb.div_ceil(self.corrected_ppb).max(1);
        senses.min(1 + u64::from(self.retries_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_rate_follows_the_formula() {
        let model = ErrorGrowth {
            fresh_ppb: 1_000,
            per_kilocycle_ppb: 2_000,
            per_day_ppb: 10,
            per_day_per_kilocycle_ppb: 100,
            per_kiloread_ppb: 500,
            reclaim_reads: None,
            corrected_ppb: 10_000,
            retries_max: 5,
        };
        let days = |days: u64| days * 24 * HOUR_NS;
        assert_eq!(model.senses(0, 0, 0), 1);
        // 1,000 + 2,000 x 3 = 7,000; 310 more a day: 10,100 after ten days.
        assert_eq!(model.senses(3_000, days(9), 0), 1);
        assert_eq!(model.senses(3_000, days(10), 0), 2);
        assert_eq!(model.senses(3_000, days(9), 419), 1, "9,790 and 209");
        assert_eq!(model.senses(3_000, days(9), 422), 2, "9,790 and 211");
        assert_eq!(model.senses(3_000, days(365), 0), 6, "it gives up after five retries");
        assert_eq!(model.senses(u32::MAX, u64::MAX, u32::MAX), 6);
    }
}
