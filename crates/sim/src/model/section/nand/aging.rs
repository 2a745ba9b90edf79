//! `[nand.retry]` and `[nand.wear]`: effects of the past of a block; `[age]`: the past of a drive that is not new.

use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, section};
use crate::model::{ModelError, Sourced};
use crate::nand::aging::past::{DAY_NS, Past};
use crate::nand::aging::retry::ErrorGrowth;
use crate::nand::aging::wear::WearDrift;

section! {
    /// Wear, retention and read retry, see [`crate::nand::aging::retry`]; rates in wrong bits per 10^9.
    pub struct RetryModel {
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

section! {
    /// Times of worn blocks, see [`crate::nand::aging::wear`]; change per 1,000 cycles, in thousandths of the time of a
    /// new block.
    pub struct WearModel {
        /// Reduction of a program.
        pub program_less_per_kilocycle_permille: Sourced<u64> [0, 1_000],
        /// Increase of an erase.
        pub erase_more_per_kilocycle_permille: Sourced<u64> [0, 10_000],
    }
}

section! {
    /// The past of a drive that is not new, see [`crate::nand::aging::past`].
    pub struct AgeModel {
        /// Cycles of every block in addition to `nand.retry.initial_cycles`; absent: none.
        pub cycles: Option<Sourced<u32>> [0, CYCLES_MAX],
        /// Days without power between the data that is written first and the first read of the host; absent: none.
        pub retention_days: Option<Sourced<u32>> [0, DAYS_MAX],
        /// Reads in that time of every block that holds data; absent: none.
        pub read_count: Option<Sourced<u32>> [0, READS_MAX],
    }
}

/// Most cycles of a block.
const CYCLES_MAX: u64 = 1_000_000;
/// A hundred years.
const DAYS_MAX: u64 = 36_500;
/// Most reads of a block.
const READS_MAX: u64 = 1_000_000_000;

/// All bits wrong.
const ALL_PPB: u64 = 1_000_000_000;

impl CrossCheck<'_> {
    pub(super) fn error_growth(&self, retry: &RetryModel) -> Result<ErrorGrowth, ModelError> {
        let senses = 1 + u64::from(retry.retries_max.value);
        if self.longest_read_ns().saturating_mul(senses) > HOUR_NS {
            let rule = "with every retry, a read of nand.read_ns and of each kind of page must end within an hour";
            return self.fail("nand.retry.retries_max", retry.retries_max.value, rule);
        }
        Ok(ErrorGrowth {
            fresh_ppb: retry.fresh_ppb.value,
            per_kilocycle_ppb: retry.per_kilocycle_ppb.value,
            per_day_ppb: retry.per_day_ppb.value,
            per_day_per_kilocycle_ppb: retry.per_day_per_kilocycle_ppb.value,
            per_kiloread_ppb: number(&retry.per_kiloread_ppb),
            reclaim_reads: retry.reclaim_reads.as_ref().map(|limit| limit.value),
            corrected_ppb: retry.corrected_ppb.value,
            retries_max: retry.retries_max.value,
        })
    }

    pub(super) fn wear_drift(wear: &WearModel) -> WearDrift {
        let less = wear.program_less_per_kilocycle_permille.value;
        let more = wear.erase_more_per_kilocycle_permille.value;
        WearDrift { program_less_permille: less, erase_more_permille: more }
    }

    /// The past of the blocks and of their data. The model must have the keys by which each part of it has an effect.
    pub(super) fn past(&self) -> Result<Past, ModelError> {
        let retry = self.model.nand.retry.as_ref();
        let initial_cycles = retry.map_or(0, |retry| retry.initial_cycles.value);
        let Some(age) = &self.model.age else {
            return Ok(Past { cycles: initial_cycles, ..Past::default() });
        };
        let counts_reads = retry
            .is_some_and(|retry| retry.per_kiloread_ppb.is_some() || retry.reclaim_reads.is_some());
        let wear_counts = retry.is_some() || self.model.nand.wear.is_some();
        for (key, value, has_effect, rule) in [
            (
                "age.cycles",
                &age.cycles,
                wear_counts,
                "only nand.retry and nand.wear give it an effect",
            ),
            (
                "age.retention_days",
                &age.retention_days,
                retry.is_some(),
                "only nand.retry gives it an effect",
            ),
            (
                "age.read_count",
                &age.read_count,
                counts_reads,
                "only nand.retry.per_kiloread_ppb and nand.retry.reclaim_reads give it an effect",
            ),
        ] {
            let Some(value) = value else { continue };
            if !has_effect {
                return self.fail(key, value.value, rule);
            }
        }
        Ok(Past {
            cycles: initial_cycles + number(&age.cycles),
            retention_ns: u64::from(number(&age.retention_days)) * DAY_NS,
            reads: number(&age.read_count),
        })
    }
}

/// A number that a model may omit: 0 then.
fn number<T: Copy + Default>(value: &Option<Sourced<T>>) -> T {
    value.as_ref().map(|value| value.value).unwrap_or_default()
}
