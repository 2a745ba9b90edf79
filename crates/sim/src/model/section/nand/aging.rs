//! `[nand.retry]`: wear, retention and read retry.

use serde::Deserialize;

use crate::model::check::{Check, HOUR_NS};
use crate::model::{ModelError, Sourced};
use crate::nand::aging::retry::ErrorGrowth;

/// Wear, retention and read retry, see [`crate::nand::aging::retry`]; rates in wrong bits per 10^9.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryModel {
    /// Initial cycles of every block.
    pub initial_cycles: Sourced<u32>,
    /// Error rate of a fresh page in an unworn block.
    pub fresh_ppb: Sourced<u64>,
    /// The addition for 1,000 cycles.
    pub per_kilocycle_ppb: Sourced<u64>,
    /// The addition for a day in an unworn block.
    pub per_day_ppb: Sourced<u64>,
    /// The addition to that for 1,000 cycles.
    pub per_day_per_kilocycle_ppb: Sourced<u64>,
    /// Error rate that one sense corrects.
    pub corrected_ppb: Sourced<u64>,
    /// Most further senses.
    pub retries_max: Sourced<u32>,
}

/// All bits wrong.
const ALL_PPB: u64 = 1_000_000_000;

impl Check<'_> {
    pub(super) fn error_growth(&self, retry: &RetryModel) -> Result<ErrorGrowth, ModelError> {
        for (key, value, min, max) in [
            ("nand.retry.initial_cycles", retry.initial_cycles.value.into(), 0, 1_000_000),
            ("nand.retry.fresh_ppb", retry.fresh_ppb.value, 0, ALL_PPB),
            ("nand.retry.per_kilocycle_ppb", retry.per_kilocycle_ppb.value, 0, ALL_PPB),
            ("nand.retry.per_day_ppb", retry.per_day_ppb.value, 0, ALL_PPB),
            (
                "nand.retry.per_day_per_kilocycle_ppb",
                retry.per_day_per_kilocycle_ppb.value,
                0,
                ALL_PPB,
            ),
            ("nand.retry.corrected_ppb", retry.corrected_ppb.value, 1, ALL_PPB),
            ("nand.retry.retries_max", retry.retries_max.value.into(), 1, 1000),
        ] {
            self.within(key, value, min, max)?;
        }
        let senses = 1 + u64::from(retry.retries_max.value);
        if self.longest_read_ns().saturating_mul(senses) > HOUR_NS {
            let rule = "with every retry, a read of nand.read_ns and of each kind of page must end within an hour";
            return self.fail("nand.retry.retries_max", retry.retries_max.value, rule);
        }
        Ok(ErrorGrowth {
            initial_cycles: retry.initial_cycles.value,
            fresh_ppb: retry.fresh_ppb.value,
            per_kilocycle_ppb: retry.per_kilocycle_ppb.value,
            per_day_ppb: retry.per_day_ppb.value,
            per_day_per_kilocycle_ppb: retry.per_day_per_kilocycle_ppb.value,
            corrected_ppb: retry.corrected_ppb.value,
            retries_max: retry.retries_max.value,
        })
    }
}
